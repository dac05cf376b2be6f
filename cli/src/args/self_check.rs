//! Options of self-checks.

use super::{CountsOptions, Parsed, SelfCheckScoresOptions, whole};
use clap::{Args, Subcommand};
use serde::Serialize;

/// The audits that can be checked.
#[derive(Debug, Subcommand)]
pub enum SelfCheckCommand {
    /// Check an audit
    #[command(subcommand)]
    Audit(SelfCheckAudit),
}

/// The audits that can be checked.
#[derive(Debug, Subcommand)]
pub enum SelfCheckAudit {
    /// Check the bounds of `leakbound audit counts` on simulated counts of the same sizes
    #[command(after_help = "Example:\n  leakbound self-check audit counts counts.csv --orders 2,10 --delta 1e-5 \
                            --pilot-fraction 0.1 --repetitions 1000\n\nExit status 1 if a finite-sample method is \
                            wrong more often than it says.")]
    Counts(SelfCheckOptions),
    /// Check the bounds of `leakbound audit scores` on simulated scores of as many canaries
    #[command(after_help = "Example:\n  leakbound self-check audit scores canaries.csv --repetitions 1000\n\nExit \
                            status 1 if a finite-sample selection is wrong more often than it says.")]
    Scores(SelfCheckScoresOptions),
}

/// Options of `leakbound self-check audit counts`.
#[derive(Debug, Args, Serialize)]
pub struct SelfCheckOptions {
    /// The audit
    #[command(flatten)]
    #[serde(flatten)]
    pub audit: CountsOptions,
    /// Simulated audits of each query, on null and on known data
    #[arg(long, value_name = "R", default_value = "1000", value_parser = repetitions, allow_hyphen_values = true)]
    pub repetitions: u64,
}

fn repetitions(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000_000, "1e9")
}
