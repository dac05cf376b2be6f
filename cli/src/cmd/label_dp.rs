//! `leakbound label-dp`: ε of label privacy from memorized wrong labels.

use super::conclude::{Asked, conclude};
use crate::args::{Common, LabelCompareOptions, MemorizationOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::label_dp::{LabelFamily, LabelThreshold};
use leakbound::record::{read_label_canaries, read_label_recording};
use leakbound::study::{LabelComparisonStudy, LabelStudy, StudiedLabels, Verdict, significant};

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

pub fn compare(common: &Common, options: &LabelCompareOptions) -> Result<Verdict> {
    let files: Vec<_> = options.recordings.iter().map(|recording| recording.file.as_path()).collect();
    let output = Output::open(common, &files)?;
    let (mut recordings, mut inputs) = (Vec::new(), Vec::new());
    for named in &options.recordings {
        let (recording, input) = read_label_recording(&named.file, common.memory())?;
        let family = LabelFamily::of_name(&named.mechanism);
        let name = format!("{}, ε = {}", named.mechanism, significant(recording.epsilon.get(), 4));
        recordings.push(StudiedLabels { name, family, recording });
        inputs.push(input);
    }
    let study =
        LabelComparisonStudy { recordings, failure_probability: options.failure_probability, seed: common.seed };
    conclude(common, output, &study, Asked { options, inputs, title: String::new(), warnings: Vec::new() })
}
