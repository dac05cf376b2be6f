//! Random counts from named distributions: binomial, multinomial, hypergeometric. Simulation and resampling share them.

mod binomial;
mod goodness_of_fit;
mod hypergeometric;
mod multinomial;

#[doc(hidden)]
pub use binomial::draw as binomial;
pub use goodness_of_fit::p_value;
#[doc(hidden)]
pub use hypergeometric::draw_counts;
#[doc(hidden)]
pub use multinomial::Multinomial;
