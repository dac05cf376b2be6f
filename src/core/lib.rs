//! Quantities, distributions, divergences and intervals.
//!
//! Part of the package `leakbound`, whose documentation covers it.

pub mod bound;
pub mod counts;
pub mod distribution;
pub mod divergence;
pub mod error;
pub mod histogram;
pub mod interval;
#[doc(hidden)]
pub mod named;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod parallel;
#[doc(hidden)]
pub mod quadrature;
pub mod quantity;
pub mod relation;
pub mod roc;
#[doc(hidden)]
pub mod solve;
pub mod special;
#[doc(hidden)]
pub mod variate;
#[doc(hidden)]
pub mod vectorized;

pub use error::{Error, InputError, Result};

/// The names that most programs need, as far as this package defines them.
pub mod prelude {
    pub use crate::bound::{Direction, LowerBound, UpperBound, Validity};
    pub use crate::counts::PairedCounts;
    pub use crate::distribution::{Noise, OutcomeDistribution, OutputPair};
    pub use crate::divergence::RdpCurve;
    pub use crate::error::{Error, Result};
    pub use crate::histogram::{Neighbor, VoteChange, VoteHistogram};
    pub use crate::quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
}
