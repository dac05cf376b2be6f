//! Studies from the library: the numbers and caveats of the command, progress, and an early end.

use crate::desk::Desk;
use crate::record_data::data;
use leakbound::audit::{CanaryScores, GuessSelection, Guide, Method, ThresholdSelection};
use leakbound::bound::Claimed;
use leakbound::divergence::Conversion;
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::mechanism::NoisyArgmax;
use leakbound::model::{Composition, PromptPateModel};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use leakbound::record::{RecordedQuery, VoteFile, read_counts};
use leakbound::report::{Answered, Document, Envelope, Form, Records, Render, Section, Table};
use leakbound::study::{
    AccountStudy, Answer, Answers, Bounds, CheckedAudit, Claim, Claims, ConfusionStudy, CostMeaning, CountedQuery,
    CountsStudy, ExactStudy, Methods, ModeledQuery, Number, Progress, Sampling, ScoreAnswers, ScoresStudy, Searched,
    SelfCheckStudy, Step, Study, TestedAccountant, Verdict, VerifyStudy, VotesStudy, Warning, unwatched,
};
use leakbound::verify::{ExternalOptions, Plan, accountant_of_name};
use leakbound::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

pub fn order(alpha: f64) -> Order {
    Order::new(alpha).unwrap()
}

fn claimed(value: f64) -> Claimed {
    Claimed::new(value).unwrap()
}

fn votes(counts: &[u64]) -> VoteHistogram {
    VoteHistogram::new(counts.to_vec()).unwrap()
}

fn gaussian(sigma: f64) -> NoisyArgmax {
    NoisyArgmax { noise: format!("gaussian:{sigma}").parse().unwrap(), test: None }
}

/// Every field of the answer is the field of the document.
pub fn assert_same(answer: &impl Serialize, printed: &Value) {
    let answer = serde_json::to_value(answer).unwrap();
    for (name, value) in answer.as_object().unwrap() {
        assert_eq!(Some(value), printed.get(name), "{name}");
    }
}

/// The answer is the document that the command prints with these words, and its verdict is how the command ends.
#[track_caller]
pub fn assert_printed(answer: &impl Answer, words: &str) {
    let status = if answer.verdict() == Verdict::Refuted { 3 } else { 0 };
    let printed = Desk::root().answer(status, words);
    assert_same(answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    assert_eq!(printed["schema"], answer.schema());
}

/// The answer of a study, and all that it told of its progress.
pub fn watched<S: Study>(study: &S) -> (S::Answer, Vec<Step>) {
    let seen = Mutex::new(Vec::new());
    let answer = study.run(&|step| {
        seen.lock().unwrap().push(step);
        ControlFlow::Continue(())
    });
    (answer.unwrap(), seen.into_inner().unwrap())
}

fn account(answers: Answers) -> AccountStudy {
    AccountStudy {
        answers,
        delta: Delta::new(1e-5).unwrap(),
        conversion: Conversion::Improved,
        orders: [2.0, 8.0].map(order).to_vec(),
        exact: true,
        privacy_losses: true,
        budgets: vec![Epsilon::new(1.0).unwrap()],
        seed: 3,
    }
}

#[test]
fn an_exact_study_is_the_command() {
    let study = ExactStudy {
        mechanism: Arc::new(gaussian(2.0)),
        histogram: votes(&[14, 12, 10, 8, 6]),
        searched: Searched::All(VoteChange::Moved.into()),
        orders: [2.0, 10.0].map(order).to_vec(),
        epsilons: vec![Epsilon::new(0.5).unwrap()],
        deltas: Vec::new(),
        claims: Claims { rdp: vec![(order(2.0), claimed(0.1))], ..Claims::default() },
    };
    let answer = study.run(&unwatched).unwrap();
    let words = "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10 --epsilons 0.5 \
                 --claim-rdp 2:0.1";
    assert_printed(&answer, words);
    // A claim is about the worst of the neighbors, in the worse direction.
    let largest = answer.divergences[0].forward.0.max(answer.divergences[0].reverse.0);
    // Claims are tested against the lower end.
    let lower = answer.claims[0].lower.0;
    assert!(lower < largest && lower >= largest * (1.0 - 1e-11) && answer.claims[0].refuted);
}

#[test]
fn an_account_study_is_the_command() {
    let mut queries = VoteFile::open(data("fashion_votes.npz")).unwrap().histograms(0).unwrap().queries;
    queries.truncate(3);
    let answers = Answers::Recorded { mechanism: gaussian(40.0), queries };
    let answer = account(answers).run(&unwatched).unwrap();
    let words = "account validation/data/fashion_votes.npz --noise gaussian:40 --orders 2,8 --composition pld --budget 1 \
                 --seed 3 --queries 0,1,2";
    assert_printed(&answer, words);
}

fn bounds(orders: &[f64]) -> Bounds {
    let orders = orders.iter().map(|&alpha| order(alpha)).collect();
    Bounds::new(orders, Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap())
}

#[test]
fn a_counts_study_is_the_command() {
    let queries = read_counts(data("counts.csv")).unwrap().queries.into_iter().map(|query| CountedQuery {
        name: query.query.unwrap_or_default(),
        guide: Guide::fixed_list(query.counts.outcomes()),
        counts: query.counts,
    });
    let claims = Claims { mu: Some(claimed(0.01)), ..Claims::default() };
    let methods = Methods::Named(vec![Method::TwoCutCorner, Method::ClopperPearson]);
    let study = CountsStudy {
        queries: queries.collect(),
        bounds: Bounds { claims, methods, ..bounds(&[2.0, 8.0]) },
        epsilons: vec![Epsilon::new(0.1).unwrap()],
        trade_off: false,
        composition: Composition::PerQuery,
        forecasts: true,
        seed: 0,
    };
    let answer = study.run(&unwatched).unwrap();
    let words = "audit counts validation/data/counts.csv --orders 2,8 --methods two-cut-corner,clopper-pearson \
                 --claim-mu 0.01 --epsilons 0.1";
    // The command warns of the list that it chose.
    assert_same(&answer, &Desk::root().answer(3, words));
}

/// Two queries of fixed votes, with little leakage.
fn voted(samples: u64, sampling: Sampling) -> VotesStudy {
    let mut file = VoteFile::open(data("prompt_votes.npz")).unwrap();
    let queries = file.prompt_pate().unwrap().queries.into_iter().take(2).map(|query| ModeledQuery {
        position: query.position,
        label: query.label,
        neighbor: query.neighbor,
        model: PromptPateModel::new(query.histogram, query.histogram_neighbor).unwrap().into(),
    });
    VotesStudy {
        queries: queries.collect(),
        noise: "gaussian:40".parse().unwrap(),
        rate: None,
        sampling,
        samples,
        composition: Composition::Independent,
        repeated: None,
        whole: None,
        bounds: Bounds {
            claims: Claims { rdp: vec![(order(2.0), claimed(1e-9))], ..Claims::default() },
            ..bounds(&[2.0, 8.0])
        },
        added_point: None,
        seed: 7,
    }
}

#[test]
fn a_votes_study_is_the_command() {
    let answer = voted(20_000, Sampling::MonteCarlo).run(&unwatched).unwrap();
    let words = "audit votes validation/data/prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 20000 \
                 --queries 0,1 --orders 2,8 --claim-rdp 2:1e-9 --composition independent --seed 7";
    assert_printed(&answer, words);
}

#[test]
fn a_simulation_ends_when_it_is_told_to() {
    let study = voted(2_000_000_000, Sampling::MonteCarlo);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    let empty = VotesStudy { queries: Vec::new(), ..voted(1_000, Sampling::ExactDistribution) };
    assert!(matches!(empty.run(&unwatched), Err(Error::Length { .. })));
}

#[test]
fn a_confusion_study_is_the_command() {
    let study = ConfusionStudy {
        true_positives: 5,
        false_negatives: 95,
        false_positives: 10,
        true_negatives: 90,
        bounds: bounds(&[2.0]),
        epsilons: Vec::new(),
        trade_off: true,
        forecasts: true,
        seed: 0,
    };
    let answer = study.run(&unwatched).unwrap();
    let words = "audit confusion --tp 5 --fn 95 --fp 10 --tn 90 --orders 2 --trade-off";
    assert_printed(&answer, words);
    assert!(answer.warnings().iter().any(|warning| warning.code == "direction-contradicted"));
}

#[test]
fn a_scores_study_is_the_command() {
    let desk = Desk::new();
    // High scores for members more often than not.
    let score = |i: u32, shift: u32| f64::from((i * 37 + shift) % 101);
    let (members, others) = ((0..150).map(|i| score(i, 0) + 20.0), (0..150).map(|i| score(i, 50)));
    let (members, others): (Vec<f64>, Vec<f64>) = (members.collect(), others.collect());
    let line = |member: u8| move |score: &f64| format!("{score},{member}\n");
    let rows: String = members.iter().map(line(1)).chain(others.iter().map(line(0))).collect();
    let file = desk.file("scores.csv", format!("score,member\n{rows}"));
    let study = ScoresStudy {
        scores: CanaryScores::new(members, others).unwrap(),
        answers: ScoreAnswers::Threshold(ThresholdSelection::Naive),
        delta: Delta::new(1e-5).unwrap(),
        failure_probability: FailureProbability::new(0.05).unwrap(),
        epsilons: vec![Epsilon::new(0.1).unwrap()],
        orders: vec![Order::new(2.0).unwrap()],
        claim_epsilon: None,
        claim_mu: None,
        seed: 2,
    };
    let answer = study.run(&unwatched).unwrap();
    assert_printed(
        &answer,
        &format!("audit scores {} --selection naive --epsilons 0.1 --orders 2 --seed 2", file.display()),
    );
    // A naive selection refutes nothing.
    let claimed = ScoresStudy { claim_mu: Some(claimed(0.1)), ..study.clone() };
    assert!(matches!(claimed.run(&unwatched), Err(Error::Rejected { .. })));
    // One run has the same scores, and other answers.
    let one_run = ScoresStudy { answers: ScoreAnswers::OneRun(GuessSelection::PaidFor), ..study };
    // Canaries of one run are not independent draws.
    assert!(matches!(one_run.run(&unwatched), Err(Error::Rejected { .. })));
    assert!(ScoresStudy { orders: Vec::new(), ..one_run }.run(&unwatched).unwrap().one_run.is_some());
}

#[test]
fn a_self_check_is_the_command() {
    let counts = read_counts(data("counts.csv")).unwrap().queries.into_iter().map(|query| CheckedAudit {
        query: CountedQuery {
            name: query.query.unwrap_or_default(),
            guide: Guide::fixed_list(query.counts.outcomes()),
            counts: query.counts.clone(),
        },
        recorded: query.counts,
        pilot_split: false,
    });
    let methods = Methods::Named(vec![Method::TwoCutCorner, Method::BootstrapTwoCut]);
    let study = SelfCheckStudy {
        queries: counts.collect(),
        bounds: Bounds { methods, resamples: 100, ..bounds(&[2.0]) },
        repetitions: 40,
        seed: 5,
    };
    let answer = study.run(&unwatched).unwrap();
    let words = "self-check audit counts validation/data/counts.csv --orders 2 --methods two-cut-corner,bootstrap-two-cut \
                 --resamples 100 --repetitions 40 --seed 5";
    assert_printed(&answer, words);
    assert_eq!(answer.verdict(), Verdict::Passed);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
}

fn verification(accountant: TestedAccountant<'_>) -> VerifyStudy<'_> {
    VerifyStudy { accountant, plan: Plan { cases: 100, seed: 2, ..Plan::default() }, simulation: None }
}

#[test]
fn a_verification_is_the_command() {
    let study = verification(TestedAccountant::Named("broken:gnmax-half".into()));
    let answer = study.run(&unwatched).unwrap();
    let words = "verify --accountant broken:gnmax-half --cases 100 --seed 2";
    assert_printed(&answer, words);
    assert_eq!(answer.verdict(), Verdict::Refuted);
    // An accountant of the caller finds the same, and has no command that shows it again.
    let own = accountant_of_name("broken:gnmax-half").unwrap();
    let of_caller = verification(TestedAccountant::Custom(&*own)).run(&unwatched).unwrap();
    let [first, own] = [&answer, &of_caller].map(|answer| answer.properties[0].counterexample.as_ref().unwrap());
    assert_eq!((first.found.case.json(), first.margin), (own.found.case.json(), own.margin));
    assert_eq!(own.reproduce[0], format!("case {}", own.found.case.json()));
}

/// A program that never answers is left as soon as the callback breaks off, although no case is done.
#[cfg(unix)]
#[test]
fn a_verification_ends_inside_an_answer() {
    let program = TestedAccountant::Program { command: "sleep 100".into(), options: ExternalOptions::default() };
    let steps = Mutex::new(0);
    let ended = verification(program).run(&|step| {
        assert_eq!(step.done, 0);
        let mut steps = steps.lock().unwrap();
        *steps += 1;
        if *steps > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(ended, Err(Error::Interrupted)));
}

#[test]
fn exact_costs_are_left_out_with_a_warning() {
    let budgets = vec![Epsilon::new(1e3).unwrap()];
    let study = AccountStudy { exact: false, privacy_losses: false, budgets, ..account(recorded()) };
    let answer = study.run(&unwatched).unwrap();
    assert!(answer.curves.iter().all(|curve| !curve.meaning.is_exact()) && answer.losses.is_none());
    assert!(answer.curves.iter().any(|curve| curve.meaning == CostMeaning::DataIndependent));
    assert!(answer.warnings().iter().any(|warning| warning.code == "budget-left"));
}

fn recorded() -> Answers {
    let query = |position| RecordedQuery {
        position,
        label: None,
        histogram: votes(&[30 + position as u64, 12, 8]),
        votes: Vec::new(),
    };
    Answers::Recorded { mechanism: gaussian(10.0), queries: (0..4).map(query).collect() }
}

#[test]
fn progress_is_reported_and_ends_a_study() {
    let study = account(recorded());
    let (_, seen) = watched(&study);
    // Exact costs, then privacy losses: four queries each.
    assert_eq!(seen.iter().filter(|step| step.done == 4).count(), 2);
    assert!(seen.iter().all(|step| step.all == 4 && step.unit == "queries"));
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
}

/// A study of a user: how much does a randomized response leak?
struct FlipStudy {
    truth: Probability,
    order: Order,
    claimed: f64,
}

#[derive(Serialize)]
struct FlipAnswer {
    divergence: Number,
    claims: Vec<Claim>,
    #[serde(skip)]
    warnings: Vec<Warning>,
}

impl Answer for FlipAnswer {
    const SCHEMA: &'static str = "example.flip/1";

    fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

impl Study for FlipStudy {
    type Answer = FlipAnswer;

    fn run(&self, _: &Progress<'_>) -> Result<FlipAnswer> {
        let value = leakbound::accountant::randomized_response_rdp(self.order, self.truth);
        let claim = Claim {
            claim: format!("D ≤ {} at α = {}", self.claimed, self.order),
            lower: Number(value),
            query: String::new(),
            refuted: value > self.claimed,
            failure_probability: 0.0,
        };
        Ok(FlipAnswer { divergence: Number(value), claims: vec![claim], warnings: Vec::new() })
    }
}

/// It has a document as soon as it says its parts.
impl Render for FlipAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        vec![Section::new("Divergence").table(Table::of([self.divergence]).number("nats", 3, |value| value.0))]
    }

    fn records(&self) -> Records<'_> {
        Records::of([self.divergence]).column("divergence", |value| *value).into()
    }
}

#[test]
fn a_new_study_touches_one_file() {
    let truth = Probability::new(0.75).unwrap();
    let answer = FlipStudy { truth, order: order(2.0), claimed: 0.1 }.run(&unwatched).unwrap();
    assert!(answer.claims()[0].refuted);
    let envelope = Envelope {
        schema: FlipAnswer::SCHEMA,
        command: "flip".into(),
        version: "0",
        inputs: Vec::new(),
        options: Value::Null,
        seed: 0,
        warnings: answer.warnings().to_vec(),
    };
    let document = Answered { envelope, title: "Flipped bit".into(), answer };
    let json: Value = serde_json::from_str(&document.json()).unwrap();
    assert_eq!(json["schema"], "example.flip/1");
    assert!(json["divergence"].as_f64().unwrap() > 0.1);
    let text = document.text();
    let refuted = text.contains("\nclaim D ≤ 0.1 at α = 2: REFUTED");
    assert!(refuted && text.starts_with("Flipped bit\n\nDivergence\n"), "{text}");
    assert!(document.csv().unwrap().starts_with("divergence\n0.") && document.page().html().contains("Refuted"));
}
