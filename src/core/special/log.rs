//! Sums of exponentials without overflow.

use super::sum::CompensatedSum;

/// ln Σ exp(x_i), scaled by the largest term; `-inf` for no terms.
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + terms.map(|term| libm::exp(term - largest)).collect::<CompensatedSum>().value().ln()
}

/// ln(1 + e^x).
pub fn softplus(x: f64) -> f64 {
    if x > 40.0 { x } else { libm::log1p(libm::exp(x)) }
}
