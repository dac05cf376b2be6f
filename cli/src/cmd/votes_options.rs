//! Options of `leakbound audit votes`: what is recorded, and what is asked of it.

use crate::args::BoundOptions;
use crate::args::values::{Parsed, listed, named, number, samples, whole};
use clap::{Args, ValueEnum};
use leakbound::distribution::Noise;
use leakbound::model::{Adversary, Composition, PoisonSearch};
use leakbound::study::Sampling;
use serde::Serialize;
use std::path::PathBuf;

/// Audit recorded teacher votes: lower bounds, exact leakage and accountants side by side
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound audit votes fashion_votes.npz --model pate --adversary pois-advq \
                        --noise gaussian:40 --samples 1e6")]
#[command(next_help_heading = "Advanced")]
pub struct VotesOptions {
    /// Recorded votes or neighbors (.npz)
    #[arg(help_heading = None)]
    pub file: PathBuf,
    /// The private-prediction model to fit to the recording
    #[arg(long, value_enum, help_heading = None)]
    pub model: ModelName,
    /// Noise on every count: gaussian:sigma=S or laplace:scale=B
    #[arg(long, allow_hyphen_values = true, help_heading = None)]
    pub noise: Noise,
    /// Adversary model; prompt-pate has none
    #[arg(long, default_value = "pois-advq", value_name = "NAME", help_heading = None)]
    #[arg(value_parser = listed(named::<Adversary>, Adversary::ALL.map(Adversary::name)))]
    pub adversary: Adversary,
    /// Outputs per query and world, such as 1e6
    #[arg(long, value_name = "N", value_parser = samples, default_value = "1e6", allow_hyphen_values = true, help_heading = None)]
    pub samples: u64,
    /// How the outputs are drawn
    #[arg(long, value_enum, default_value = "monte-carlo")]
    pub sampling: Sampling,
    /// Positions of the queries to audit, such as 3,17, or all
    #[arg(long, value_name = "I,J|all", value_parser = queries, default_value = "all", allow_hyphen_values = true)]
    pub queries: Queries,
    /// How the queries compose [default: what the model guarantees]
    #[arg(long, value_name = "MODE")]
    #[arg(value_parser = listed(named::<Composition>, Composition::ALL.map(Composition::name)))]
    pub composition: Option<Composition>,
    /// Compose N answers to the query with the largest exact leakage, instead of one answer to each query
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub n_queries: Option<u64>,
    /// Total number of queries if this audit covers only some of them: all parts share the failure probability of
    /// --failure-per answer
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub answer_queries: Option<u64>,
    /// Group size: teachers with changed data (pate) or added points (private-knn)
    #[arg(long, value_name = "M", value_parser = whole::<u64>(1, 64, "64"), default_value = "1", allow_hyphen_values = true)]
    pub changed: u64,
    /// Number of voting neighbors k (private-knn) [default: 200]
    #[arg(long, value_name = "K", value_parser = whole::<u64>(1, 1_000_000, "1e6"), allow_hyphen_values = true)]
    pub k: Option<u64>,
    /// Subsampling probability of a training point (private-knn) [default: 0.2]
    #[arg(long, value_name = "GAMMA", value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Where pois-natq looks for its point (private-knn) [default: test]
    #[arg(long, value_name = "WHERE")]
    #[arg(value_parser = listed(named::<PoisonSearch>, PoisonSearch::ALL.map(PoisonSearch::name)))]
    pub candidates: Option<PoisonSearch>,
    /// Training points (private-knn): arrays features and labels, unless FILE has them
    #[arg(long, value_name = "FILE")]
    pub train: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
}

/// A model of private prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// Multinomial votes; one teacher of S' was trained on the changed point
    Pate,
    /// Parties that keep their data; the first one's data hold the changed point in S'
    Capc,
    /// Fixed votes of both worlds
    PromptPate,
    /// Labels of the nearest neighbors in a random subsample; S' holds one more point
    PrivateKnn,
}

/// Queries as written on the command line.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Queries {
    /// Every recorded one.
    All(&'static str),
    /// These positions.
    Some(Vec<usize>),
}

fn rate(text: &str) -> Parsed<f64> {
    let value = number(text)?;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err(format!("subsampling rate = {value} is not in (0, 1]")) }
}

pub fn queries(text: &str) -> Parsed<Queries> {
    if text == "all" {
        return Ok(Queries::All("all"));
    }
    let mut positions = Vec::new();
    for part in text.split(',') {
        let position: usize = part.trim().parse().map_err(|_| format!("`{part}` is not a position"))?;
        if positions.contains(&position) {
            return Err(format!("position {position} comes twice"));
        }
        positions.push(position);
    }
    Ok(Queries::Some(positions))
}
