//! GNMax: the argmax of votes with Gaussian noise, when one vote may move.

use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::special::{CompensatedSum, log_ndtr};
use std::f64::consts::SQRT_2;

/// RDP of GNMax whatever the votes: α/σ², the Gaussian mechanism with sensitivity √2 before post-processing.
///
/// ```
/// # use leakbound::{NoiseScale, Order, gnmax_data_independent};
/// assert_eq!(gnmax_data_independent(Order::new(16.0)?, NoiseScale::new(40.0)?), 0.01);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", Proposition 8.
#[must_use]
pub fn gnmax_data_independent(order: Order, sigma: NoiseScale) -> f64 {
    order.get() / sigma.get() / sigma.get()
}

/// ln q, an upper bound of the probability that GNMax does not print the plurality class i*:
/// q = min(1 - 1/C, ½ Σ_{i≠i*} erfc((n_{i*} - n_i)/(2σ))), by the union bound.
///
/// `-inf` for a single class.
///
/// # References
/// Papernot et al. (2018), Proposition 7.
#[must_use]
pub fn log_flip_probability(histogram: &VoteHistogram, sigma: NoiseScale) -> f64 {
    let counts = histogram.counts();
    let (top, &most) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
    // ½ erfc(d/(2σ)) = Φ(-d/(σ√2)); the largest term is split off so that the sum never underflows.
    let log_terms = counts
        .iter()
        .enumerate()
        .filter(|&(class, _)| class != top)
        .map(|(_, &count)| log_ndtr(-((most - count) as f64) / (sigma.get() * SQRT_2)));
    let largest = log_terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let union = largest + log_terms.map(|term| libm::exp(term - largest)).collect::<CompensatedSum>().value().ln();
    union.min(libm::log1p(-1.0 / counts.len() as f64))
}

/// Data-dependent RDP of GNMax from ln q, q ≥ P(output ≠ i*): bounds D_α(M(D)‖M(D')) for every D' that differs from D
/// by one moved vote. Never above [`gnmax_data_independent`].
///
/// With μ₂ = σ √(ln 1/q), μ₁ = μ₂ + 1, ε_i = μ_i/σ², if μ₁ ≥ α, μ₂ > 1 and
/// q ≤ e^{(μ₂-1) ε₂}/(μ₁/(μ₁-1) · μ₂/(μ₂-1))^{μ₂}:
/// ```text
/// ε(α) = ln[(1-q) A^{α-1} + q B^{α-1}]/(α-1),
/// A = (1-q)/(1 - (q e^{ε₂})^{(μ₂-1)/μ₂}),   B = e^{ε₁}/q^{1/(μ₁-1)}.
/// ```
/// Everything is in logarithms: q reaches 1e-300 and less. The bound holds for any mechanism that satisfies
/// (μ, μ/σ²)-RDP, so q may also be the exact probability from a law, and the histogram may be random.
///
/// ```
/// # use leakbound::{NoiseScale, Order, gnmax_data_dependent};
/// let rdp = gnmax_data_dependent(Order::new(2.0)?, NoiseScale::new(40.0)?, -5.903_330_380_876_797);
/// assert!((rdp - 0.000_705_237_204_367_768_9).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), Theorem 6 with the orders of Proposition 10.
#[must_use]
pub fn gnmax_data_dependent(order: Order, sigma: NoiseScale, log_q: f64) -> f64 {
    let independent = gnmax_data_independent(order, sigma);
    if log_q == f64::NEG_INFINITY {
        return 0.0;
    }
    let (a, s) = (order.get(), sigma.get());
    let mu2 = s * (-log_q).sqrt();
    let mu1 = mu2 + 1.0;
    if !(log_q < 0.0 && mu2 > 1.0 && mu1 >= a) {
        return independent;
    }
    let (e1, e2) = (mu1 / s / s, mu2 / s / s);
    let limit = (mu2 - 1.0) * e2 - mu2 * (libm::log1p(1.0 / mu2) - libm::log1p(-1.0 / mu2));
    // (q e^{ε₂})^{(μ₂-1)/μ₂}
    let log_ratio = (log_q + e2) * (mu2 - 1.0) / mu2;
    if !(log_q <= limit && log_ratio < 0.0) {
        return independent;
    }
    let q = libm::exp(log_q);
    // A - 1 = (r - q)/(1 - r) with r = (q e^{ε₂})^{(μ₂-1)/μ₂} = q e^growth, growth > 0.
    let growth = (e2 * (mu2 - 1.0) - log_q) / mu2;
    let excess_of_a = times_expm1(q, log_q, growth) / -libm::expm1(log_ratio);
    let stay = (a - 1.0) * libm::log1p(excess_of_a); // ln A^{α-1} ≥ 0
    let leave = (a - 1.0) * (e1 - log_q / (mu1 - 1.0)); // ln B^{α-1} ≥ 0
    let value = if log_q + leave < 0.0 && stay < 1.0 {
        // (1-q) (A^{α-1} - 1) + q (B^{α-1} - 1): without the 1 that cancels, however small the cost.
        libm::log1p((1.0 - q) * libm::expm1(stay) + times_expm1(q, log_q, leave))
    } else {
        let (stay, leave) = (libm::log1p(-q) + stay, log_q + leave);
        let top = stay.max(leave);
        top + libm::log1p(libm::exp(stay.min(leave) - top))
    };
    let cost = value / (a - 1.0);
    // Exponents that overflow leave no number; the data-independent cost holds always.
    if cost.is_nan() { independent } else { cost.clamp(0.0, independent) }
}

/// q (e^x - 1) for x ≥ 0, where q = e^{ln q} may underflow while the product does not.
fn times_expm1(q: f64, log_q: f64, x: f64) -> f64 {
    if x > 1.0 { libm::exp(log_q + x) - q } else { q * libm::expm1(x) }
}
