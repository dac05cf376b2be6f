//! LNMax: the argmax of votes with Laplace noise, when one vote may move.

use super::gnmax::{cost_of_branches, times_expm1, times_expm1_units};
use super::laplace::lnmax_data_independent;
use crate::bound::outward::{log_probability_up, quotient_up};
use crate::histogram::VoteHistogram;
use crate::quantity::{NoiseScale, Order};
use crate::special::{log_sum_exp, softplus};

/// ln q, an upper bound of the probability that LNMax does not print the plurality class i*:
/// ```text
/// q = min(1 - 1/C, Σ_{i≠i*} (2 + g_i)/4 e^{-g_i}),    g_i = (n_{i*} - n_i)/b,
/// ```
/// by the union bound: a summand is the probability that the difference of two Laplace variables exceeds g_i. Rounded
/// up by 8 units of 2^-52 of 1 + |ln q|: a gap is off by half a unit of itself, which is at most 1.3 (1 + |ln q|).
///
/// `-inf` for a single class.
///
/// ```
/// # use leakbound::accountant::log_flip_probability_laplace;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::quantity::NoiseScale;
/// let log_q = log_flip_probability_laplace(&VoteHistogram::new(vec![200, 40, 10])?, NoiseScale::new(20.0)?);
/// assert!((log_q + 6.855_299_858_475_555).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2017), "Semi-supervised knowledge transfer for deep learning from private training data", Lemma 4.
#[must_use]
pub fn log_flip_probability_laplace(histogram: &VoteHistogram, b: NoiseScale) -> f64 {
    let counts = histogram.counts();
    let (top, &most) = counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
    let log_terms = counts.iter().enumerate().filter(|&(class, _)| class != top).map(|(_, &count)| {
        let gap = (most - count) as f64 / b.get();
        libm::log1p(0.5 * gap) - std::f64::consts::LN_2 - gap
    });
    log_probability_up(log_sum_exp(log_terms).min(libm::log1p(-1.0 / counts.len() as f64)), 8.0)
}

/// Data-dependent RDP of LNMax from ln q, q ≥ P(output ≠ i*): bounds D_α(M(D)‖M(D')) for every D' that differs from D
/// by one moved vote. Never above [`lnmax_data_independent`].
///
/// With ε = 2/b, the pure ε of LNMax, and l = α - 1, for q ≤ 1/(e^ε + 1):
/// ```text
/// D ≤ ln[(1-q) ((1-q)/(1 - e^ε q))^l + q e^{εl}]/l.
/// ```
/// *Proof.* Let r ≤ q be P(output ≠ i*). Each other output has P/P' ≤ e^ε, so they add at most r e^{εl} to E_P
/// (P/P')^l; and P'(output ≠ i*) ≤ e^ε r gives P'(i*) ≥ 1 - e^ε r. So the bound holds with r for q, and it remains that
/// it increases: with t = (1-r)/(1 - e^ε r) ≥ 1 its derivative is l e^ε t^{l+1} - (l+1) t^l + e^{εl}, which increases
/// with t (its own derivative is l (l+1) t^{l-1} (e^ε t - 1)) from l (e^ε - 1) + e^{εl} - 1 ≥ 0 at t = 1. Beyond
/// 1/(e^ε + 1), where t > e^ε, pure privacy is the better bound.
///
/// The bound holds for every ε-differentially private mechanism, so q may also be the exact probability from a
/// distribution, and the histogram may be random.
///
/// Rounded up: ε = 2/b is rounded up, and the bound increases with it; the result is rounded up by a bound on its
/// rounding errors, which is 1e-14 of it unless |ln q| is large or 1 - e^ε q small.
///
/// ```
/// # use leakbound::accountant::lnmax_data_dependent;
/// # use leakbound::quantity::{NoiseScale, Order};
/// let rdp = lnmax_data_dependent(Order::new(10.0)?, NoiseScale::new(20.0)?, -6.855_299_858_475_555);
/// assert!((rdp / 0.000_281_452_021_417_302_7 - 1.0).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2017), Theorem 3.
#[must_use]
pub fn lnmax_data_dependent(order: Order, b: NoiseScale, log_q: f64) -> f64 {
    let independent = lnmax_data_independent(order, b);
    if log_q == f64::NEG_INFINITY {
        return 0.0;
    }
    let (l, epsilon) = (order.get() - 1.0, quotient_up(2.0, b.get()));
    let most = softplus(epsilon);
    if !(log_q <= -most * (1.0 + 4.0 * f64::EPSILON)) {
        return independent;
    }
    let q = libm::exp(log_q);
    // t = 1 + (e^ε - 1) q/(1 - e^ε q); the condition keeps 1 - e^ε q ≥ 1/(e^ε + 1), and the rounding error of the sum
    // ln q + ε is added back, which matters if that is small.
    let sum = log_q + epsilon;
    let lost = epsilon - (sum - log_q);
    let missing = -libm::expm1(sum) - lost * libm::exp(sum);
    let ln_t = libm::log1p(times_expm1(q, log_q, epsilon) / missing);
    let cost = cost_of_branches(l, log_q, l * ln_t, 12.0 + times_expm1_units(log_q, epsilon), l * epsilon);
    if cost.is_nan() { independent } else { cost.clamp(0.0, independent) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, noisy_argmax_distribution};
    use crate::divergence::renyi_divergence;
    use crate::histogram::VoteChange;

    /// Above the exact divergence of every neighbor; the flip probability is also above the exact one.
    #[test]
    fn bounds_the_exact_distribution() {
        for counts in [vec![3, 0], vec![5, 4], vec![9, 2, 1], vec![40, 3, 3, 0], vec![7, 7, 7], vec![120, 5]] {
            let histogram = VoteHistogram::new(counts).unwrap();
            for b in [0.3, 1.0, 4.0, 20.0] {
                let b = NoiseScale::new(b).unwrap();
                let distribution = noisy_argmax_distribution(&histogram, Noise::Laplace(b)).unwrap();
                let log_q = log_flip_probability_laplace(&histogram, b);
                let top = (0..distribution.outcomes()).max_by_key(|&class| histogram.counts()[class]).unwrap();
                assert!(log_q >= distribution.complement()[top].ln() - 1e-12, "{histogram} {b}");
                for a in [1.01, 2.0, 10.0, 100.0] {
                    let order = Order::new(a).unwrap();
                    let bound = lnmax_data_dependent(order, b, log_q);
                    assert!(bound <= lnmax_data_independent(order, b));
                    for change in histogram.neighbors(VoteChange::Moved) {
                        let other =
                            noisy_argmax_distribution(&histogram.neighbor(change).unwrap(), Noise::Laplace(b)).unwrap();
                        let exact = renyi_divergence(&distribution, &other, order).unwrap();
                        assert!(exact <= bound * (1.0 + 1e-11), "{histogram} {b} {a}: {exact} {bound}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_input_leaves_the_range() {
        for a in [1.0 + 1e-12, 2.0, 1e6, 1e300] {
            for b in [1e-300, 1e-3, 1.0, 20.0, 1e150, 1e300] {
                for log_q in [0.0, -1e-300, -0.5, -1.0, -50.0, -700.0, -1e5, -1e300, f64::NEG_INFINITY] {
                    let (order, b) = (Order::new(a).unwrap(), NoiseScale::new(b).unwrap());
                    let value = lnmax_data_dependent(order, b, log_q);
                    assert!((0.0..=lnmax_data_independent(order, b)).contains(&value), "{a} {b} {log_q}: {value}");
                }
            }
        }
        let one = VoteHistogram::new(vec![5]).unwrap();
        assert_eq!(log_flip_probability_laplace(&one, NoiseScale::new(1.0).unwrap()), f64::NEG_INFINITY);
    }

    /// Theorem 3 as published, where nothing overflows or underflows.
    #[test]
    fn the_data_dependent_cost_is_the_formula() {
        for (a, b, log_q) in [(2.0, 20.0, -6.0), (1.5, 5.0, -5.0), (10.0, 1.0, -3.0), (4.0, 0.7, -9.0)] {
            let (l, e, q) = (a - 1.0, f64::exp(2.0 / b), f64::exp(log_q));
            let stay = (1.0 - q) * ((1.0 - q) / (1.0 - e * q)).powf(l);
            let plain = (stay + q * e.powf(l)).ln() / l;
            let cost = lnmax_data_dependent(Order::new(a).unwrap(), NoiseScale::new(b).unwrap(), log_q);
            assert!((cost - plain).abs() < 1e-14 + 1e-11 * plain, "{a} {b} {log_q}: {cost} {plain}");
            assert!(cost < lnmax_data_independent(Order::new(a).unwrap(), NoiseScale::new(b).unwrap()));
        }
    }

    /// The union bound for five equal counts is 2, but one of five classes is printed at least every fifth time.
    #[test]
    fn a_tie_flips_no_more_often_than_all_other_classes_together() {
        let votes = VoteHistogram::new(vec![5; 5]).unwrap();
        let log_q = log_flip_probability_laplace(&votes, NoiseScale::new(1.0).unwrap());
        assert!(log_q >= 0.8f64.ln() && log_q < 0.8f64.ln() + 1e-14, "{log_q}");
    }
}
