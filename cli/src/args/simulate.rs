//! Options of simulation.

use super::{Parsed, bounded, samples};
use clap::Args;
use leakbound::simulate::Shard;
use leakbound::study::{BenchWork, Sampling, Varied};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `leakbound simulate`.
#[derive(Debug, Args, Serialize)]
pub struct SimulateOptions {
    /// What to simulate (TOML)
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// Outputs per query and world, such as 1e8 [default: the scenario's, else 1e6]
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    pub samples: Option<u64>,
    /// Save progress to this file regularly and on Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint; start anew if there is none
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Seconds between checkpoints; more if saving would take over 1 % of the time
    #[arg(long, value_name = "S", default_value = "10", requires = "checkpoint", value_parser = seconds, allow_hyphen_values = true)]
    pub checkpoint_seconds: f64,
    /// Draw part I of N, counted from 1; `leakbound merge` adds the parts up
    #[arg(long, value_name = "I/N", default_value = "1/1", allow_hyphen_values = true)]
    pub shard: Shard,
    /// How counts are drawn
    #[arg(long, value_enum, default_value = "monte-carlo")]
    pub sampling: Sampling,
    /// Skip the exact distributions, which take longer than a small simulation
    #[arg(long)]
    pub no_distribution: bool,
}

/// Options of `leakbound merge`.
#[derive(Debug, Args, Serialize)]
pub struct MergeOptions {
    /// Results of `leakbound simulate --format json`
    #[arg(value_name = "FILE.json", required = true)]
    pub files: Vec<PathBuf>,
    /// Add up the shards even if blocks are missing
    #[arg(long)]
    pub partial: bool,
}

/// Options of `leakbound bench`.
#[derive(Debug, Args, Serialize)]
pub struct BenchOptions {
    /// Workloads to run [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME,...")]
    pub work: Vec<BenchWork>,
    /// Measure how the cost of a sample grows with classes C, voters k, noise σ and threads
    #[arg(long)]
    pub sweep: bool,
    /// What the sweep changes [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME,...")]
    pub vary: Vec<Varied>,
    /// Seconds per workload and number of threads, or per point of a sweep
    #[arg(long, value_name = "S", default_value = "0.4", value_parser = seconds, allow_hyphen_values = true)]
    pub seconds: f64,
}

/// A time of at most a day.
pub(super) fn seconds(text: &str) -> Parsed<f64> {
    let value = bounded("number of seconds", text)?;
    match Duration::try_from_secs_f64(value) {
        Ok(time) if time.as_secs() <= 86_400 => Ok(value),
        _ => Err(format!("`{text}` is more than a day")),
    }
}
