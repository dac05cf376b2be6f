//! Confidence limits from counts. Nothing here draws a random number.

mod binomial;

pub use binomial::{BinomialCounts, ProportionLimit, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
