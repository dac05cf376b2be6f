//! Exact values with a bound of their numerical error.

use crate::bound::Direction;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::quantity::{Epsilon, Order};
use serde::Serialize;

/// A value computed from exact distributions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Exact {
    /// The value.
    pub value: f64,
    /// How far the true value may be from it.
    pub error: f64,
}

impl Exact {
    /// Whether the true value is above a claim beyond the numerical error, and beyond what a claim in double precision
    /// may have lost: a relative 1e-10 and `least`.
    pub(super) fn refutes(self, claim: f64, least: f64) -> bool {
        // An infinite value has no error that matters.
        let certain = if self.value.is_infinite() { self.value } else { self.value - self.error };
        certain > claim + 1e-10 * claim.abs() + least
    }
}

/// The relative error of a probability that a distribution does not state itself.
pub(super) const LEAST_ERROR: f64 = 2e-13;
/// All bounds of errors are to first order and doubled.
const SAFETY: f64 = 2.0;

/// ln of the smallest double.
const SMALLEST_LOG: f64 = -745.0;

/// Relative error of each probability. That of an outcome above one half is the error of the sum of the others.
fn relative_error(distribution: &OutcomeDistribution, i: usize) -> f64 {
    // What is impossible is known to be.
    if distribution.ln_p()[i] == f64::NEG_INFINITY {
        return 0.0;
    }
    let error =
        distribution.error().max(LEAST_ERROR) + 4.0 * f64::EPSILON * (1.0 + distribution.ln_p()[i].abs().min(1e300));
    if distribution.p()[i] > 0.5 {
        error * distribution.complement()[i] + f64::EPSILON * distribution.complement()[i]
    } else {
        error
    }
}

/// D_α(P‖Q) with its error.
///
/// With relative errors e_i of the probabilities, F = Σ p^α q^{1-α} is off by at most (2α-1) max e_i of itself, and,
/// from the form Σ [p expm1((α-1) l) - (α-1) q expm1(l)], l = ln p/q, by at most
/// Σ e_i (2α p |expm1((α-1) l)| + |p expm1((α-1) l) - (α-1) q expm1(l)|). The smaller holds.
pub(super) fn renyi(pair: &OutputPair, direction: Direction, order: Order) -> Exact {
    let value = pair.renyi(direction, order);
    let [p, q] = pair.in_direction(direction);
    let a = order.get();
    let errors = || (0..p.outcomes()).map(|i| relative_error(p, i).max(relative_error(q, i)));
    let everywhere = (2.0 * a - 1.0) * errors().fold(0.0, f64::max);
    // By terms where the divergence is small; there no term exceeds e, whatever its factors are.
    let of_log = if (a - 1.0) * value > 1.0 {
        everywhere
    } else {
        let term = |(i, error): (usize, f64)| {
            let (p_i, q_i, l) = (p.p()[i], q.p()[i], p.ln_p()[i] - q.ln_p()[i]);
            if p_i == 0.0 && q_i == 0.0 && !((a - 1.0) * l + p.ln_p()[i] > SMALLEST_LOG) {
                return 0.0;
            }
            let first = if (a - 1.0) * l > 700.0 || p_i < f64::MIN_POSITIVE {
                libm::exp((a - 1.0) * l + p.ln_p()[i]) - p_i
            } else {
                p_i * libm::expm1((a - 1.0) * l)
            };
            let second = (a - 1.0) * if l.abs() > 1.0 { p_i - q_i } else { q_i * libm::expm1(l) };
            error * (2.0 * a * first.abs() + (first - second).abs())
        };
        let by_terms: f64 = errors().enumerate().map(term).sum::<f64>() / libm::exp((a - 1.0) * value);
        // NaN where an outcome is impossible.
        if by_terms < everywhere { by_terms } else { everywhere }
    };
    Exact { value, error: SAFETY * of_log / (a - 1.0) + 4e-12 * value }
}

/// D₁(P‖Q) = Σ q f(l), f(l) = l e^l - e^l + 1 ≥ 0, l = ln p/q, with its error: f' = l e^l, and l is off by 2 e_i.
pub(super) fn kullback_leibler(pair: &OutputPair, direction: Direction) -> Exact {
    let [p, q] = pair.in_direction(direction);
    let (mut value, mut error) = (0.0, 0.0);
    for i in 0..p.outcomes() {
        let (p_i, q_i, l) = (p.p()[i], q.p()[i], p.ln_p()[i] - q.ln_p()[i]);
        if p_i == 0.0 {
            value += q_i;
            continue;
        }
        // l²/2 + l³/3 + l⁴/8 where the difference would cancel.
        let term = if l.abs() < 1e-3 {
            q_i * l * l * (0.5 + l * (1.0 / 3.0 + l / 8.0))
        } else {
            // q expm1(l) is p - q, which never overflows.
            (p_i * l - if l > 1.0 { p_i - q_i } else { q_i * libm::expm1(l) }).max(0.0)
        };
        value += term;
        error += relative_error(p, i).max(relative_error(q, i)) * (2.0 * p_i * l.abs() + term);
    }
    Exact { value, error: SAFETY * error + 1e-9 * value }
}

/// δ(ε) = Σ max(0, p - e^ε q) with its error: at most 2 e_i p_i for every outcome that counts.
pub(super) fn delta(pair: &OutputPair, direction: Direction, epsilon: Epsilon) -> Exact {
    let value = pair.delta(direction, epsilon);
    let [p, q] = pair.in_direction(direction);
    let error = |i: usize| {
        let counts = p.ln_p()[i] - q.ln_p()[i] > epsilon.get() - 1e-9;
        if counts { 2.0 * relative_error(p, i).max(relative_error(q, i)) * p.p()[i] } else { 0.0 }
    };
    Exact { value, error: SAFETY * (0..p.outcomes()).map(error).sum::<f64>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, noisy_argmax_distribution};
    use crate::divergence::renyi_divergence;
    use crate::histogram::VoteHistogram;
    use crate::quantity::NoiseScale;

    /// Every probability changed by up to its error: the divergence stays within its own.
    #[test]
    fn errors_of_probabilities_stay_within_the_error_of_the_divergence() {
        let distribution = |counts: &[u64], sigma: f64| {
            let noise = Noise::Gaussian(NoiseScale::new(sigma).unwrap());
            noisy_argmax_distribution(&VoteHistogram::new(counts.to_vec()).unwrap(), noise).unwrap()
        };
        for (p, q, sigma) in [([3, 2, 1], [2, 3, 1], 2.0), ([9, 0, 0], [8, 1, 0], 1.0), ([5, 5, 0], [4, 6, 0], 0.3)] {
            let pair = OutputPair::new(distribution(&p, sigma), distribution(&q, sigma)).unwrap();
            let [p, q] = pair.in_direction(Direction::Forward);
            for a in [1.001, 2.0, 20.0, 300.0] {
                let order = Order::new(a).unwrap();
                let exact = renyi(&pair, Direction::Forward, order);
                assert!(exact.error < 1e-6 * exact.value + 1e-12, "{a} {sigma}: {exact:?}");
                for signs in 0..8u32 {
                    let moved: Vec<f64> =
                        (0..3).map(|i| p.p()[i] * (1.0 + if signs >> i & 1 == 1 { 1e-13 } else { -1e-13 })).collect();
                    let total: f64 = moved[1..].iter().sum();
                    let moved = OutcomeDistribution::from_probabilities(&[1.0 - total, moved[1], moved[2]]).unwrap();
                    let other = renyi_divergence(&moved, q, order).unwrap();
                    assert!((other - exact.value).abs() <= exact.error + 1e-14, "{a} {sigma}: {other} {exact:?}");
                }
            }
        }
    }

    #[test]
    fn a_refutation_needs_a_margin() {
        let exact = Exact { value: 1.0, error: 1e-12 };
        assert!(exact.refutes(0.999, 1e-15) && exact.refutes(-1.0, 1e-15));
        assert!(!exact.refutes(1.0, 1e-15) && !exact.refutes(1.0 - 1e-13, 1e-15) && !exact.refutes(f64::INFINITY, 0.0));
        assert!(Exact { value: f64::INFINITY, error: f64::NAN }.refutes(1e308, 0.0));
    }
}
