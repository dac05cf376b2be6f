//! Confidence limits from counts. Nothing here draws a random number.

mod binomial;
mod dkw;
mod jeffreys;
mod katz_log;

pub use binomial::{BinomialCounts, ProportionLimit, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
pub use dkw::dkw_limits;
pub use jeffreys::{jeffreys_lower, jeffreys_upper};
pub use katz_log::{adjusted_log_lower, katz_log_lower};
