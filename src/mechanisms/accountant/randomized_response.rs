//! Randomized response, with two answers and with k.

use crate::bound::outward::up;
use crate::error::{Error, Result};
use crate::quantity::{Epsilon, Order, Probability};
use crate::special::softplus;

/// RDP of binary randomized response, which gives the true answer with probability p and the other one otherwise:
/// ```text
/// D = ln[p^α (1-p)^{1-α} + (1-p)^α p^{1-α}]/(α-1).
/// ```
/// It is k-ary randomized response with two answers and ε = |ln p/(1-p)|; infinite for p = 0 or 1. ε is rounded up, and
/// D increases with ε; D is also rounded up.
///
/// ```
/// # use leakbound::accountant::randomized_response_rdp;
/// # use leakbound::quantity::{Order, Probability};
/// let rdp = randomized_response_rdp(Order::new(2.0)?, Probability::new(0.75)?);
/// assert!((rdp - (0.5625f64 / 0.25 + 0.0625 / 0.75).ln()).abs() < 2e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Warner (1965) for the mechanism; Mironov (2017), "Rényi differential privacy", Proposition 5.
#[must_use]
pub fn randomized_response_rdp(order: Order, truth: Probability) -> f64 {
    // The less likely answer, exactly: 1 - p above one half loses no digits.
    let rare = truth.get().min(1.0 - truth.get());
    let epsilon = if rare < 0.25 { libm::log1p(-rare) - rare.ln() } else { libm::log1p((1.0 - 2.0 * rare) / rare) };
    response(order.get(), if epsilon == 0.0 { 0.0 } else { up(epsilon, 4.0) }, 2.0)
}

/// RDP of k-ary randomized response: the truth with probability e^ε/(e^ε + k - 1), each other answer with probability
/// λ = 1/(e^ε + k - 1):
/// ```text
/// D = ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1).
/// ```
/// *Derivation.* Two truths have distributions that differ in two answers: Σ P^α Q^{1-α} = λ (e^{αε} + e^{(1-α)ε} + k -
/// 2), and less 1 = λ (e^ε + k - 1) that is λ (e^{αε} + e^{(1-α)ε} - 1 - e^ε), which factors as above: both factors are
/// positive, so no digit cancels at any order or ε. Rounded up by the rounding errors of the logarithms of its factors.
///
/// # Errors
/// [`Error::Domain`] for fewer than 2 answers.
///
/// ```
/// # use leakbound::accountant::k_ary_randomized_response_rdp;
/// # use leakbound::quantity::{Epsilon, Order};
/// // Of the largest orders nothing but ε remains.
/// let rdp = k_ary_randomized_response_rdp(Order::new(1e9)?, Epsilon::new(1.5)?, 10)?;
/// assert!((rdp - 1.5).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Kairouz, Oh and Viswanath (2014), "Extremal mechanisms for local differential privacy", for the mechanism.
pub fn k_ary_randomized_response_rdp(order: Order, epsilon: Epsilon, answers: u64) -> Result<f64> {
    Error::check_domain(answers >= 2, "number of answers of randomized response", answers as f64, "[2, 2^64)")?;
    Ok(response(order.get(), epsilon.get(), answers as f64))
}

/// The formula above.
fn response(a: f64, epsilon: f64, answers: f64) -> f64 {
    let ln_total = ln_of_exp_and(epsilon, answers - 1.0);
    of_rare_side(a, epsilon, [ln_total, ln_total.abs()])
}

/// ln(e^ε + rest) from the larger of the two, off by two units and a unit of itself.
pub(super) fn ln_of_exp_and(epsilon: f64, rest: f64) -> f64 {
    if epsilon < 700.0 { (libm::exp(epsilon) + rest).ln() } else { epsilon + libm::log1p(rest * libm::exp(-epsilon)) }
}

/// ln[1 + λ (1 - e^{-(α-1)ε}) (e^{αε} - 1)]/(α-1) from -ln λ and its size (it may be off by a unit of that): by the
/// logarithm of the excess over 1, rounded up; never above ε, which bounds every order.
pub(super) fn of_rare_side(a: f64, epsilon: f64, [minus_ln_rare, size]: [f64; 2]) -> f64 {
    if epsilon == 0.0 || epsilon == f64::INFINITY {
        return epsilon;
    }
    let x = (a - 1.0) * epsilon;
    let (ln_first, ln_second) = ((-libm::expm1(-x)).ln(), ln_expm1(a * epsilon));
    // Factors that are off by two units of themselves move their logarithms by the same amount, a product α ε by a unit
    // of itself.
    let error = f64::EPSILON * (8.0 + 2.0 * (ln_first.abs() + ln_second.abs() + size));
    let value = up(softplus(ln_first + ln_second - minus_ln_rare + error) / (a - 1.0), 4.0);
    // Products of order and ε that overflow or underflow.
    if value.is_nan() { epsilon } else { value.min(epsilon) }
}

/// ln(e^x - 1) for x > 0.
fn ln_expm1(x: f64) -> f64 {
    if x > 1.0 { x + libm::log1p(-libm::exp(-x)) } else { libm::expm1(x).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::{bernoulli_renyi, renyi_divergence};

    fn order(a: f64) -> Order {
        Order::new(a).unwrap()
    }

    #[test]
    fn agrees_with_the_divergence_of_the_distributions() {
        for a in [1.0001, 1.5, 2.0, 7.3, 64.0, 1000.0] {
            for p in [0.5 + 1e-9, 0.51, 0.6, 0.75, 0.25, 0.999, 1e-12] {
                let value = randomized_response_rdp(order(a), Probability::new(p).unwrap());
                let expected = bernoulli_renyi((p, 1.0 - p), (1.0 - p, p), order(a));
                assert!((value / expected - 1.0).abs() < 1e-12, "{a} {p}: {value} {expected}");
            }
            for (epsilon, k) in [(0.01, 3usize), (1.0, 2), (2.5, 10), (8.0, 1000)] {
                let lie = 1.0 / (f64::exp(epsilon) + (k - 1) as f64);
                let distribution = |truth: usize| {
                    let mut p = vec![lie; k];
                    p[truth] = f64::exp(epsilon) * lie;
                    OutcomeDistribution::from_probabilities(&p).unwrap()
                };
                let expected = renyi_divergence(&distribution(0), &distribution(1), order(a)).unwrap();
                let value = k_ary_randomized_response_rdp(order(a), Epsilon::new(epsilon).unwrap(), k as u64).unwrap();
                assert!((value / expected - 1.0).abs() < 1e-12, "{a} {epsilon} {k}: {value} {expected}");
            }
        }
    }

    /// At ε = 700 the divergence is ε up to e^-700, and the published value is not below it.
    #[test]
    fn where_nothing_but_epsilon_remains_it_is_not_rounded_down() {
        for a in [2.0, 64.0, 1000.0] {
            assert_eq!(k_ary_randomized_response_rdp(order(a), Epsilon::new(700.0).unwrap(), 2).unwrap(), 700.0, "{a}");
        }
    }

    #[test]
    fn no_input_leaves_the_range() {
        for a in [1.0 + f64::EPSILON, 2.0, 1e6, 1e300] {
            for epsilon in [0.0, 1e-300, 1e-9, 1.0, 700.0, 1e4, 1e300, f64::INFINITY] {
                for k in [2, 3, 1000, u64::MAX] {
                    let value = k_ary_randomized_response_rdp(order(a), Epsilon::new(epsilon).unwrap(), k).unwrap();
                    assert!((0.0..=epsilon).contains(&value), "{a} {epsilon} {k}: {value}");
                }
            }
            for p in [0.0, 5e-324, 0.5, 1.0 - f64::EPSILON, 1.0] {
                let value = randomized_response_rdp(order(a), Probability::new(p).unwrap());
                assert!(value >= 0.0, "{a} {p}: {value}");
                assert_eq!(value == f64::INFINITY, p == 0.0 || p == 1.0, "{a} {p}: {value}");
            }
        }
        assert!(k_ary_randomized_response_rdp(order(2.0), Epsilon::new(1.0).unwrap(), 1).is_err());
    }
}
