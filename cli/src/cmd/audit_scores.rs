//! `leakbound audit scores`: bounds from the scores of an attack on canaries.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::{
    Choice, Names, Orders, Parsed, choice, claim_mu, count, delta, epsilon, failure_probability, number, orders, whole,
};
use crate::output::Output;
use clap::Args;
use leakbound::audit::{CanaryScores, GuessSelection, GuessedSides, OneRunGuesses, ThresholdSelection};
use leakbound::bound::Claimed;
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use leakbound::record::{InputFile, MemoryBudget, read_score_arrays, read_scores};
use leakbound::study::{ScoreAnswers, ScoreCheckStudy, ScoresStudy, Verdict};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where scores come from.
#[derive(Debug, Args, Serialize)]
pub struct ScoreSource {
    /// Scores as CSV with the columns score,member (1 for a canary that was trained on), or a recording (.npz) with the
    /// arrays scores and member
    #[arg(required_unless_present = "members", conflicts_with_all = ["members", "non_members"])]
    pub file: Option<PathBuf>,
    /// Scores of canaries in the training set: a one-dimensional numpy array (.npy)
    #[arg(long, value_name = "IN.npy", requires = "non_members")]
    pub members: Option<PathBuf>,
    /// Scores of canaries outside the training set (.npy)
    #[arg(long, value_name = "OUT.npy", requires = "members")]
    pub non_members: Option<PathBuf>,
}

/// Audit the scores of an attack on canaries: lower bounds of epsilon, mu and delta, or of one training run
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound audit scores canaries.csv --delta 1e-5\n  leakbound audit scores \
                        --members in.npy --non-members out.npy --selection split\n  leakbound audit scores \
                        canaries.csv --one-run --guesses 100,100\n\nA file has the columns score,member (1 for a \
                        canary that was trained on); high scores mean members unless --flip is given.")]
pub struct ScoresOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub source: ScoreSource,
    /// Low scores mean members
    #[arg(long, visible_alias = "low-is-member")]
    pub flip: bool,
    /// Threshold fixed before looking at the scores; at or above it a canary is called a member
    #[arg(long, value_name = "X", value_parser = threshold, allow_hyphen_values = true)]
    #[serde(serialize_with = "crate::args::values::some_infinite")]
    pub threshold: Option<f64>,
    /// How the threshold is chosen, if none is given
    #[arg(long, value_parser = choice(SELECTIONS), default_value = "uniform", conflicts_with = "threshold", help_heading = "Advanced")]
    pub selection: Choice<ThresholdSelection>,
    /// One-run audit: canaries of a single training run, each included by an independent fair coin
    #[arg(long, conflicts_with_all = ["threshold", "selection"])]
    pub one_run: bool,
    /// Numbers of guesses fixed in advance: this many of the highest scores are called members, this many of the
    /// lowest non-members
    #[arg(long, value_name = "K+,K-", value_parser = guesses, requires = "one_run", allow_hyphen_values = true)]
    #[serde(serialize_with = "serialize_guesses")]
    pub guesses: Option<OneRunGuesses>,
    /// How the numbers of guesses are chosen, if none are given
    #[arg(long, value_parser = choice(GUESSES), default_value = "split", requires = "one_run", conflicts_with = "guesses", help_heading = "Advanced")]
    pub guess_selection: Choice<GuessSelection>,
    /// Values of epsilon at which to bound delta from below
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = epsilon, conflicts_with = "one_run", allow_hyphen_values = true, help_heading = "Advanced")]
    pub epsilons: Vec<Epsilon>,
    /// Rényi orders to bound, such as 2,8: scores are independent draws, and other bounds get half of the failure
    /// probability
    #[arg(long, value_parser = orders, conflicts_with = "one_run", allow_hyphen_values = true, help_heading = "Advanced")]
    pub orders: Option<Orders>,
    /// Delta of epsilon bounds and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Failure probability: that any printed bound is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Claim: training is (E, delta)-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true, help_heading = "Bounds")]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: training is M-GDP
    #[arg(long, value_name = "M", value_parser = claim_mu, allow_hyphen_values = true, help_heading = "Advanced")]
    pub claim_mu: Option<Claimed>,
}

/// How a threshold is chosen.
const SELECTIONS: Names<ThresholdSelection> = &[
    ("split", "On a random half; the other half is bounded", ThresholdSelection::Split),
    ("multi-split", "The median over 21 random splits", ThresholdSelection::MultiSplit),
    ("uniform", "All thresholds simultaneously", ThresholdSelection::Uniform),
    ("naive", "The best on the same scores, as other tools do: no guarantee", ThresholdSelection::Naive),
];

/// How numbers of guesses are chosen.
const GUESSES: Names<GuessSelection> = &[
    ("split", "On a random half; the other half is bounded", GuessSelection::Split),
    ("paid-for", "The best of a fixed list that shares the failure probability", GuessSelection::PaidFor),
    (
        "nested",
        "All clear scores simultaneously, the clearer ones more often: for epsilon alone, and its largest bound",
        GuessSelection::Nested(GuessedSides::Both),
    ),
    (
        "nested-members",
        "Likewise, but all guesses are at members: more where members alone are shown clearly",
        GuessSelection::Nested(GuessedSides::Members),
    ),
    ("naive", "The best of the fixed list, as other tools do: no guarantee", GuessSelection::Naive),
];

fn threshold(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value.is_nan() { Err(format!("threshold = {value} is not in [-inf, inf]")) } else { Ok(value) }
}

pub fn guesses(text: &str) -> Parsed<OneRunGuesses> {
    let (members, others) = text.split_once(',').ok_or_else(|| format!("`{text}` is not K+,K- such as 100,50"))?;
    Ok(OneRunGuesses { members: count(members)?, others: count(others)? })
}

pub fn serialize_guesses<S: serde::Serializer>(
    guesses: &Option<OneRunGuesses>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    guesses.map(|guesses| [guesses.members, guesses.others]).serialize(serializer)
}

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
            ScoreAnswers::OneRun(options.guesses.map_or(options.guess_selection.value, GuessSelection::Declared))
        } else {
            ScoreAnswers::Threshold(options.threshold.map_or(options.selection.value, ThresholdSelection::Explicit))
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
        return Err(Error::rejected("audit scores", "no scores are named"));
    };
    let (scores, input) = read_scores(file, memory)?;
    Ok((scores, vec![input]))
}

fn title(options: &ScoresOptions, scores: &CanaryScores) -> String {
    let assumed = if options.one_run {
        "Canaries of one training run, each in or out by a fair coin of its own"
    } else {
        "Scores of members and of non-members are assumed to be independent draws; canaries of one run have their own \
         audit (`one-run`)"
    };
    format!(
        "Scores of {} members and {} non-members, {} scores meaning members; forward is members against others\n{assumed}",
        scores.members().len(),
        scores.others().len(),
        if options.flip { "low" } else { "high" },
    )
}

#[derive(Debug, Args, Serialize)]
pub struct SelfCheckScoresOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub source: ScoreSource,
    /// Delta of epsilon bounds
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true, help_heading = "Bounds")]
    pub delta: Delta,
    /// Failure probability of all bounds of a selection together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Simulated audits, on equal and on known distributions
    #[arg(long, value_name = "R", default_value = "1000", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub repetitions: u64,
}

pub fn self_check(common: &Common, options: &SelfCheckScoresOptions) -> Result<Verdict> {
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
