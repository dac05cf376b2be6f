//! Random counts by the distributions that have names: binomial, multinomial, hypergeometric. Simulation and resampling
//! share them.

mod binomial;
mod hypergeometric;
mod multinomial;

pub(crate) use binomial::draw as binomial;
pub(crate) use hypergeometric::draw_counts;
pub(crate) use multinomial::Multinomial;
