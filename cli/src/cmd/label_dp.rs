//! `leakbound label-dp memorization`: ε of label privacy from memorized wrong labels.

use super::conclude::{Asked, conclude};
use crate::args::{Common, MemorizationOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::label_dp::LabelThreshold;
use leakbound::record::read_label_canaries;
use leakbound::study::{LabelStudy, Verdict};

pub fn run(common: &Common, options: &MemorizationOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let (canaries, input) = read_label_canaries(&options.file, common.memory())?;
    let title = format!("{} canaries with wrong labels, {} classes", canaries.len(), canaries.classes());
    let study = LabelStudy {
        canaries,
        threshold: options.threshold.map_or(LabelThreshold::Split, LabelThreshold::Declared),
        delta: options.delta,
        failure_probability: options.failure_probability,
        claim_epsilon: options.claim_epsilon,
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs: vec![input], title, warnings: Vec::new() })
}
