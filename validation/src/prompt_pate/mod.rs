//! PromptPATE with a transformer that learns in context, trained here: the audit of Chadha et al. (2024) for all six
//! adversaries, and whether its findings agree.

mod figures;
mod findings;

use crate::experiment::Report;
use crate::private_prediction::cases::{Case, Drawn};
use crate::private_prediction::figures::{Row, row};
use crate::private_prediction::table;
use leakbound::histogram::VoteHistogram;
use leakbound::model::PromptPateModel;
use leakbound::{Error, Result};
use leakbound_train::{
    InContextPlan, LessonShares, PromptAdversary, PromptPatePlan, PromptVotes, TrainingCheckpoint, TrainingContext,
    train_prompt_pate,
};
use ndarray::ArrayView2;

/// Teachers and queries, as published (appendix D.2).
const TEACHERS: usize = 200;
const QUERIES: usize = 200;
/// The smallest of the published scales for 200 or 250 teachers (section 5): the one of 200 teachers of texts.
const SIGMA: f64 = 20.0;
const STEPS: u64 = 6000;
/// The class of all-same, as published.
const CLASS: u8 = 1;
/// With an example of the right class a transformer that learns in context is better by this at least.
const LEARNED: f64 = 0.15;

/// The adversaries with their names in the table; those whose names begin with pois-natq ask every query once.
const ADVERSARIES: [(&str, PromptAdversary); 6] = [
    ("nat-advq", PromptAdversary::NatAdvq),
    ("pois-advq", PromptAdversary::PoisAdvq),
    ("pois-natq (confident)", PromptAdversary::Confident),
    ("pois-natq (unconfident)", PromptAdversary::Unconfident),
    ("pois-natq (all same)", PromptAdversary::AllSame { class: CLASS }),
    ("pois-natq (mapping)", PromptAdversary::Mapping),
];

/// Minutes on two cores, most of them for the transformer.
pub fn report() -> Report {
    let mut report = Report::new(format!(
        "A transformer of 2 blocks (width 64, 4 heads) learns in context from the 60,000 training images of \
         Fashion-MNIST, {STEPS} steps of 32 prompts; {TEACHERS} teachers are prompts with one test image each, {QUERIES} \
         other test images are asked about, seed 0. Noise gaussian:{SIGMA}. Lower bounds from 10^8 outputs per query \
         and world (k-cut-region, failure probability 0.05 per row), simulated where a query is repeated and drawn from \
         the distributions where all are asked once; the distribution itself; accountants; forward divergences \
         D(S||S'). Per-answer RDP is that of the worst query where one is repeated and the mean where all are asked \
         once; epsilon is at delta = 1e-6 after {QUERIES} answers, by adding the RDP and converting it: an upper bound \
         for the distribution and the accountants, illustrative for the lower bounds, as published."
    ));
    report.trained(|report, context| {
        let rows = audited(report, context)?;
        table(report, &rows, QUERIES as f64);
        findings::judge(report, &rows);
        figures::draw(report, &rows);
        Ok(())
    });
    report
}

fn plan(adversary: PromptAdversary) -> PromptPatePlan {
    PromptPatePlan {
        learner: InContextPlan {
            width: 64,
            depth: 2,
            heads: 4,
            context: 10,
            steps: STEPS,
            batch: 32,
            schedule: InContextPlan::schedule(1e-3),
            lessons: LessonShares { permuted: 0.4, exchanged: 0.15, instructed: 0.1 },
            seed: 0,
        },
        teachers: TEACHERS,
        shots: 1,
        queries: QUERIES,
        adversary,
    }
}

/// The audit of each adversary, and a line on what the transformer has learned.
fn audited(report: &mut Report, context: &TrainingContext<'_>) -> Result<Vec<Row>> {
    let unkept = |source| Error::Io { path: "checkpoint".into(), action: "be kept", source };
    let folder = tempfile::tempdir().map_err(unkept)?;
    let mut rows = Vec::new();
    for (name, adversary) in ADVERSARIES {
        let plan = plan(adversary);
        // One transformer for all of them.
        let path = folder.path().join("transformer.checkpoint");
        let checkpoint = TrainingCheckpoint::open(path, true, "prompt-pate", "cpu", &[], &plan.learner)?;
        let votes = train_prompt_pate(&TrainingContext { checkpoint: Some(&checkpoint), ..*context }, &plan)?;
        if rows.is_empty() {
            learned(report, &votes);
        }
        rows.push(row(&case(name, &votes, context.train.classes)?)?);
    }
    Ok(rows)
}

fn case(name: &'static str, votes: &PromptVotes, classes: usize) -> Result<Case> {
    let histograms = |votes: ArrayView2<'_, u8>| -> Result<Vec<VoteHistogram>> {
        let histogram = |votes: ndarray::ArrayView1<'_, u8>| {
            let mut counts = vec![0; classes];
            votes.iter().for_each(|&vote| counts[usize::from(vote)] += 1);
            VoteHistogram::new(counts)
        };
        votes.outer_iter().map(histogram).collect()
    };
    let pairs = histograms(votes.votes.view())?.into_iter().zip(histograms(votes.votes_prime.view())?);
    let models = pairs.map(|(one, other)| Ok(PromptPateModel::new(one, other)?.into())).collect::<Result<_>>()?;
    let mut case = Case::new("prompt-pate", name, models);
    (case.sigma, case.answers) = (SIGMA, QUERIES as f64);
    if !case.natural {
        case.drawn = Drawn::Simulated;
    }
    case.note = format!("{:.1} % of the votes of changed teachers change", 100.0 * votes.changed());
    Ok(case)
}

fn learned(report: &mut Report, votes: &PromptVotes) {
    let accuracy = votes.accuracy;
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    report.claim(
        accuracy.with_example >= accuracy.without_example + LEARNED,
        format!(
            "accuracy on permuted labels after one example of the right class {}, after one of another class {}: at \
             least {:.0} points apart",
            percent(accuracy.with_example),
            percent(accuracy.without_example),
            100.0 * LEARNED
        ),
    );
    report.line(format!(
        "      labels of the data, no example {}; instructions obeyed {}; ensemble {}, its teachers {}",
        percent(accuracy.canonical),
        percent(accuracy.instructed),
        percent(votes.ensemble_accuracy()),
        percent(votes.mean_accuracy())
    ));
}
