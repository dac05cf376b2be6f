//! Command line arguments; every value is checked while it is parsed.

use crate::args::values::{
    DIRECTIONS, Directions, Orders, choice, claim_mu, claim_rdp, delta, epsilon, failure_probability, fraction, listed,
    methods, named, orders, resamples, seed, threads,
};
use clap::{Args, ValueEnum};
use leakbound::audit::{FailurePer, Method};
use leakbound::bound::Claimed;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order};
use leakbound::record::MemoryBudget;
use leakbound::study::{Bounds, Claims, Methods};
use serde::Serialize;
use std::path::PathBuf;

mod threshold;
pub mod values;

pub use threshold::ThresholdOptions;

/// Options of every command.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct Common {
    /// Form of the result on stdout: tables to read, the documented JSON, or one flat table
    #[arg(long, value_enum, default_value = "text", global = true, help_heading = "Output")]
    pub format: Format,
    /// Write the result to a file; an existing file is replaced only once the result is complete
    #[arg(long, value_name = "FILE", global = true, help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Also write the result as one self-contained HTML page with figures
    #[arg(long, value_name = "FILE.html", global = true, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Also write the figures of --report FILE.html into this folder, as FILE-1.svg, FILE-2.svg, ...
    #[arg(long, value_name = "DIR", global = true)]
    pub figures: Option<PathBuf>,
    /// Seed of all random numbers; the same seed gives the same result on any number of threads
    #[arg(long, value_name = "N", default_value_t = 0, global = true, value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Whether the seed was given on the command line; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub seed_given: bool,
    /// The command, such as `audit counts`; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub command: String,
    /// The caller's session; set after parsing
    #[arg(skip)]
    #[serde(skip)]
    pub session: super::session::Session,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", global = true, value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Memory limit for input read from files, such as 4G [default: half of the free memory]
    #[arg(long, value_name = "SIZE", global = true, allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory: Option<MemoryBudget>,
    /// No progress bar
    #[arg(long, global = true)]
    pub quiet: bool,
    /// No colors (also with the environment variable NO_COLOR)
    #[arg(long, global = true)]
    pub no_color: bool,
}

impl Common {
    /// The memory that input may take.
    pub fn memory(&self) -> MemoryBudget {
        self.max_memory.unwrap_or_default()
    }
}

/// Form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Text,
    Json,
    Csv,
}

/// What an audit bounds.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Bounds")]
pub struct BoundOptions {
    /// Rényi orders, such as 2,5 or 2..64
    #[arg(long, value_parser = orders, default_value = "2,4,8,16,32,64", allow_hyphen_values = true)]
    pub orders: Orders,
    /// Failure probability: that any number with a finite-sample guarantee is wrong
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
    /// Scope of the failure probability: the whole answer, so that any number may be quoted, or each method on each
    /// query
    #[arg(long, value_name = "SCOPE", default_value = "answer", help_heading = "Advanced")]
    #[arg(value_parser = listed(named::<FailurePer>, FailurePer::ALL.map(FailurePer::name)))]
    pub failure_per: FailurePer,
    /// Methods: auto (the sharpest valid ones, chosen before the counts are seen), all, or a list of names
    #[arg(long, value_name = "NAME,...", default_value = "auto")]
    #[arg(value_parser = listed(methods, ["auto", "all"].into_iter().chain(Method::ALL.map(Method::name))))]
    pub methods: Methods,
    /// Direction of the divergences
    #[arg(long, value_parser = choice(DIRECTIONS), default_value = "both", help_heading = "Advanced")]
    pub direction: Directions,
    /// Resamples of the bootstrap methods
    #[arg(long, value_name = "N", value_parser = resamples, default_value = "10000", allow_hyphen_values = true, help_heading = "Advanced")]
    pub resamples: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub claims: ClaimOptions,
}

/// Options of `leakbound audit counts`.
#[derive(Debug, Args, Serialize)]
pub struct CountsOptions {
    /// Recorded counts or raw outputs
    pub file: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub bound: BoundOptions,
    /// Choose the output sets from a pilot recording, which is not used for the bounds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pilot_fraction", "distribution"])]
    pub pilot: Option<PathBuf>,
    /// Fraction of the recorded outputs to set aside as a pilot
    #[arg(long, value_name = "F", conflicts_with = "distribution", value_parser = fraction, allow_hyphen_values = true)]
    pub pilot_fraction: Option<f64>,
    /// Choose the output sets from the exact distribution: CSV or JSON with columns outcome,p,q[,query]
    #[arg(long, value_name = "FILE")]
    pub distribution: Option<PathBuf>,
}

/// Further results of an audit.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct FurtherOptions {
    /// Values of epsilon at which to bound delta from below; implies --trade-off
    #[arg(long, value_name = "E,...", value_delimiter = ',', value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilons: Vec<Epsilon>,
    /// Also bound mu of Gaussian differential privacy and the whole trade-off curve
    #[arg(long)]
    pub trade_off: bool,
}

/// Claims of a mechanism's author; a refuted claim exits with status 3.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Bounds")]
pub struct ClaimOptions {
    /// Delta of epsilon bounds and of --claim-epsilon
    #[arg(long, value_name = "D", value_parser = delta, default_value = "1e-5", allow_hyphen_values = true)]
    pub delta: Delta,
    /// Claim: one answer is (E, delta)-differentially private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub claim_epsilon: Option<Epsilon>,
    /// Claim: the Rényi divergence of one answer at ORDER is at most VALUE
    #[arg(long, value_name = "ORDER:VALUE", value_parser = claim_rdp, allow_hyphen_values = true, help_heading = "Advanced")]
    pub claim_rdp: Vec<(Order, Claimed)>,
    /// Claim: one answer is M-GDP
    #[arg(long, value_name = "M", value_parser = claim_mu, allow_hyphen_values = true, help_heading = "Advanced")]
    pub claim_mu: Option<Claimed>,
}

impl ClaimOptions {
    /// The value of `--delta` where none is given.
    pub const DELTA: f64 = 1e-5;

    /// The claims that a study tests.
    pub fn claims(&self) -> Claims {
        Claims {
            epsilon: self.claim_epsilon.map(|epsilon| (epsilon, self.delta)),
            rdp: self.claim_rdp.clone(),
            mu: self.claim_mu,
        }
    }
}

impl BoundOptions {
    /// What a study bounds.
    pub fn bounds(&self) -> Bounds {
        Bounds {
            orders: self.orders.0.clone(),
            delta: self.claims.delta,
            directions: self.direction.value.to_vec(),
            failure_probability: self.failure_probability,
            failure_per: self.failure_per,
            methods: self.methods.clone(),
            resamples: self.resamples,
            claims: self.claims.claims(),
        }
    }
}
