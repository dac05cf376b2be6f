//! Options of `leakbound audit stream`.

use super::simulate::seconds;
use super::values::Parsed;
use super::{Directions, Orders, bins, claim_rdp, delta, epsilon, failure_probability, orders, samples, whole};
use clap::{Args, ValueEnum};
use leakbound::audit::BinRule;
use leakbound::bound::Claimed;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound audit stream`.
#[derive(Debug, Args, Serialize)]
pub struct StreamOptions {
    /// Raw outputs as CSV with columns world,output (world: s or s_prime); - for stdin
    pub file: PathBuf,
    /// Rényi orders to bound, such as 2,5 [default: those of the claims, or 2]
    #[arg(long, value_parser = orders, allow_hyphen_values = true)]
    pub orders: Option<Orders>,
    /// Direction of the divergences
    #[arg(long, value_enum, default_value = "both")]
    pub direction: Directions,
    /// Failure probability: that any bound or refutation is ever wrong, at any time
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Delta of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Claim: one answer is (E, delta)-differentially private; reading stops when it is refuted
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: the Rényi divergence of one answer at ORDER is at most VALUE; reading stops when it is refuted
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true)]
    pub claim_rdp: Vec<(Order, Claimed)>,
    /// Planned number of output pairs, where bounds are sharpest; they are valid at any number
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    pub horizon: Option<u64>,
    /// Bins for numeric outputs: quantile:K (K equal shares of the first outputs, which are then not used for bounds)
    /// or edges:A,B,...
    #[arg(long, value_name = "RULE", value_parser = bins, allow_hyphen_values = true)]
    pub bins: Option<BinRule>,
    /// Outputs of both worlds that choose the bins of quantile:K [default: 20 K]
    #[arg(long, value_name = "N", requires = "bins", value_parser = pilot, allow_hyphen_values = true)]
    pub pilot_outputs: Option<u64>,
    /// Continue from this file if it exists, and save the counts in it; FILE then holds new outputs only, and a run
    /// that did not end is repeated with the same FILE
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// What to do if FILE starts with bytes that the state has already counted
    #[arg(long, value_enum, default_value = "reject", requires = "state")]
    pub repeated: Repeated,
    /// Seconds between saves of the state; more if saving would take over 1 % of the time
    #[arg(long, value_name = "S", default_value = "10", requires = "state", value_parser = seconds, allow_hyphen_values = true)]
    pub state_seconds: f64,
}

/// What is done with outputs that were counted already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// The command ends; only what a run that did not end has counted is left out
    Reject,
    /// They are left out, and what follows them is counted
    Skip,
    /// They are counted: they are of another recording, which is the same by chance
    Count,
}

/// A pilot is kept in memory, and in the state.
fn pilot(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000, "10^6")
}
