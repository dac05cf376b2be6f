//! Studies from the library: the numbers and caveats of the command, progress, and an early end.

use leakbound::audit::{
    CanaryScores, FailurePer, GuessSelection, Guide, Method, OutputWorld, StreamCounts, StreamOutput,
    ThresholdSelection,
};
use leakbound::bound::Direction;
use leakbound::divergence::Conversion;
use leakbound::histogram::{Adjacency, VoteHistogram};
use leakbound::mechanism::NoisyArgmax;
use leakbound::membership::{LiraPlan, LiraVariance, MembershipPlan, MembershipScore, MemoryScores, Victims};
use leakbound::model::{Composition, PromptPateModel};
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use leakbound::record::{
    MemoryBudget, PartialSimulation, RecordedQuery, ShadowRecording, VoteFile, read_counts, read_scenario,
    read_shadow_models, read_simulated,
};
use leakbound::report::{Answered, Document, Envelope, Form, Records, Render, Section, Table};
use leakbound::simulate::{Shard, Simulation};
use leakbound::study::{
    AccountStudy, Answer, Answers, Attack, BenchStudy, BenchWork, Bounds, CheckedAudit, Checkpoints, Claim, Claims,
    ComparisonStudy, ConfusionStudy, CostMeaning, CountedQuery, CountsStudy, ExactStudy, Measures, MembershipStudy,
    MergeStudy, Methods, ModeledQuery, Number, Progress, RecordedAnswers, Sampling, SaveMoment, ScoreAnswers,
    ScoresStudy, Searched, SelfCheckStudy, SimulateStudy, Step, StreamAnswer, StreamStudy, Study, TestedAccountant,
    Verdict, VerifyStudy, VotesStudy, Warning, unwatched,
};
use leakbound::verify::{ExternalOptions, Plan, accountant_of_name};
use leakbound::{Error, Result};
use ndarray::{Array2, Array3};
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

fn order(alpha: f64) -> Order {
    Order::new(alpha).unwrap()
}

fn votes(counts: &[u64]) -> VoteHistogram {
    VoteHistogram::new(counts.to_vec()).unwrap()
}

fn gaussian(sigma: f64) -> NoisyArgmax {
    NoisyArgmax { noise: format!("gaussian:{sigma}").parse().unwrap(), test: None }
}

/// What the command prints.
fn printed(arguments: &[&str]) -> Value {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_leakbound"));
    let output = command.args(arguments).args(["--format", "json"]).output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

/// Every field of the answer is the field of the document.
fn assert_same(answer: &impl Serialize, printed: &Value) {
    let answer = serde_json::to_value(answer).unwrap();
    for (name, value) in answer.as_object().unwrap() {
        assert_eq!(Some(value), printed.get(name), "{name}");
    }
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
        mechanism: gaussian(2.0),
        histogram: votes(&[14, 12, 10, 8, 6]),
        searched: Searched::All(Adjacency::Moved),
        orders: [2.0, 10.0].map(order).to_vec(),
        epsilons: vec![Epsilon::new(0.5).unwrap()],
        claims: Claims { rdp: vec![(order(2.0), 0.1)], ..Claims::default() },
    };
    let answer = study.run(&unwatched).unwrap();
    let words = "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10 --epsilons 0.5 \
                 --claim-rdp 2:0.1";
    assert_same(&answer, &printed(&words.split_whitespace().collect::<Vec<_>>()));
    // A claim is about the worst of the neighbors, in the worse direction.
    let largest = answer.divergences[0].forward.0.max(answer.divergences[0].reverse.0);
    assert!((answer.claims[0].lower.0 - largest).abs() <= 1e-12 * largest && answer.claims[0].refuted);
}

#[test]
fn an_account_study_is_the_command() {
    let file = "../validation/data/fashion_votes.npz";
    let mut queries = VoteFile::open(file).unwrap().histograms(0).unwrap().queries;
    queries.truncate(3);
    let answers = Answers::Recorded { mechanism: gaussian(40.0), queries };
    let answer = account(answers).run(&unwatched).unwrap();
    let words = format!(
        "account {file} --noise gaussian:40 --orders 2,8 --composition pld --budget 1 --seed 3 --queries 0,1,2"
    );
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    let warnings = serde_json::to_value(answer.warnings()).unwrap();
    assert_eq!(warnings, printed["warnings"]);
}

fn bounds(orders: &[f64]) -> Bounds {
    let orders = orders.iter().map(|&alpha| order(alpha)).collect();
    Bounds::new(orders, Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap())
}

#[test]
fn a_counts_study_is_the_command() {
    let file = "../validation/data/counts.csv";
    let queries = read_counts(file).unwrap().queries.into_iter().map(|query| CountedQuery {
        name: query.query.unwrap_or_default(),
        guide: Guide::fixed_list(query.counts.outcomes()),
        counts: query.counts,
    });
    let claims = Claims { mu: Some(0.01), ..Claims::default() };
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
    let words = "audit counts ../validation/data/counts.csv --orders 2,8 --methods two-cut-corner,clopper-pearson \
                 --claim-mu 0.01 --epsilons 0.1";
    assert_same(&answer, &printed(&words.split_whitespace().collect::<Vec<_>>()));
}

/// Two queries of fixed votes, with little leakage.
fn voted(samples: u64, sampling: Sampling) -> VotesStudy {
    let mut file = VoteFile::open("../validation/data/prompt_votes.npz").unwrap();
    let queries = file.prompt_pate().unwrap().queries.into_iter().take(2).map(|query| ModeledQuery {
        position: query.position,
        label: query.label,
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
        bounds: Bounds { claims: Claims { rdp: vec![(order(2.0), 1e-9)], ..Claims::default() }, ..bounds(&[2.0, 8.0]) },
        added_point: None,
        seed: 7,
    }
}

#[test]
fn a_votes_study_is_the_command() {
    let answer = voted(20_000, Sampling::MonteCarlo).run(&unwatched).unwrap();
    let words = "audit votes ../validation/data/prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 20000 \
                 --queries 0,1 --orders 2,8 --claim-rdp 2:1e-9 --composition independent --seed 7";
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
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
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    assert!(answer.warnings().iter().any(|warning| warning.code == "direction-contradicted"));
}

#[test]
fn a_scores_study_is_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scores.csv");
    // High scores for members more often than not.
    let score = |i: u32, shift: u32| f64::from((i * 37 + shift) % 101);
    let (members, others) = ((0..150).map(|i| score(i, 0) + 20.0), (0..150).map(|i| score(i, 50)));
    let (members, others): (Vec<f64>, Vec<f64>) = (members.collect(), others.collect());
    let line = |member: u8| move |score: &f64| format!("{score},{member}\n");
    let rows: String = members.iter().map(line(1)).chain(others.iter().map(line(0))).collect();
    std::fs::write(&file, format!("score,member\n{rows}")).unwrap();
    let study = ScoresStudy {
        scores: CanaryScores::new(members, others).unwrap(),
        answers: ScoreAnswers::Threshold(ThresholdSelection::Naive),
        delta: Delta::new(1e-5).unwrap(),
        failure_probability: FailureProbability::new(0.05).unwrap(),
        epsilons: vec![Epsilon::new(0.1).unwrap()],
        claim_epsilon: None,
        claim_mu: None,
        seed: 2,
    };
    let answer = study.run(&unwatched).unwrap();
    let file = file.to_str().unwrap();
    let printed = printed(&["audit", "scores", file, "--selection", "naive", "--epsilons", "0.1", "--seed", "2"]);
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    // A naive selection refutes nothing.
    let claimed = ScoresStudy { claim_mu: Some(0.1), ..study.clone() };
    assert!(matches!(claimed.run(&unwatched), Err(Error::Rejected { .. })));
    // One run has the same scores, and other answers.
    let one_run = ScoresStudy { answers: ScoreAnswers::OneRun(GuessSelection::PaidFor), ..study };
    assert!(one_run.run(&unwatched).unwrap().one_run.is_some());
}

#[test]
fn a_self_check_is_the_command() {
    let counts = read_counts("../validation/data/counts.csv").unwrap().queries.into_iter().map(|query| CheckedAudit {
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
    let words = "self-check audit counts ../validation/data/counts.csv --orders 2 --methods two-cut-corner,bootstrap-two-cut \
                 --resamples 100 --repetitions 40 --seed 5";
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
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
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
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

const SCENARIO: &str = "noise = 'gaussian:4'\ncomposition = 'independent'\n\n[[query]]\nmodel = 'pate'\nk = 10\n\
    p = [0.15, 0.6, 0.25]\np_marked = [0.5, 0.1, 0.4]\n\n[[query]]\nmodel = 'prompt-pate'\nhistogram = [3, 1]\n\
    histogram_neighbor = [2, 2]\n";

fn simulation(scenario: &Path, samples: u64) -> SimulateStudy<'static> {
    SimulateStudy {
        scenario: read_scenario(scenario).unwrap(),
        simulation: Simulation::new(samples).unwrap().seed(9),
        shard: Shard::WHOLE,
        sampling: Sampling::MonteCarlo,
        distributions: true,
        checkpoints: None,
    }
}

#[test]
fn a_simulation_and_a_merge_are_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let scenario = path("s.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let command = ["simulate", &scenario, "--samples", "5e5", "--seed", "9"];
    for sampling in [Sampling::MonteCarlo, Sampling::ExactDistribution] {
        let answer = SimulateStudy { sampling, ..simulation(Path::new(&scenario), 500_000) }.run(&unwatched).unwrap();
        let name = serde_json::to_value(sampling).unwrap();
        let printed = printed(&[&command[..], &["--sampling", name.as_str().unwrap()]].concat());
        assert_same(&answer, &printed);
        assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
        assert_eq!((answer.seed(), &printed["seed"]), (Some(9), &9.into()));
    }
    let shard = |number: u64| {
        let (shard, file) = (format!("{number}/2"), path(&format!("{number}.json")));
        let output = ["--shard", &shard, "--output", &file];
        let mut simulate = assert_cmd::Command::new(env!("CARGO_BIN_EXE_leakbound"));
        simulate.args(command).args(output).args(["--format", "json"]).assert().success();
        file
    };
    let files = [shard(1), shard(2)];
    let parts: Vec<_> = files.iter().map(|file| read_simulated(file).unwrap()).collect();
    let merged = MergeStudy { parts: parts.clone(), partial: false }.run(&unwatched).unwrap();
    assert_same(&merged, &printed(&["merge", &files[0], &files[1]]));
    let first = MergeStudy { parts: parts[..1].to_vec(), partial: true };
    let answer = first.run(&unwatched).unwrap();
    assert_eq!(answer.warnings()[0].code, "partial");
    assert_same(&answer, &printed(&["merge", &files[0], "--partial"]));
    assert!(matches!(MergeStudy { partial: false, ..first }.run(&unwatched), Err(Error::Input(_))));
}

/// Checkpoints in memory.
#[derive(Default)]
struct Memory {
    saved: Mutex<Option<PartialSimulation>>,
    moments: Mutex<Vec<SaveMoment>>,
}

impl Checkpoints for Memory {
    fn resume(&self, simulation: PartialSimulation) -> Result<PartialSimulation> {
        Ok(self.saved.lock().unwrap().clone().unwrap_or(simulation))
    }

    fn is_due(&self) -> bool {
        self.saved.lock().unwrap().is_none()
    }

    fn save(&self, simulation: &PartialSimulation, moment: SaveMoment) -> Result<()> {
        *self.saved.lock().unwrap() = Some(simulation.clone());
        self.moments.lock().unwrap().push(moment);
        Ok(())
    }
}

#[test]
fn a_simulation_is_saved_before_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("s.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let whole = simulation(&scenario, 2_000_000).run(&unwatched).unwrap();
    let memory = Memory::default();
    let study = || SimulateStudy { checkpoints: Some(&memory), ..simulation(&scenario, 2_000_000) };
    let quarter =
        |step: Step| if 4 * step.done > step.all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert!(matches!(study().run(&quarter), Err(Error::Interrupted)));
    let saved = memory.saved.lock().unwrap().as_ref().unwrap().samples();
    assert!((2_000_001..=4_000_000).contains(&saved), "{saved}");
    // It goes on where it was saved, with the counts of one that was never interrupted.
    let least = Mutex::new(u64::MAX);
    let resumed = study().run(&|step| {
        let mut least = least.lock().unwrap();
        *least = step.done.min(*least);
        ControlFlow::Continue(())
    });
    assert_eq!(least.into_inner().unwrap(), saved);
    assert_eq!(serde_json::to_value(resumed.unwrap()).unwrap(), serde_json::to_value(whole).unwrap());
    // A complete one is only read.
    study().run(&unwatched).unwrap();
    assert_eq!(*memory.moments.lock().unwrap(), [SaveMoment::Due, SaveMoment::Interrupted, SaveMoment::Complete]);
    // What is drawn at once has no parts.
    let at_once = SimulateStudy { sampling: Sampling::ExactDistribution, ..study() };
    assert!(matches!(at_once.run(&unwatched), Err(Error::Rejected { .. })));
}

#[test]
fn a_bench_measures_what_the_command_does() {
    let study = BenchStudy { works: vec![BenchWork::Fixed], threads: 2, time: Duration::from_millis(5) };
    let mut answer = serde_json::to_value(study.run(&unwatched).unwrap()).unwrap();
    let mut printed = printed(&["bench", "--work", "fixed", "--threads", "2", "--seconds", "0.005"]);
    // All but the speed.
    for document in [&mut answer, &mut printed] {
        for row in document["rows"].as_array_mut().unwrap() {
            for measured in ["samples", "seconds", "rate"] {
                assert!(row.as_object_mut().unwrap().remove(measured).unwrap().as_f64().unwrap() > 0.0);
            }
        }
    }
    assert_same(&answer, &printed);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
}

const SHADOW: &str = "../validation/data/fashion_lira_original.npz";

fn shadow() -> ShadowRecording {
    read_shadow_models(&[SHADOW.into()], MemoryBudget::default()).unwrap()
}

/// Twelve models and twenty samples; members have higher scores.
fn memory_scores() -> MemoryScores {
    let members = Array2::from_shape_fn((12, 20), |(m, s)| (m * 5 + s * 3 + m * s) % 7 < 4);
    let noise = |m: usize, s: usize| ((m * 13 + s * 29 + m * m * s) % 17) as f64 / 17.0;
    let scores = Array3::from_shape_fn((12, 20, 1), |(m, s, _)| f64::from(u8::from(members[[m, s]])) + noise(m, s));
    MemoryScores::double(scores, members).unwrap()
}

/// The defaults of the command with fewer resamples.
fn measures() -> Measures {
    Measures { plan: MembershipPlan { resamples: Some(100), ..MembershipPlan::default() }, ..Measures::default() }
}

#[test]
fn a_membership_study_is_the_command() {
    let recording = shadow();
    let attack = Attack::Lira { plan: LiraPlan::default(), score: None };
    let study = MembershipStudy { answers: (&recording).into(), attack, measures: measures() };
    let seen = Mutex::new(Vec::<Step>::new());
    let answer = study
        .run(&|step| {
            seen.lock().unwrap().push(step);
            ControlFlow::Continue(())
        })
        .unwrap();
    let printed = printed(&["membership", "lira", SHADOW, "--resamples", "100"]);
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    assert_eq!(answer.schema(), printed["schema"]);
    assert_eq!(answer.verdict(), Verdict::Passed);
    // Every pass over the samples is a phase.
    let seen = seen.into_inner().unwrap();
    assert!(seen.iter().all(|step| 0 < step.done && step.done <= step.all && step.unit == "samples"));
    assert!(seen.iter().any(|step| step.done == step.all));
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    // A score is made of logits only.
    let attack = Attack::Threshold { score: Some(MembershipScore::Loss) };
    let scores = memory_scores();
    let study = MembershipStudy { answers: RecordedAnswers::Scores { scores: &scores, labels: None }, attack, ..study };
    assert!(matches!(study.run(&unwatched), Err(Error::Rejected { .. })));
}

#[test]
fn a_comparison_study_is_the_command() {
    let recording = shadow();
    let lira = |variance| Attack::Lira { plan: LiraPlan { variance, ..LiraPlan::default() }, score: None };
    let attacks = [
        ("lira-pooled", lira(LiraVariance::Pooled)),
        ("attacker", Attack::Trained { seed: 0 }),
        ("threshold", Attack::Threshold { score: None }),
        ("lira", lira(LiraVariance::PerSample)),
    ];
    let study = ComparisonStudy {
        answers: (&recording).into(),
        attacks: attacks.map(|(name, attack)| (name.to_owned(), attack)).to_vec(),
        victims: Victims::LeaveOneOut,
        failure_per: FailurePer::Answer,
        measures: measures(),
    };
    let answer = study.run(&unwatched).unwrap();
    let words = format!("membership compare {SHADOW} --resamples 100 --attacks lira-pooled,attacker,threshold,lira");
    let printed = printed(&words.split_whitespace().collect::<Vec<_>>());
    assert_same(&answer, &printed);
    assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    assert_eq!(answer.schema(), printed["schema"]);
    assert!(matches!(study.run(&|_| ControlFlow::Break(())), Err(Error::Interrupted)));
    // Of scores an attack on all confidences is left out, and where all are, the error is the first one's.
    let scores = memory_scores();
    let study = ComparisonStudy { answers: RecordedAnswers::Scores { scores: &scores, labels: None }, ..study };
    let answer = study.run(&unwatched).unwrap();
    let codes: Vec<&str> = answer.warnings().iter().map(|warning| warning.code).collect();
    assert!(answer.roc.len() == 3 && codes.contains(&"attack-left-out"), "{codes:?}");
    let only = |attacks| ComparisonStudy { attacks, ..study.clone() }.run(&unwatched);
    assert!(matches!(only(study.attacks[1..2].to_vec()), Err(Error::Rejected { operation: "trained attacker", .. })));
    assert!(matches!(only(Vec::new()), Err(Error::Length { .. })));
    let others = LiraPlan { victims: Victims::HeldOut(vec![1]), ..LiraPlan::default() };
    assert!(matches!(
        only(vec![("other".into(), Attack::Lira { plan: others, score: None })]),
        Err(Error::Rejected { operation: "comparison of attacks", .. })
    ));
}

fn stream() -> StreamStudy {
    StreamStudy {
        orders: vec![order(3.0)],
        directions: Direction::BOTH.to_vec(),
        failure_probability: FailureProbability::new(0.05).unwrap(),
        claim_epsilon: Some((Epsilon::new(3.0).unwrap(), Delta::new(1e-5).unwrap())),
        claim_rdp: vec![(order(2.0), 0.5)],
        horizon: None,
        bins: None,
        pilot_outputs: None,
        seed: 4,
    }
}

/// Outputs of both worlds with more of the dataset: numbers up to 9, which differ between the worlds.
fn outputs() -> impl Iterator<Item = (OutputWorld, usize)> {
    let dataset = |i: usize| (OutputWorld::Dataset, (i * 7) % 10 * (i % 3) / 2);
    (0..900).flat_map(move |i| {
        let neighbor = (i % 2 == 0).then_some((OutputWorld::Neighbor, (i * 7) % 10));
        std::iter::once(dataset(i)).chain(neighbor)
    })
}

/// What the command prints of these outputs.
fn printed_stream(options: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outputs.csv");
    let name = |world| if world == OutputWorld::Dataset { "s" } else { "s_prime" };
    let rows: String = outputs().map(|(world, output)| format!("{},{output}\n", name(world))).collect();
    std::fs::write(&file, format!("world,output\n{rows}")).unwrap();
    let words = format!("--orders 3 --claim-epsilon 3 --claim-rdp 2:0.5 --seed 4 {options}");
    let arguments = ["audit", "stream", file.to_str().unwrap()];
    printed(&arguments.into_iter().chain(words.split_whitespace()).collect::<Vec<_>>())
}

/// Counts these outputs until a claim is refuted.
fn follow(study: &StreamStudy) -> (StreamCounts, StreamAnswer) {
    let mut counts = study.start().unwrap();
    let (mut names, mut next_look, mut stopped_at_line) = (Vec::new(), 1, None);
    // The header is line 1.
    for (line, (world, output)) in (2..).zip(outputs()) {
        let outcome = names.iter().position(|known| *known == output).unwrap_or_else(|| {
            names.push(output);
            names.len() - 1
        });
        let binned = study.bins.is_some();
        let output = if binned { StreamOutput::Value(output as f64) } else { StreamOutput::Outcome(outcome) };
        counts.push(world, output).unwrap();
        if study.look(&counts, &mut next_look) {
            stopped_at_line = Some(line);
            break;
        }
    }
    let answer = study.finish(&counts, names.len(), stopped_at_line);
    (counts, answer)
}

#[test]
fn a_stream_study_is_the_command() {
    let binned = StreamStudy { bins: Some("quantile:4".parse().unwrap()), pilot_outputs: Some(40), ..stream() };
    let cases = [(stream(), "", Verdict::Refuted), (binned, "--bins quantile:4 --pilot-outputs 40", Verdict::Passed)];
    for (study, options, verdict) in cases {
        let answer = follow(&study).1;
        assert_eq!((answer.stopped_at_line.is_some(), answer.verdict()), (verdict == Verdict::Refuted, verdict));
        let printed = printed_stream(options);
        assert_same(&answer, &printed);
        assert_eq!(serde_json::to_value(answer.warnings()).unwrap(), printed["warnings"]);
    }
}

#[test]
fn a_stream_without_claims_has_all_outputs() {
    let unclaimed = StreamStudy { claim_epsilon: None, claim_rdp: Vec::new(), ..stream() };
    let (mut counts, answer) = follow(&unclaimed);
    assert_eq!((answer.outputs, answer.outputs_neighbor, answer.stopped_at_line), (900, 450, None));
    assert_eq!((answer.warnings()[0].code, answer.verdict()), ("unpaired", Verdict::Passed));
    let numbers = StreamStudy { bins: Some("quantile:4".parse().unwrap()), ..unclaimed };
    let mut first = numbers.start().unwrap();
    assert_eq!(numbers.finish(&first, 0, None).warnings()[0].code, "pilot-lasts");
    // Numbers are counted in bins, and other outcomes without.
    assert!(first.push(OutputWorld::Dataset, StreamOutput::Outcome(0)).is_err());
    assert!(first.push(OutputWorld::Dataset, StreamOutput::Value(f64::NAN)).is_err());
    assert!(counts.push(OutputWorld::Dataset, StreamOutput::Value(0.5)).is_err());
    assert_eq!((first.outputs, counts.outputs), ([0, 0], [900, 450]));
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
    let seen = Mutex::new(Vec::<Step>::new());
    let study = account(recorded());
    study
        .run(&|step| {
            seen.lock().unwrap().push(step);
            ControlFlow::Continue(())
        })
        .unwrap();
    let seen = seen.into_inner().unwrap();
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
    assert!(
        text.starts_with("Flipped bit\n\nDivergence\n") && text.contains("\nclaim D ≤ 0.1 at α = 2: REFUTED"),
        "{text}"
    );
    assert!(document.csv().unwrap().starts_with("divergence\n0.") && document.page().html().contains("Refuted"));
}
