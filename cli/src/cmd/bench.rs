//! `leakbound bench`.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::seconds;
use crate::output::Output;
use clap::Args;
use leakbound::study::{BenchStudy, BenchWork, SweepStudy, Varied, Verdict};
use leakbound::{Error, Result};
use serde::Serialize;
use std::time::Duration;

/// Measure simulated outputs per second on this machine
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound bench --work pate --seconds 2\n  \
                        leakbound bench --sweep --report speed.html\n\nA sweep of all takes about a minute.")]
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

pub fn run(common: &Common, options: &BenchOptions) -> Result<Verdict> {
    let reason = "it sets what a sweep changes, but --sweep is missing";
    Error::check_possible(options.vary.is_empty() || options.sweep, "--vary", reason)?;
    let output = Output::open(common, &[])?;
    let asked = Asked { options, inputs: Vec::new(), title: String::new(), warnings: Vec::new() };
    // The command line bounds the seconds.
    let time = Duration::try_from_secs_f64(options.seconds).unwrap_or_default();
    if options.sweep {
        let all = SweepStudy::default();
        let study = SweepStudy {
            works: chosen(&options.work, all.works),
            varied: chosen(&options.vary, all.varied),
            threads: common.threads.unwrap_or(all.threads),
            time,
        };
        return conclude(common, output, &study, asked);
    }
    let all = BenchStudy::default();
    let study =
        BenchStudy { works: chosen(&options.work, all.works), threads: common.threads.unwrap_or(all.threads), time };
    conclude(common, output, &study, asked)
}

/// What was asked for, each once, or all.
fn chosen<T: Copy + PartialEq>(asked: &[T], all: Vec<T>) -> Vec<T> {
    let mut chosen = Vec::new();
    for one in asked {
        if !chosen.contains(one) {
            chosen.push(*one);
        }
    }
    if chosen.is_empty() { all } else { chosen }
}
