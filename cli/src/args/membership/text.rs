//! Options of `leakbound membership text`.

use super::names::{probability, top};
use crate::args::{Parsed, failure_probability, number};
use clap::Args;
use leakbound::membership::{TextRule, TextScore};
use leakbound::quantity::{FailureProbability, Probability};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound membership text`.
#[derive(Debug, Args, Serialize)]
pub struct TextOptions {
    /// Log-probabilities of tokens: .npz, or one JSON object for each sequence, a line each
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Scores [default: all that the recording can feed]
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    pub scores: Vec<TextScore>,
    /// Share of the tokens, the least likely ones, that min-k, min-k-plus-plus and surprise look at
    #[arg(long, value_name = "K", value_parser = share, default_value = "0.2", allow_hyphen_values = true)]
    pub share: f64,
    /// Entropy in nats below which a token can be surprising
    #[arg(long, value_name = "H", value_parser = entropy_limit, default_value = "2", allow_hyphen_values = true)]
    #[serde(serialize_with = "crate::args::values::infinite")]
    pub entropy_limit: f64,
    /// False-positive rates at which to report the true-positive rate
    #[arg(long, value_name = "P,...", value_delimiter = ',', value_parser = probability, default_value = "0.001,0.01", allow_hyphen_values = true)]
    pub fpr: Vec<Probability>,
    /// Most vulnerable sequences of each score
    #[arg(long, value_name = "N", value_parser = top, default_value = "10", allow_hyphen_values = true)]
    pub top: usize,
    /// Write the value of each document, of the one score named by --scores, in the order of names: a recording of one
    /// model for `membership lira`. Every model's recording needs the same documents, or without `document` the same
    /// sequences in the same order
    #[arg(long, value_name = "FILE.npz", requires = "scores")]
    pub scores_output: Option<PathBuf>,
    /// Failure probability of all limits of all scores together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
}

fn share(text: &str) -> Parsed<f64> {
    TextRule::new(number(text)?, 1.0).map(TextRule::share).map_err(|error| error.to_string())
}

fn entropy_limit(text: &str) -> Parsed<f64> {
    TextRule::new(1.0, number(text)?).map(TextRule::entropy_limit).map_err(|error| error.to_string())
}
