//! `leakbound audit scores`: bounds from the scores of an attack on canaries.

use super::conclude::{Asked, conclude};
use crate::args::{Common, ScoreSource, ScoresOptions};
use crate::output::Output;
use leakbound::audit::CanaryScores;
use leakbound::record::{InputFile, MemoryBudget, read_score_arrays, read_scores};
use leakbound::study::{ScoreAnswers, ScoresStudy, Verdict};
use leakbound::{Error, Result};
use std::path::Path;

pub fn run(common: &Common, options: &ScoresOptions) -> Result<Verdict> {
    let paths: Vec<&Path> = [&options.source.file, &options.source.members, &options.source.non_members]
        .into_iter()
        .flatten()
        .map(|path| &**path)
        .collect();
    let output = Output::open(common, &paths)?;
    let (scores, inputs) = read(&options.source, common.memory())?;
    let scores = if options.flip { scores.flipped()? } else { scores };
    let title = title(options, &scores);
    let study = ScoresStudy {
        scores,
        answers: if options.one_run {
            ScoreAnswers::OneRun(options.guess_selection())
        } else {
            ScoreAnswers::Threshold(options.threshold_selection())
        },
        delta: options.delta,
        failure_probability: options.failure_probability,
        epsilons: options.epsilons.clone(),
        orders: options.orders.as_ref().map_or_else(Vec::new, |orders| orders.0.clone()),
        claim_epsilon: options.claim_epsilon,
        claim_mu: options.claim_mu,
        seed: common.seed,
    };
    conclude(common, output, &study, Asked { options, inputs, title, warnings: Vec::new() })
}

/// The scores of the command line.
pub fn read(source: &ScoreSource, memory: MemoryBudget) -> Result<(CanaryScores, Vec<InputFile>)> {
    if let (Some(members), Some(others)) = (&source.members, &source.non_members) {
        let (scores, inputs) = read_score_arrays(members, others, memory)?;
        return Ok((scores, inputs.to_vec()));
    }
    let Some(file) = &source.file else {
        return Err(Error::Rejected { operation: "audit scores", reason: "no scores are named".into() });
    };
    let (scores, input) = read_scores(file, memory)?;
    Ok((scores, vec![input]))
}

fn title(options: &ScoresOptions, scores: &CanaryScores) -> String {
    let assumed = if options.one_run {
        "Canaries of one training run, each in or out by a fair coin of its own"
    } else {
        "Scores of members and of non-members are taken for independent draws; for canaries of one run there is --one-run"
    };
    format!(
        "Scores of {} members and {} non-members, {} scores meaning members; forward is members against others\n{assumed}",
        scores.members().len(),
        scores.others().len(),
        if options.flip { "low" } else { "high" },
    )
}
