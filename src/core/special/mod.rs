//! Special functions of `f64`: tails in log space from the start, no statistics.

mod beta;
mod beta_distribution;
mod binomial;
mod exp;
mod ln;
mod log;
mod normal;
mod remainder;
mod sum;
mod tails;

pub use beta::{binomial_tail_root, binomial_tails};
pub use beta_distribution::{BetaDistribution, UnitPoint};
pub use binomial::log_binomial_pmf;
pub(crate) use binomial::{log_poisson_density, log_poisson_pmf};
pub use exp::{exp_in_loops, exp_less_one_in_loops};
pub use ln::{ln_in_loops, ln_of_one_plus_in_loops};
pub use log::{log_sum_exp, softplus};
pub use normal::{LN_SQRT_2PI, log_normal_density, normal_tail_ratio};
pub use normal::{erfc, log_erfc, log_ndtr, ndtr, ndtr_complement, ndtri, ndtri_exp};
pub use remainder::{exp_remainder, log_remainder};
pub use sum::CompensatedSum;
pub use tails::NormalTails;
