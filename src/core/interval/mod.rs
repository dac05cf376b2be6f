//! Confidence limits from counts. Nothing here draws a random number.

mod berk_jones;
mod binomial;
mod deviation;
mod difference;
mod dkw;
mod goodman;
mod jeffreys;
mod katz_log;
mod linear_functional;
mod open_list;
mod simplex_box;
mod simultaneous;
mod sison_glaz;
mod truncated_poisson;

pub use berk_jones::BerkJones;
pub use binomial::{BinomialCounts, ProportionLimit, clopper_pearson, clopper_pearson_lower, clopper_pearson_upper};
#[doc(hidden)]
pub use difference::{Limited, difference_width};
pub use dkw::dkw_limits;
pub use goodman::goodman;
pub use jeffreys::{jeffreys_lower, jeffreys_upper};
pub use katz_log::{adjusted_log_lower, katz_log_lower};
#[doc(hidden)]
pub use linear_functional::{LevelSplit, LinearFunctional, Moments};
pub use open_list::clopper_pearson_open;
#[doc(hidden)]
pub use simplex_box::SimplexBox;
pub use simultaneous::{ProportionRange, clopper_pearson_simultaneous};
pub use sison_glaz::{RectangleProbability, SisonGlaz, sison_glaz};
