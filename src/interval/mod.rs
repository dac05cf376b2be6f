//! Confidence limits from counts. Nothing here draws a random number.

mod binomial;
mod deviation;
mod linear_functional;
mod simplex_box;

pub use binomial::{BinomialCounts, ProportionLimit, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
pub(crate) use linear_functional::{LevelSplit, LinearFunctional, Moments};
pub(crate) use simplex_box::SimplexBox;
