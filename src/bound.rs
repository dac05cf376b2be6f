//! What a bound is: a number with its direction, its failure probability, its method and what it guarantees.
//!
//! Lower and upper bounds are different types: no code can print one as the other.

pub(crate) mod outward;

use crate::quantity::FailureProbability;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a number guarantees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Holds with the stated failure probability for every sample size.
    FiniteSample,
    /// Holds in the limit of many samples only.
    Asymptotic,
    /// A posterior statement under a stated prior.
    Bayesian,
    /// No guarantee is known.
    Heuristic,
    /// A theorem without sampling: no failure probability.
    Exact,
    /// A numerical supremum or integral with a verified error.
    NumericallyCertified,
}

impl Validity {
    /// The name used in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FiniteSample => "finite-sample",
            Self::Asymptotic => "asymptotic",
            Self::Bayesian => "bayesian",
            Self::Heuristic => "heuristic",
            Self::Exact => "exact",
            Self::NumericallyCertified => "numerically-certified",
        }
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Which divergence of a pair of neighbours is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// D(P‖Q): dataset against neighbour.
    Forward,
    /// D(Q‖P): neighbour against dataset.
    Reverse,
}

impl Direction {
    /// Both directions, forward first.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Reverse];

    /// The name used in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A number that the true leakage is at least, unless an event of probability `failure_probability` happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LowerBound {
    /// The bound, in natural-log units; 0 when nothing can be said.
    pub value: f64,
    /// The probability with which the bound may be wrong.
    pub failure_probability: FailureProbability,
    /// Name of the method, such as `two-cut-corner`.
    pub method: &'static str,
    /// What the method guarantees.
    pub validity: Validity,
}

/// A number that the true leakage is at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UpperBound {
    /// The bound, in natural-log units; `inf` when nothing can be said.
    pub value: f64,
    /// Name of the accountant, such as `gnmax-data-dependent`.
    pub name: &'static str,
    /// What the accountant guarantees.
    pub validity: Validity,
}

/// An interval for a proportion, rounded outwards.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The probability with which either end may be wrong.
    pub failure_probability: FailureProbability,
    /// What the interval guarantees.
    pub validity: Validity,
}
