//! Rényi divergence in a form that keeps its digits when the two distributions are nearly equal.

use super::{Pair, same_outcomes};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::quantity::Order;
use crate::special::{CompensatedSum, log_sum_exp};

/// D_α(P‖Q) = ln(Σ p_i^α q_i^{1-α})/(α-1), in nats.
///
/// Because both distributions sum to 1, the sum minus 1 equals Σ [p_i expm1((α-1) l_i) - (α-1) q_i expm1(l_i)] with
/// l = ln p - ln q, where every term is ≥ 0: nothing cancels between outcomes, and divergences of 1e-30 keep a
/// relative accuracy of about 1e-14. Infinite when P puts mass where Q has none.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
///
/// # Example
/// ```
/// # use leakbound::divergence::renyi_divergence;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::quantity::Order;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.5, 0.5])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
/// let expected = (0.5f64 * 2.0 + 0.5 * (0.5 / 0.75)).ln();
/// assert!((renyi_divergence(&p, &q, Order::new(2.0)?)? - expected).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Rényi (1961); Mironov (2017), "Rényi differential privacy", Definition 3.
pub fn renyi_divergence(p: &OutcomeDistribution, q: &OutcomeDistribution, order: Order) -> Result<f64> {
    same_outcomes(p, q)?;
    Ok(of_same_outcomes(p, q, order))
}

/// The same for two distributions known to have the same outcomes.
pub(super) fn of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution, order: Order) -> f64 {
    divergence(|| (0..p.outcomes()).map(|i| Pair::of(p, q, i)), order.get())
}

/// D_α of two Bernoulli distributions given by both of their probabilities: P = (p, 1-p), Q = (q, 1-q).
///
/// The complements are arguments because either side may be tiny; each pair is trusted to sum to 1.
///
/// ```
/// # use leakbound::divergence::bernoulli_renyi;
/// # use leakbound::quantity::Order;
/// let divergence = bernoulli_renyi((0.5, 0.5), (0.25, 0.75), Order::new(2.0)?);
/// assert!((divergence - (4.0f64 / 3.0).ln()).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn bernoulli_renyi(p: (f64, f64), q: (f64, f64), order: Order) -> f64 {
    // The logarithm of the larger side is computed from the smaller one, which has the digits.
    let log = |side: f64, other: f64| if side > 0.5 { libm::log1p(-other) } else { side.ln() };
    let logs = |distribution: (f64, f64)| [log(distribution.0, distribution.1), log(distribution.1, distribution.0)];
    two_outcomes(p, logs(p), q, logs(q), order)
}

/// The same from the logarithms of all four probabilities, which may be far below the range of doubles.
pub fn bernoulli_renyi_of_logs(ln_p: [f64; 2], ln_q: [f64; 2], order: Order) -> f64 {
    let of_logs = |logs: [f64; 2]| (libm::exp(logs[0]), libm::exp(logs[1]));
    two_outcomes(of_logs(ln_p), ln_p, of_logs(ln_q), ln_q, order)
}

/// The same from the probabilities of Q, all of them positive, and the logarithms of the ratios p/q, which keep their
/// digits however close the two distributions are; the sums of both are trusted to be 1.
pub fn two_ratios_renyi(q: [f64; 2], ratios: [f64; 2], order: Order) -> f64 {
    let a = order.get();
    let log_terms = [0, 1].map(|i| a * ratios[i] + q[i].ln());
    let value = if log_terms.iter().any(|term| *term > 1.0) {
        log_sum_exp(log_terms.into_iter())
    } else {
        let of_one = |i: usize| {
            let (q, l) = (q[i], ratios[i]);
            if l.abs() <= 0.02 / a {
                return q * series(a, l);
            }
            // q (e^{al} - 1 - a (e^l - 1)) = q e^l (e^{(a-1)l} - 1) - (a-1) q (e^l - 1).
            (q * libm::exp(l) * libm::expm1((a - 1.0) * l) - (a - 1.0) * q * libm::expm1(l)).max(0.0)
        };
        libm::log1p(of_one(0) + of_one(1))
    };
    (value / (a - 1.0)).max(0.0)
}

fn two_outcomes(p: (f64, f64), ln_p: [f64; 2], q: (f64, f64), ln_q: [f64; 2], order: Order) -> f64 {
    let terms = || {
        [
            Pair { p: p.0, q: q.0, p_other: p.1, q_other: q.1, ln_p: ln_p[0], ln_q: ln_q[0] },
            Pair { p: p.1, q: q.1, p_other: p.0, q_other: q.0, ln_p: ln_p[1], ln_q: ln_q[1] },
        ]
        .into_iter()
    };
    divergence(terms, order.get())
}

fn divergence<I: Iterator<Item = Pair> + Clone>(terms: impl Fn() -> I, a: f64) -> f64 {
    // An outcome that neither distribution has contributes nothing; one that only Q has contributes q to the excess
    // below.
    let possible = terms().filter(|term| term.ln_p > f64::NEG_INFINITY);
    if possible.clone().any(|term| term.ln_q == f64::NEG_INFINITY) {
        return f64::INFINITY;
    }
    let log_term = |term: Pair| a * term.log_ratio() + term.ln_q;
    let largest = possible.clone().map(log_term).fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::INFINITY {
        return divergence_of_huge_order(possible, a);
    }
    let value = if largest > 1.0 {
        log_sum_exp(possible.map(log_term))
    } else {
        libm::log1p(terms().map(|term| excess(term, a)).collect::<CompensatedSum>().value())
    };
    (value / (a - 1.0)).max(0.0)
}

/// p expm1((a-1) l) - (a-1) q expm1(l) = q (e^{al} - 1 - a (e^l - 1)), never negative.
fn excess(term: Pair, a: f64) -> f64 {
    let Pair { p, q, ln_p, ln_q, .. } = term;
    if ln_p == f64::NEG_INFINITY {
        return if ln_q == f64::NEG_INFINITY { 0.0 } else { (a - 1.0) * q };
    }
    let l = term.log_ratio();
    if l.abs() <= 0.02 / a.max(1.0) {
        return q * series(a, l);
    }
    let power = (a - 1.0) * l;
    // In logarithms if p is below the normal doubles or its factor above them; the product is neither.
    let first =
        if power > 700.0 || p < f64::MIN_POSITIVE { libm::exp(power + ln_p) - p } else { p * libm::expm1(power) };
    // q expm1(l) is p - q, which cancels if the distributions are close, and never overflows.
    let second = if l.abs() > 1.0 { p - q } else { q * libm::expm1(l) };
    (first - (a - 1.0) * second).max(0.0)
}

/// Σ_{k≥2} (a^k - a) l^k/k! for |a l| ≤ 0.02: ten terms reach 1e-17 of the first.
///
/// With u = a l a term is u (u^{k-1} - l^{k-1})/k!, and the differences d_m = u^m - l^m = u d_{m-1} + l^{m-1} (u - l)
/// add up without cancellation for a next to 1 and without overflow for the largest a.
fn series(a: f64, l: f64) -> f64 {
    let (u, first) = (a * l, (a - 1.0) * l);
    let (mut difference, mut power, mut factorial) = (first, l, 2.0);
    let mut sum = u * difference / factorial;
    for k in 3..=11 {
        difference = u * difference + power * first;
        power *= l;
        factorial *= f64::from(k);
        sum += u * difference / factorial;
    }
    sum
}

/// D_α if α l overflows: the exponents divided by α - 1 are l + ln p/(α-1).
fn divergence_of_huge_order(terms: impl Iterator<Item = Pair> + Clone, a: f64) -> f64 {
    let exponents = terms.map(|term| term.log_ratio() + term.ln_p / (a - 1.0));
    let largest = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
    (largest + log_sum_exp(exponents.map(|exponent| (a - 1.0) * (exponent - largest))) / (a - 1.0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An outcome of probability 1e-320 against 9e-311: its power overflows before the product does.
    #[test]
    fn probabilities_below_the_normal_doubles_keep_the_order() {
        let (p, q) = (9.097_628e-311, 1.035_56e-320);
        let mut last = 0.0;
        for order in 2..=60 {
            let a = f64::from(order);
            let found = bernoulli_renyi((p, 1.0), (q, 1.0), Order::new(a).unwrap());
            let exponent = a * (p.ln() - q.ln()) + q.ln();
            assert!(found.is_finite() && found >= last, "{a}: {found} after {last}");
            if exponent > -600.0 {
                let expected = log_sum_exp([0.0, exponent].into_iter()) / (a - 1.0);
                assert!((found - expected).abs() <= 1e-12 + 1e-9 * expected, "{a}: {found} {expected}");
            }
            last = found;
        }
    }

    #[test]
    fn two_ratios_have_the_divergence_of_their_distributions() {
        for p in [0.3f64, 0.45, 0.5001] {
            for a in [1.5, 2.0, 8.0, 100.0] {
                let order = Order::new(a).unwrap();
                let found = two_ratios_renyi([0.5; 2], [(2.0 * p).ln(), (2.0 * (1.0 - p)).ln()], order);
                let expected = bernoulli_renyi((p, 1.0 - p), (0.5, 0.5), order);
                assert!((found / expected - 1.0).abs() < 1e-9, "{p} {a}: {found:e} {expected:e}");
            }
        }
    }

    #[test]
    fn where_the_order_overflows_the_largest_ratio_is_left() {
        for order in [1e306, 1e307, 1e308] {
            let found = bernoulli_renyi((0.5, 0.5), (1e-304, 1.0), Order::new(order).unwrap());
            assert!((found / (0.5f64.ln() - 1e-304f64.ln()) - 1.0).abs() < 1e-12, "{order}: {found}");
        }
    }

    /// Ratios beyond 1e308 at orders where both terms of an outcome count; expected values with 50 digits.
    #[test]
    fn ratios_that_overflow_keep_their_digits() {
        for (p, q, a, expected) in [
            ((0.5, 0.5), (1e-310, 1.0), 1.0005, 387.884_476_956_857_4),
            ((0.5, 0.5), (1e-310, 1.0), 1.01, 643.872_914_883_901_2),
            ((0.75, 0.25), (1e-320, 1.0), 1.000_000_1, 552.063_200_472_373_9),
            ((1e-5, 0.99999), (3e-316, 1.0), 1.001, 0.010_431_921_857_643_343),
            ((1e-310, 1.0), (0.5, 0.5), 1.5, std::f64::consts::LN_2),
            ((1e-310, 1.0), (0.001, 0.999), 40.0, 0.001_000_500_333_583_534_4),
        ] {
            let found = bernoulli_renyi(p, q, Order::new(a).unwrap());
            assert!((found / expected - 1.0).abs() < 1e-11, "{p:?} {q:?} {a}: {found} {expected}");
        }
        // Outcomes whose probabilities are outside the range of doubles.
        for (ln_p, ln_q, a, expected) in [
            (-36.0, -62079.0, 1.000_456_258_319_621_7, 0.999_858_247_290_090_6),
            (-3.0, -2000.0, 1.001, 275.312_278_222_807_94),
        ] {
            let both = |ln: f64| [ln, libm::log1p(-libm::exp(ln))];
            let found = bernoulli_renyi_of_logs(both(ln_p), both(ln_q), Order::new(a).unwrap());
            assert!((found / expected - 1.0).abs() < 1e-11, "{ln_p} {ln_q} {a}: {found} {expected}");
        }
    }

    fn at(a: f64, p: f64, q: f64) -> f64 {
        bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), Order::new(a).unwrap())
    }

    /// D_∞ is ln max p/q, and D_α differs from it by less than 1500/α.
    #[test]
    fn huge_orders_reach_the_largest_ratio() {
        for a in [1e20, 1e100, 1e300, f64::MAX] {
            assert!((at(a, 0.75, 0.5) / 1.5f64.ln() - 1.0).abs() < 1e-15, "{a}");
            let (p, q) = (0.5 + 1e-9, 0.5);
            assert!((at(a, p, q) / (p / q).ln() - 1.0).abs() < 1e-8, "{a}: {}", at(a, p, q));
        }
    }

    /// Close to order 1, D is the Kullback-Leibler divergence; for (½+d, ½-d) against ½ it is 2d² + O(d⁴).
    #[test]
    fn orders_next_to_one_keep_their_digits() {
        let d = 1e-6;
        for a in [1.0 + 1e-7, 1.0 + 1e-12, 1.0 + f64::EPSILON] {
            assert!((at(a, 0.5 + d, 0.5) / (2.0 * d * d) - 1.0).abs() < 1e-6, "{a}: {}", at(a, 0.5 + d, 0.5));
        }
    }

    /// An outcome that neither distribution has changes nothing; one that only Q has does not make the value infinite.
    #[test]
    fn impossible_outcomes_leak_nothing() {
        let distribution = |p: &[f64]| OutcomeDistribution::from_probabilities(p).unwrap();
        let order = Order::new(2.0).unwrap();
        let expected = renyi_divergence(&distribution(&[0.5, 0.5]), &distribution(&[0.25, 0.75]), order).unwrap();
        let found =
            renyi_divergence(&distribution(&[0.5, 0.5, 0.0]), &distribution(&[0.25, 0.75, 0.0]), order).unwrap();
        assert_eq!(found, expected);
        let found =
            renyi_divergence(&distribution(&[0.5, 0.5, 0.0]), &distribution(&[0.25, 0.5, 0.25]), order).unwrap();
        assert!((found - 1.5f64.ln()).abs() < 1e-15, "{found}");
        assert_eq!(
            renyi_divergence(&distribution(&[0.5, 0.5]), &distribution(&[1.0, 0.0]), order).unwrap(),
            f64::INFINITY
        );
    }
}
