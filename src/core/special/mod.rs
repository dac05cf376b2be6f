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

pub use binomial::log_binomial_pmf;
pub(crate) use binomial::{log_poisson_density, log_poisson_pmf};
pub use normal::{log_erfc, log_ndtr, ndtr, ndtri, ndtri_exp};
pub use sum::CompensatedSum;

#[doc(hidden)]
pub use self::{
    beta::{binomial_tail_root, binomial_tails},
    beta_distribution::{BetaDistribution, UnitPoint},
    exp::{exp_in_loops, exp_less_one_in_loops},
    ln::{ln_in_loops, ln_of_one_plus_in_loops},
    log::{log_sum_exp, softplus},
    normal::{LN_SQRT_2PI, log_normal_density, normal_tail_ratio},
    normal::{erfc, ndtr_complement},
    remainder::{exp_remainder, log_remainder},
    tails::NormalTails,
};
