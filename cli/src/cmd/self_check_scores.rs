//! `leakbound self-check audit scores`.

use super::audit_scores::{ScoreSource, read};
use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::{delta, failure_probability, whole};
use crate::output::Output;
use clap::Args;
use leakbound::Result;
use leakbound::quantity::{Delta, FailureProbability};
use leakbound::study::{ScoreCheckStudy, Verdict};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Args, Serialize)]
pub struct SelfCheckScoresOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub source: ScoreSource,
    /// Delta of epsilon bounds
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Failure probability of all bounds of a selection together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Simulated audits, on equal and on known distributions
    #[arg(long, value_name = "R", default_value = "1000", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub repetitions: u64,
}

pub fn run(common: &Common, options: &SelfCheckScoresOptions) -> Result<Verdict> {
    let source = &options.source;
    let paths: Vec<&Path> =
        [&source.file, &source.members, &source.non_members].into_iter().flatten().map(|path| &**path).collect();
    let output = Output::open(common, &paths)?;
    let (scores, inputs) = read(source, common.memory())?;
    let study = ScoreCheckStudy {
        members: scores.members().len(),
        non_members: scores.others().len(),
        delta: options.delta,
        failure_probability: options.failure_probability,
        repetitions: options.repetitions,
        seed: common.seed,
    };
    let title = format!(
        "Self-check with {} members and {} non-members: {} simulated audits of equal and of known distributions, seed {}",
        study.members, study.non_members, options.repetitions, common.seed
    );
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}
