//! `leakbound calibrate`: how much noise is enough.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::{Parsed, delta, epsilon, histogram, mu, probability, samples};
use crate::output::Output;
use clap::{ArgGroup, Args};
use leakbound::Result;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::NoiseFamily;
use leakbound::quantity::{Delta, Epsilon, Probability};
use leakbound::study::{CalibrateStudy, Goal, Verdict};
use serde::Serialize;

/// The least noise that meets a goal: epsilon at delta, mu, or what any attacker achieves
#[derive(Debug, Args, Serialize)]
#[command(group = ArgGroup::new("goal").required(true).args(["epsilon", "mu", "tpr", "advantage", "posterior"]))]
#[command(after_help = "Examples:\n  leakbound calibrate --mechanism 'gaussian:sigma=?' --epsilon 1 --delta 1e-6\n  \
                        leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' --times 1000 \
                        --epsilon 2\n  leakbound calibrate --mechanism 'subsampled-gaussian:sigma=?,rate=0.01' \
                        --times 1000 --tpr 0.02 --fpr 0.01\n\nThe goal is certain to hold at the scale that is \
                        printed, against every neighbor and in both directions. Mechanisms on votes are bounded by \
                        their theorems for all votes.")]
pub struct CalibrateOptions {
    /// A mechanism whose scale of noise is a question mark, such as subsampled-gaussian:sigma=?,rate=0.01
    #[arg(long, value_name = "NAME:PARAMETER=?,...", value_parser = family)]
    #[serde(serialize_with = "crate::args::values::written")]
    pub mechanism: NoiseFamily,
    /// How often the mechanism is run, such as the steps of a training
    #[arg(long, value_name = "N", value_parser = samples, default_value = "1", allow_hyphen_values = true)]
    pub times: u64,
    /// Votes per class, for mechanisms on votes: sets the number of classes; for a single voter, its vote, such as
    /// 1,0,0
    #[arg(long, value_parser = histogram, allow_hyphen_values = true, help_heading = "Advanced")]
    pub histogram: Option<VoteHistogram>,
    /// Goal: (epsilon, delta)-differential privacy
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Option<Epsilon>,
    /// Delta of the goal for epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Goal: mu-Gaussian differential privacy
    #[arg(long, value_name = "MU", value_parser = mu, allow_hyphen_values = true)]
    pub mu: Option<f64>,
    /// Goal: the largest true-positive rate of any attacker, at --fpr
    #[arg(long, value_name = "RATE", value_parser = probability, allow_hyphen_values = true)]
    pub tpr: Option<Probability>,
    /// Goal: the largest difference of any attacker's true- and false-positive rate
    #[arg(long, value_name = "SHARE", value_parser = probability, allow_hyphen_values = true)]
    pub advantage: Option<Probability>,
    /// Goal: the largest share of members among those that any attacker accuses, at --fpr and --prior
    #[arg(long, value_name = "SHARE", value_parser = probability, allow_hyphen_values = true)]
    pub posterior: Option<Probability>,
    /// False-positive rate of the goals for TPR and posterior
    #[arg(long, value_name = "RATE", value_parser = probability, default_value = "0.01", allow_hyphen_values = true)]
    pub fpr: Probability,
    /// Share of members among everyone the attacker looks at, for the goal for posterior
    #[arg(long, value_name = "SHARE", value_parser = probability, default_value = "0.5", allow_hyphen_values = true, help_heading = "Advanced")]
    pub prior: Probability,
}

fn family(text: &str) -> Parsed<NoiseFamily> {
    NoiseFamily::parse(text).map_err(|error| error.to_string())
}

pub fn run(common: &Common, options: &CalibrateOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    let study = CalibrateStudy {
        family: options.mechanism.clone(),
        histogram: options.histogram.clone(),
        times: options.times,
        goal: goal(options),
    };
    conclude(common, output, &study, Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() })
}

/// The parser asks for one of the goals.
fn goal(options: &CalibrateOptions) -> Goal {
    let (rate, prior, delta) = (options.fpr, options.prior, options.delta);
    let goals = [
        options.epsilon.map(|epsilon| Goal::Epsilon { epsilon, delta }),
        options.mu.map(Goal::Mu),
        options.tpr.map(|most| Goal::TruePositiveRate { most, rate }),
        options.advantage.map(Goal::Advantage),
        options.posterior.map(|most| Goal::Posterior { most, prior, rate }),
    ];
    let Some(goal) = goals.into_iter().flatten().next() else { unreachable!("the parser asks for a goal") };
    goal
}
