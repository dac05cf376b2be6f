//! Bounds on the privacy leakage of real mechanisms, from below and from above.

mod bound;
mod counts;
mod error;
mod histogram;
mod quantity;
pub mod record;

pub use bound::{Direction, Interval, LowerBound, UpperBound, Validity};
pub use counts::{MAX_COUNT, PairedCounts};
pub use error::{Error, InputError, Result};
pub use histogram::{Adjacency, MAX_CLASSES, Neighbor, VoteHistogram};
pub use quantity::{Delta, Epsilon, FailureProbability, NoiseScale, Order, Probability};
