//! A bound is a number with its direction, failure probability, method and guarantee.
//!
//! Lower and upper bounds are different types: no code can print one as the other.

mod certain;
#[doc(hidden)]
pub mod outward;

pub use certain::{AtLeast, AtMost, Claimed, Exact};

use crate::error::{Error, Result};
use crate::named::named;
use crate::quantity::FailureProbability;
use serde::{Deserialize, Serialize};

/// The guarantee of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Validity {
    /// Holds with the stated failure probability for every sample size.
    FiniteSample,
    /// Holds only in the limit of many samples.
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

named!(Validity, "validity", [
    FiniteSample "finite-sample", Asymptotic "asymptotic", Bayesian "bayesian", Heuristic "heuristic", Exact "exact",
    NumericallyCertified "numerically-certified",
]);

/// Which divergence of a pair of neighbors is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// D(P‖Q): dataset against neighbor.
    Forward,
    /// D(Q‖P): neighbor against dataset.
    Reverse,
}

named!(Direction, "direction", [Forward "forward", Reverse "reverse"]);

impl Direction {
    /// Both directions, forward first.
    pub const BOTH: [Self; 2] = Self::ALL;

    /// The other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }

    /// The items of the dataset and of its neighbor; the first one is compared with the other.
    #[doc(hidden)]
    #[must_use]
    pub const fn ordered<T: Copy>(self, [dataset, neighbor]: [T; 2]) -> [T; 2] {
        match self {
            Self::Forward => [dataset, neighbor],
            Self::Reverse => [neighbor, dataset],
        }
    }
}

/// The directions in which an upper bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Directions {
    /// D(P‖Q) and D(Q‖P): the directions that differential privacy covers.
    Both,
    /// D(P‖Q) alone, dataset against neighbor: not a bound for the mechanism, and its ε is not an ε of differential
    /// privacy.
    Forward,
}

impl Directions {
    /// Whether the bound holds in a direction.
    #[must_use]
    pub const fn cover(self, direction: Direction) -> bool {
        matches!((self, direction), (Self::Both, _) | (Self::Forward, Direction::Forward))
    }
}

/// Bounds are constructed only by their `new`, so none of them holds NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sealed;

/// A lower bound on the true leakage, wrong only in an event of probability at most `failure_probability`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LowerBound {
    /// The bound, in natural-log units; 0 when nothing is known, never NaN.
    pub value: f64,
    /// The probability with which the bound may be wrong (1 minus its confidence).
    pub failure_probability: FailureProbability,
    /// Name of the method, such as `two-cut-corner`.
    pub method: &'static str,
    /// The guarantee of the method.
    pub validity: Validity,
    #[serde(skip)]
    sealed: Sealed,
}

impl LowerBound {
    /// A bound of this value; NaN and negative values become 0.
    #[must_use]
    pub const fn new(
        value: f64,
        failure_probability: FailureProbability,
        method: &'static str,
        validity: Validity,
    ) -> Self {
        Self { value: AtLeast::new(value).get(), failure_probability, method, validity, sealed: Sealed }
    }

    /// The bound in the form that is compared with a claim.
    #[must_use]
    pub const fn at_least(self) -> AtLeast {
        AtLeast::new(self.value)
    }

    /// The same bound with another value.
    #[must_use]
    pub const fn with_value(self, value: f64) -> Self {
        Self { value: AtLeast::new(value).get(), ..self }
    }

    /// The same bound, attributed to another method.
    #[must_use]
    pub const fn by(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    /// The same bound with another failure probability.
    #[must_use]
    pub const fn failing(self, failure_probability: FailureProbability) -> Self {
        Self { failure_probability, ..self }
    }

    /// The same number without a guarantee.
    #[must_use]
    pub const fn heuristic(self) -> Self {
        Self { validity: Validity::Heuristic, ..self }
    }
}

/// An upper bound on the true leakage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UpperBound {
    /// The bound, in natural-log units; `inf` when nothing is known, never NaN.
    pub value: f64,
    /// Name of the accountant, such as `gnmax-data-dependent`.
    pub name: &'static str,
    /// The guarantee of the accountant.
    pub validity: Validity,
    #[serde(skip)]
    sealed: Sealed,
}

impl UpperBound {
    /// A bound of this value; NaN becomes infinite.
    #[must_use]
    pub const fn new(value: f64, name: &'static str, validity: Validity) -> Self {
        Self { value: AtMost::new(value).get(), name, validity, sealed: Sealed }
    }
}

/// All certain figures of one quantity: exact values and bounds, which must not contradict one another.
///
/// A program that computes a quantity in several ways can notice that one of them is wrong. Before an answer is shown,
/// its figures are collected here, and a contradiction stops the run with [`Error::Contradiction`].
///
/// ```
/// # use leakbound::bound::Figures;
/// let mut figures = Figures::new("D(P‖Q) of order 2");
/// figures.at_least("exact", 0.0306);
/// figures.at_most("gnmax-worst-case", 0.5);
/// assert!(figures.clone().check().is_ok());
/// figures.at_most("lnmax-data-dependent", 0.0023);
/// assert!(figures.check().unwrap_err().to_string().contains("exact = 0.0306 is above lnmax-data-dependent"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    quantity: String,
    /// Absolute rounding error of the figures.
    rounding: f64,
    lower: Option<(String, f64)>,
    upper: Option<(String, f64)>,
}

impl Figures {
    /// Relative rounding error of a figure: ten times the known error of exact values.
    const RELATIVE: f64 = 1e-8;

    /// An empty collection of figures for a quantity, described in words.
    #[must_use]
    pub fn new(quantity: impl Into<String>) -> Self {
        Self { quantity: quantity.into(), rounding: 1e-13, lower: None, upper: None }
    }

    /// The Rényi divergence of an order: near order 1, a logarithm in double precision is divided by α - 1.
    #[must_use]
    pub fn of_order(quantity: impl Into<String>, order: f64) -> Self {
        Self { rounding: 1e-13 * (1.0 + 1.0 / (order - 1.0)), ..Self::new(quantity) }
    }

    /// Adds a value that the quantity is at least: an exact value or a certain lower bound.
    pub fn at_least(&mut self, name: impl Into<String>, value: f64) {
        if self.lower.as_ref().is_none_or(|lower| !(value <= lower.1)) {
            self.lower = Some((name.into(), value));
        }
    }

    /// Adds a value that the quantity is at most.
    pub fn at_most(&mut self, name: impl Into<String>, value: f64) {
        if self.upper.as_ref().is_none_or(|upper| !(value >= upper.1)) {
            self.upper = Some((name.into(), value));
        }
    }

    /// Checks that all figures can be true together.
    ///
    /// # Errors
    /// [`Error::Contradiction`] with the largest lower and the smallest upper figure, including when one is NaN.
    pub fn check(self) -> Result<()> {
        let (Some((lower_name, lower)), Some((upper_name, upper))) = (self.lower, self.upper) else { return Ok(()) };
        if lower <= upper * (1.0 + Self::RELATIVE) + self.rounding {
            return Ok(());
        }
        Err(Error::Contradiction { quantity: self.quantity, lower_name, lower, upper_name, upper })
    }
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
    /// The guarantee of the interval.
    pub validity: Validity,
}
