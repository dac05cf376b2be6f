//! Options of `leakbound audit stream`.

use super::values::Parsed;
use super::{Directions, Orders, bins, claim_rdp, delta, epsilon, failure_probability, orders, samples, whole};
use crate::{BinRule, Delta, Epsilon, FailureProbability, Order};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound audit stream`.
#[derive(Debug, Args, Serialize)]
pub struct StreamOptions {
    /// Raw outputs as CSV with columns world,output (world: s or s_prime); - for stdin
    pub file: PathBuf,
    /// Rényi orders to bound, such as 2,5; those of the claims, or 2, if not given
    #[arg(long, value_parser = orders, allow_hyphen_values = true)]
    pub orders: Option<Orders>,
    /// Direction of the divergences
    #[arg(long, value_enum, default_value = "both")]
    pub direction: Directions,
    /// The probability that any bound or refutation is ever wrong, at all times together
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
    pub claim_rdp: Vec<(Order, f64)>,
    /// Planned pairs of outputs: bounds are sharpest there, and valid everywhere
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    pub horizon: Option<u64>,
    /// Count outputs that are numbers in bins: quantile:K (K equal shares of the first outputs, which are not bounded) or
    /// edges:A,B,...
    #[arg(long, value_name = "RULE", value_parser = bins, allow_hyphen_values = true)]
    pub bins: Option<BinRule>,
    /// First outputs, of both worlds together, that choose the bins of quantile:K; 20 K if not given
    #[arg(long, value_name = "N", requires = "bins", value_parser = pilot, allow_hyphen_values = true)]
    pub pilot_outputs: Option<u64>,
    /// Go on from this file if it is there, and save what was read in it; FILE then holds new outputs only
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// A pilot is kept in memory, and in the state.
fn pilot(text: &str) -> Parsed<u64> {
    whole(text, 1_000_000, "10^6")
}
