//! Options of `leakbound account`.

use super::votes::{Queries, queries};
use super::{Orders, Parsed, ThresholdOptions, delta, epsilon, orders};
use clap::{Args, ValueEnum};
use leakbound::distribution::Noise;
use leakbound::divergence::Conversion;
use leakbound::quantity::{Delta, Epsilon};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound account`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct AccountOptions {
    /// Recorded votes (.npz), a scenario (.toml), releases (.toml with [[release]]) or an event of dp_accounting (.json)
    #[arg(value_name = "FILE.npz|SCENARIO.toml|RELEASES.toml|EVENTS.json")]
    pub file: PathBuf,
    /// Noise on every count: gaussian:SIGMA or laplace:B (recorded votes; a scenario has its own)
    #[arg(long, allow_hyphen_values = true)]
    pub noise: Option<Noise>,
    /// A test before the argmax (recorded votes)
    #[command(flatten)]
    #[serde(flatten)]
    pub threshold: ThresholdOptions,
    /// Delta at which to compute epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Conversion of composed RDP to epsilon: improved or classic
    #[arg(long, value_name = "NAME", default_value = "improved")]
    pub conversion: Conversion,
    /// Rényi orders of the table, such as 2,5 or 2..64; epsilon is taken over many more
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true)]
    pub orders: Orders,
    /// Positions of the answered queries in order, such as 3,17, or all
    #[arg(long, value_name = "I,J|all", value_parser = queries, default_value = "all", allow_hyphen_values = true)]
    pub queries: Queries,
    /// Index of the recorded instantiation of the teachers, from 0 (recorded votes)
    #[arg(long, value_name = "I", default_value_t = 0)]
    pub instantiation: usize,
    /// Answer the recorded queries with fresh noise, or make the releases, until a budget of epsilon is spent, once for
    /// each E
    #[arg(long, value_name = "E,...", value_parser = budgets, allow_hyphen_values = true)]
    pub budget: Option<BudgetEpsilons>,
    /// How many records one person has at most (releases; instead of `group` in their file)
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1 << 53))]
    pub group: Option<u64>,
    /// How answers are composed: rdp, or pld to also enclose epsilon by privacy-loss distributions
    #[arg(long, value_enum, default_value = "rdp")]
    pub composition: LossCalculus,
    /// Leave out the exact costs, which take a few milliseconds per query
    #[arg(long)]
    pub no_exact: bool,
}

/// What is composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossCalculus {
    /// Rényi divergences.
    Rdp,
    /// Privacy losses as well.
    Pld,
}

/// Budgets as written on the command line.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct BudgetEpsilons(pub Vec<Epsilon>);

fn budgets(text: &str) -> Parsed<BudgetEpsilons> {
    text.split(',').map(epsilon).collect::<Parsed<_>>().map(BudgetEpsilons)
}
