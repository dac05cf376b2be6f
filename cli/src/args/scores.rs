//! Options of `leakbound audit scores`.

use super::{Orders, Parsed, claim_mu, count, delta, epsilon, failure_probability, number, orders, whole};
use clap::{Args, ValueEnum};
use leakbound::audit::{GuessSelection, GuessedSides, OneRunGuesses, ThresholdSelection};
use leakbound::bound::Claimed;
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::Serialize;
use std::path::PathBuf;

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

/// Options of `leakbound self-check audit scores`.
#[derive(Debug, Args, Serialize)]
pub struct SelfCheckScoresOptions {
    /// The scores, of which only the sizes are used
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
    #[arg(long, value_name = "R", default_value = "1000", value_parser = repetitions, allow_hyphen_values = true)]
    pub repetitions: u64,
}

/// Options of `leakbound audit scores`.
#[derive(Debug, Args, Serialize)]
pub struct ScoresOptions {
    /// The scores
    #[command(flatten)]
    #[serde(flatten)]
    pub source: ScoreSource,
    /// Low scores mean members
    #[arg(long, visible_alias = "low-is-member")]
    pub flip: bool,
    /// Threshold fixed before looking at the scores; at or above it a canary is called a member
    #[arg(long, value_name = "X", value_parser = threshold, allow_hyphen_values = true)]
    #[serde(serialize_with = "super::values::some_infinite")]
    pub threshold: Option<f64>,
    /// How the threshold is chosen, if none is given
    #[arg(long, value_enum, default_value = "uniform", conflicts_with = "threshold")]
    pub selection: SelectionName,
    /// One-run audit: canaries of a single training run, each included by an independent fair coin
    #[arg(long, conflicts_with_all = ["threshold", "selection"])]
    pub one_run: bool,
    /// Numbers of guesses fixed in advance: this many of the highest scores are called members, this many of the
    /// lowest non-members
    #[arg(long, value_name = "K+,K-", value_parser = guesses, requires = "one_run", allow_hyphen_values = true)]
    #[serde(serialize_with = "serialize_guesses")]
    pub guesses: Option<OneRunGuesses>,
    /// How the numbers of guesses are chosen, if none are given
    #[arg(long, value_enum, default_value = "split", requires = "one_run", conflicts_with = "guesses")]
    pub guess_selection: GuessSelectionName,
    /// Values of epsilon at which to bound delta from below
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = epsilon, conflicts_with = "one_run", allow_hyphen_values = true)]
    pub epsilons: Vec<Epsilon>,
    /// Rényi orders to bound, such as 2,8: scores are independent draws, and other bounds get half of the failure
    /// probability
    #[arg(long, value_parser = orders, conflicts_with = "one_run", allow_hyphen_values = true)]
    pub orders: Option<Orders>,
    /// Delta of epsilon bounds and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Failure probability: that any printed bound is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Claim: training is (E, delta)-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: training is M-GDP
    #[arg(long, value_name = "M", value_parser = claim_mu, allow_hyphen_values = true)]
    pub claim_mu: Option<Claimed>,
}

/// How a threshold is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionName {
    /// On a random half; the other half is bounded
    Split,
    /// The median over 21 random splits
    MultiSplit,
    /// All thresholds at once
    Uniform,
    /// The best on the same scores, as other tools do: no guarantee
    Naive,
}

/// How numbers of guesses are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuessSelectionName {
    /// On a random half; the other half is bounded
    Split,
    /// The best of a fixed list that shares the failure probability
    PaidFor,
    /// All clear scores at once, the clearer ones more often: for epsilon alone, and the largest bound of it
    Nested,
    /// Likewise, but all guesses are at members: more where members alone are shown clearly
    NestedMembers,
    /// The best of the fixed list, as other tools do: no guarantee
    Naive,
}

impl ScoresOptions {
    /// The selection meant.
    pub fn threshold_selection(&self) -> ThresholdSelection {
        match (self.threshold, self.selection) {
            (Some(threshold), _) => ThresholdSelection::Explicit(threshold),
            (None, SelectionName::Split) => ThresholdSelection::Split,
            (None, SelectionName::MultiSplit) => ThresholdSelection::MultiSplit,
            (None, SelectionName::Uniform) => ThresholdSelection::Uniform,
            (None, SelectionName::Naive) => ThresholdSelection::Naive,
        }
    }

    /// The selection of guesses meant.
    pub fn guess_selection(&self) -> GuessSelection {
        match (self.guesses, self.guess_selection) {
            (Some(guesses), _) => GuessSelection::Declared(guesses),
            (None, GuessSelectionName::Split) => GuessSelection::Split,
            (None, GuessSelectionName::PaidFor) => GuessSelection::PaidFor,
            (None, GuessSelectionName::Nested) => GuessSelection::Nested(GuessedSides::Both),
            (None, GuessSelectionName::NestedMembers) => GuessSelection::Nested(GuessedSides::Members),
            (None, GuessSelectionName::Naive) => GuessSelection::Naive,
        }
    }
}

fn repetitions(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000_000, "1e9")
}

fn threshold(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value.is_nan() { Err(format!("threshold = {value} is not in [-inf, inf]")) } else { Ok(value) }
}

pub(super) fn guesses(text: &str) -> Parsed<OneRunGuesses> {
    let (members, others) = text.split_once(',').ok_or_else(|| format!("`{text}` is not K+,K- such as 100,50"))?;
    Ok(OneRunGuesses { members: count(members)?, others: count(others)? })
}

pub(super) fn serialize_guesses<S: serde::Serializer>(
    guesses: &Option<OneRunGuesses>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    guesses.map(|guesses| [guesses.members, guesses.others]).serialize(serializer)
}
