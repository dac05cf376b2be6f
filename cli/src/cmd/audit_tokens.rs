//! `leakbound audit tokens`: what each member of an ensemble of language models leaks by its tokens.

use super::conclude::{Asked, publish, unused, watched};
use crate::args::{Common, TokensOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::read_tokens;
use leakbound::study::{TokensStudy, Verdict};
use std::sync::Arc;

pub fn run(common: &Common, options: &TokensOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let recording = read_tokens(&options.file, common.memory())?;
    let title = format!(
        "Next tokens of {} at {}, {} tokens{}\nAnswers of {}",
        counted(recording.members(), "member"),
        counted(recording.positions(), "position"),
        recording.tokens(),
        if recording.has_public() { ", with a public model" } else { "" },
        options.mechanism.0
    );
    let study = TokensStudy {
        recording,
        decoding: options.decoding()?,
        mechanism: Arc::clone(&options.mechanism.0),
        neighbors: options.neighbors,
        contexts: options.contexts,
        orders: options.orders.0.clone(),
        delta: options.claims.delta,
        failure_probability: options.failure_probability,
        claims: options.claims.claims(),
        answer_claims: options.claim_answer_rdp.clone(),
        transcripts: options.transcripts,
        seed: common.seed,
        top: usize::try_from(options.top).unwrap_or(usize::MAX),
    };
    let answer = watched(common, &study)?;
    // Whatever was read is the same until now.
    let inputs = study.recording.inputs()?;
    let warnings = unused(study.recording.unused()).into_iter().collect();
    publish(common, output, answer, Asked { options, inputs, title, warnings })
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
