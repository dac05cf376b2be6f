//! Options of `leakbound audit mechanism`.

use super::simulate::seconds;
use super::values::Parsed;
use super::{BoundOptions, whole};
use clap::Args;
use leakbound::black_box::{Domain, Features, Grid, Relation};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Options of `leakbound audit mechanism`.
#[derive(Debug, Args, Serialize)]
pub struct MechanismOptions {
    /// A program that reads one JSON request and writes one JSON answer per line: split into arguments as by a shell,
    /// run without one
    #[arg(long, alias = "command", value_name = "COMMAND", conflicts_with = "exec")]
    #[arg(required_unless_present_any = ["exec", "counterexample"])]
    pub program: Option<String>,
    /// A program that is run once per output: {dataset} stands for the path of a JSON file, {seed} for a number;
    /// stdout is the output
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// An example of the input, from which neighbors are made: a JSON array, or a file with one
    #[arg(long, value_name = "FILE.json|[...]", conflicts_with = "pairs")]
    #[arg(required_unless_present_any = ["pairs", "counterexample"])]
    pub dataset: Option<String>,
    /// Which datasets are neighbors: add-remove, replace-one, l1:D or linf:D
    #[arg(long, value_name = "RELATION", required_unless_present_any = ["pairs", "counterexample"])]
    pub relation: Option<Relation>,
    /// The legal numbers of a record; neighbors are then tried at both ends
    #[arg(long, value_name = "LOW,HIGH", value_parser = domain, requires = "dataset", allow_hyphen_values = true)]
    pub domain: Option<Domain>,
    /// Pairs of neighbors to try, instead of those made from a dataset: a JSON array of objects with dataset and
    /// neighbor
    #[arg(long, value_name = "FILE.json")]
    pub pairs: Option<PathBuf>,
    /// What tells outputs apart: auto, identity (the output itself), or a program that describes outputs: a command, or a
    /// Python file. It reads {"id", "outputs"} per line and answers with as many outputs, each of one output alone
    #[arg(long, value_name = "FEATURES", default_value = "auto")]
    pub features: FeatureOption,
    /// Round every number of the outputs to a multiple of this before anything looks at it. What then refutes a claim
    /// refutes it for the program too, and is not due to the last binary places of floating-point numbers
    #[arg(long, value_name = "GRID", value_parser = grid, allow_hyphen_values = true)]
    pub round: Option<Grid>,
    /// Test a counterexample again, on fresh outputs: a file of --save-counterexample, which also says which program to
    /// run, how to round, and which claim to test where these options do not
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["dataset", "relation", "domain", "pairs", "stop_early"])]
    pub counterexample: Option<PathBuf>,
    /// Write what refutes a claim to a file, for --counterexample
    #[arg(long, value_name = "FILE.json", conflicts_with = "counterexample")]
    pub save_counterexample: Option<PathBuf>,
    /// Further runs that may make a counterexample smaller, of each of the two datasets: half of --runs if not given,
    /// and 4000 with --stop-early; 0 leaves it as it was found
    #[arg(long, value_name = "N", value_parser = shrink_runs, allow_hyphen_values = true)]
    pub shrink_runs: Option<u64>,
    /// Runs of each of the two datasets, those of the search included
    #[arg(long, value_name = "N", default_value = "1e5", value_parser = runs, allow_hyphen_values = true)]
    pub runs: u64,
    /// Time limit in seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true)]
    pub time_limit: Option<f64>,
    /// Stop as soon as a claim is refuted; the claims are tested, but nothing is bounded
    #[arg(long, conflicts_with_all = ["orders", "methods", "direction", "resamples", "failure_per"])]
    pub stop_early: bool,
    /// Keep the answers of the program in this file, so that the audit can go on after it ended
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint; start anew if there is none
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Runs per request
    #[arg(long, value_name = "N", default_value = "1000", value_parser = batch, allow_hyphen_values = true)]
    pub batch: u64,
    /// Time limit in seconds for each answer
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub answer_timeout: f64,
    /// Time limit in seconds for the first answer; a program that does not give one is not started again
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_hyphen_values = true)]
    pub start_timeout: f64,
    /// What to bound
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
}

/// Where features come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureOption {
    /// From the outputs.
    Of(Features),
    /// From a program.
    Program(String),
}

impl FromStr for FeatureOption {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = |features: &Features| serde_json::to_value(features).is_ok_and(|name| name == text);
        Ok(match [Features::Auto, Features::Identity].into_iter().find(named) {
            Some(features) => Self::Of(features),
            None if Path::new(text).extension().is_some_and(|end| end == "py") && !text.contains(' ') => {
                Self::Program(format!("python3 '{text}'"))
            }
            None => Self::Program(text.to_owned()),
        })
    }
}

impl Serialize for FeatureOption {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Of(features) => features.serialize(serializer),
            Self::Program(command) => command.serialize(serializer),
        }
    }
}

fn domain(text: &str) -> Parsed<Domain> {
    let ends: Option<Vec<f64>> = text.split(',').map(|end| end.trim().parse().ok()).collect();
    match ends.as_deref() {
        Some(&[low, high]) => Domain::new(low, high).map_err(|error| error.to_string()),
        _ => Err(format!("`{text}` is not LOW,HIGH, such as 0,1")),
    }
}

fn grid(text: &str) -> Parsed<Grid> {
    let step = text.parse().map_err(|_| format!("`{text}` is not a number, such as 0.001"))?;
    Grid::new(step).map_err(|error| error.to_string())
}

fn runs(text: &str) -> Parsed<u64> {
    super::values::whole_from(leakbound::study::MechanismStudy::FEWEST, text, 1_000_000_000_000, "10^12")
}

fn shrink_runs(text: &str) -> Parsed<u64> {
    super::values::whole_from(0, text, 1_000_000_000_000, "10^12")
}

/// Outputs of one request are in memory at once.
fn batch(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000, "10^6")
}
