//! `leakbound self-check audit scores`.

use super::audit_scores::read;
use super::conclude::{Asked, conclude};
use crate::args::{Common, SelfCheckScoresOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::study::{ScoreCheckStudy, Verdict};
use std::path::Path;

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
