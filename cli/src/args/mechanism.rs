//! Options of `leakbound audit mechanism`.

use super::simulate::seconds;
use super::values::Parsed;
use super::{BoundOptions, whole};
use clap::Args;
use leakbound::black_box::{Domain, Relation};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound audit mechanism`.
#[derive(Debug, Args, Serialize)]
pub struct MechanismOptions {
    /// A program that reads one JSON request and writes one JSON answer per line: split into arguments as by a shell,
    /// run without one
    #[arg(long, alias = "command", value_name = "COMMAND", required_unless_present = "exec", conflicts_with = "exec")]
    pub program: Option<String>,
    /// A program that is run once per output: {dataset} stands for the path of a JSON file, {seed} for a number;
    /// stdout is the output
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// An example of the input, from which neighbors are made: a JSON array, or a file with one
    #[arg(long, value_name = "FILE.json|[...]", required_unless_present = "pairs", conflicts_with = "pairs")]
    pub dataset: Option<String>,
    /// Which datasets are neighbors: add-remove, replace-one, l1:D or linf:D
    #[arg(long, value_name = "RELATION", required_unless_present = "pairs")]
    pub relation: Option<Relation>,
    /// The legal numbers of a record; neighbors are then tried at both ends
    #[arg(long, value_name = "LOW,HIGH", value_parser = domain, requires = "dataset", allow_hyphen_values = true)]
    pub domain: Option<Domain>,
    /// Pairs of neighbors to try, instead of those made from a dataset: a JSON array of objects with dataset and
    /// neighbor
    #[arg(long, value_name = "FILE.json")]
    pub pairs: Option<PathBuf>,
    /// Runs of each of the two datasets, those of the search included
    #[arg(long, value_name = "N", default_value = "1e5", value_parser = runs, allow_hyphen_values = true)]
    pub runs: u64,
    /// Time limit in seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,
    /// Stop as soon as a claim is refuted; the claims are tested, but nothing is bounded
    #[arg(long)]
    pub stop_early: bool,
    /// Runs per request
    #[arg(long, value_name = "N", default_value = "1000", value_parser = batch, allow_hyphen_values = true)]
    pub batch: u64,
    /// Time limit in seconds for each answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub answer_timeout: f64,
    /// Time limit in seconds for the first answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub start_timeout: f64,
    /// What to bound
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
}

fn domain(text: &str) -> Parsed<Domain> {
    let ends: Option<Vec<f64>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    match ends.as_deref() {
        Some(&[low, high]) => Domain::new(low, high).map_err(|error| error.to_string()),
        _ => Err(format!("`{text}` is not LOW,HIGH, such as 0,1")),
    }
}

fn runs(text: &str) -> Parsed<u64> {
    super::values::whole_from(leakbound::study::MechanismStudy::FEWEST, text, 1_000_000_000_000, "10^12")
}

/// Outputs of one request are in memory at once.
fn batch(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000, "10^6")
}
