//! `leakbound membership text`: what log-probabilities of tokens show about the training data of a language model.

use super::conclude::{Asked, publish, watched};
use crate::args::{Common, TextOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::membership::TextRule;
use leakbound::record::read_text_sequences;
use leakbound::study::{TextMembershipStudy, Verdict};

pub fn run(common: &Common, options: &TextOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let recording = read_text_sequences(&options.file, common.memory())?;
    let study = TextMembershipStudy {
        sequences: &recording,
        scores: options.scores.clone(),
        rule: TextRule::new(options.share, options.entropy_limit)?,
        fprs: options.fpr.clone(),
        top: options.top,
        failure_probability: options.failure_probability,
    };
    let answer = watched(common, &study)?;
    // What the file is is known once it was read.
    let inputs = vec![recording.input()?];
    let title = "Membership inference from log-probabilities of tokens".into();
    publish(common, output, answer, Asked { options, inputs, title, warnings: Vec::new() })
}
