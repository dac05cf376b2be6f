//! A confidence limit for one linear function of many class probabilities, at the price of one mean.

use super::deviation::{bennett_width, normal_width};
use super::simplex_box::SimplexBox;
use crate::quantity::FailureProbability;
use crate::special::CompensatedSum;

/// Share of the failure probability for limits of the moments of the summands; the rest is for their sum's deviation.
const NUISANCE_SHARE: f64 = 0.1;
/// Moments are rounded outwards by this share, far above the rounding error of a few hundred products.
const MARGIN: f64 = 1e-12;

/// How the failure probability of a limit is divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelSplit {
    /// The failure probability of each one-sided limit of a class probability.
    pub tail: FailureProbability,
    /// The failure probability of the deviation itself.
    pub main: FailureProbability,
}

impl LevelSplit {
    /// A tenth of `failure` for all `tails` limits of class probabilities together, nine tenths for the deviation.
    pub fn new(failure: FailureProbability, tails: usize) -> Self {
        let part = |share: f64| {
            // Slightly less than the share, so that rounded shares do not add up to more than the whole.
            FailureProbability::new(failure.get() * share * (1.0 - 4.0 * f64::EPSILON)).unwrap_or(failure.split(2))
        };
        Self { tail: part(NUISANCE_SHARE).split(tails), main: part(1.0 - NUISANCE_SHARE) }
    }
}

/// Limits of the moments of independent summands X_i, which determine how far their sum may deviate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// A lower bound on Σ Var X_i.
    pub(crate) variance_low: f64,
    /// An upper bound on Σ Var X_i.
    pub variance_high: f64,
    /// An upper bound on Σ E|X_i - E X_i|³.
    pub(crate) third: f64,
    /// An upper bound on every |X_i - E X_i|.
    pub(crate) deviation: f64,
    /// An upper bound on every X_i - E X_i: how far one summand may exceed its mean.
    pub(crate) reach: f64,
}

impl Moments {
    /// The moments of v(X) for a distribution of X known only to lie in the box.
    ///
    /// *Proofs.* Variance above: Var v ≤ E(v - c)² for every c, here at the mean of the frequencies, maximized over the
    /// box; and E(max v - v)(v - min v) ≥ 0 gives Var v ≤ (max v - m)(m - min v) for m = E v, largest at the m nearest
    /// to the middle. Variance below: Var v = ½ Σ_ij P_i P_j (v_i - v_j)² ≥ ½ Σ_ij l_i l_j (v_i - v_j)² = L Σ l_i
    /// (v_i - v̄_l)² with the lower limits l of sum L and mean v̄_l; and, with m in the interval of E v of center c and
    /// half-width d, Var v = E(v - m)² ≥ E max(0, |v - c| - d)², minimized over the box. Third moment: E|v - m|³ is
    /// convex in m for every distribution, so the larger of its maxima over the box at the two ends of the interval of
    /// m suffices. ∎
    pub(crate) fn within(limits: &SimplexBox, values: &[f64], center: f64) -> Self {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mean_low, mean_high) = (limits.minimum(values), limits.maximum(values));
        let mapped = |map: &dyn Fn(f64) -> f64| values.iter().map(|&value| map(value)).collect::<Vec<f64>>();
        let squares = limits.maximum(&mapped(&|value| (value - center).powi(2)));
        let nearest = (0.5 * least + 0.5 * most).clamp(mean_low, mean_high.max(mean_low));
        let variance_high = squares.min((most - nearest) * (nearest - least)).max(0.0);
        let third_at = |mean: f64| limits.maximum(&mapped(&|value| (value - mean).abs().powi(3)));
        let (middle, half) = (0.5 * mean_low + 0.5 * mean_high, (0.5 * mean_high - 0.5 * mean_low) * (1.0 + MARGIN));
        let apart = limits.minimum(&mapped(&|value| ((value - middle).abs() - half).max(0.0).powi(2)));
        Self {
            variance_low: (pairwise_variance(limits.low(), values).max(apart) * (1.0 - MARGIN)).max(0.0),
            variance_high: variance_high * (1.0 + MARGIN),
            third: third_at(mean_low).max(third_at(mean_high)) * (1.0 + MARGIN),
            deviation: (most - mean_low).max(mean_high - least) * (1.0 + MARGIN),
            reach: (most - mean_low).max(0.0) * (1.0 + MARGIN),
        }
    }

    /// The mean and the moments of v(X) for X with a known distribution, to predict a functional before it is used.
    pub fn under(distribution: &[f64], values: &[f64]) -> (f64, Self) {
        let terms = || distribution.iter().zip(values).filter(|(p, _)| **p > 0.0);
        let mean: f64 = terms().map(|(p, value)| p * value).sum();
        let mut moments = Self::default();
        for (p, value) in terms() {
            let above = value - mean;
            let square = above * above;
            moments.variance_high += p * square;
            moments.third += p * square * above.abs();
            moments.deviation = moments.deviation.max(above.abs());
            moments.reach = moments.reach.max(above);
        }
        moments.variance_low = moments.variance_high;
        (mean, moments)
    }

    /// The moments of the mean of n independent copies of one summand.
    pub fn of_mean(self, n: u64) -> Self {
        let n = n as f64;
        Self {
            variance_low: self.variance_low / n,
            variance_high: self.variance_high / n,
            third: self.third / n / n,
            deviation: self.deviation / n,
            reach: self.reach / n,
        }
    }

    /// The moments of both collections of independent summands together.
    pub fn and(self, other: Self) -> Self {
        Self {
            variance_low: self.variance_low + other.variance_low,
            variance_high: self.variance_high + other.variance_high,
            third: self.third + other.third,
            deviation: self.deviation.max(other.deviation),
            reach: self.reach.max(other.reach),
        }
    }

    /// A t by which the sum exceeds its mean with probability at most g: the smaller of the normal width with the error
    /// of Berry and Esseen and the width of Bennett.
    ///
    /// Each is a function of the true moments alone, so the smaller one is a width at level g; and for moments within
    /// the limits neither exceeds its value at the limits, since the Lyapunov ratio Σ E|X|³/V^{3/2} is at most both
    /// third/V_low^{3/2} and deviation/V_low^{1/2}.
    pub fn width(&self, failure: FailureProbability) -> f64 {
        let bennett = bennett_width(failure, self.variance_high, self.reach);
        if !(self.variance_low > 0.0) {
            return bennett;
        }
        let sd = self.variance_low.sqrt();
        let lyapunov = (self.third / self.variance_low).min(self.deviation) / sd;
        normal_width(failure, self.variance_high, lyapunov).map_or(bennett, |normal| normal.min(bennett))
    }
}

/// L Σ l_i (v_i - v̄)² for weights l of sum L with their own mean v̄, rounded down.
///
/// A mean that is off by e adds L² e² to the computed value, so that much is subtracted.
fn pairwise_variance(weights: &[f64], values: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0) {
        return 0.0;
    }
    // Values relative to one of them, so a common constant costs no digits.
    let origin = values[0];
    let shifted = || weights.iter().zip(values).map(|(weight, value)| (weight, value - origin));
    let mean = shifted().map(|(weight, value)| weight * value).collect::<CompensatedSum>().value() / total;
    let spread = shifted().map(|(_, value)| value.abs()).fold(0.0, f64::max);
    let squares: f64 = shifted().map(|(weight, value)| weight * (value - mean).powi(2)).sum();
    let mean_error = (weights.len() + 8) as f64 * f64::EPSILON * spread;
    total * (squares - total * mean_error * mean_error)
}

/// A sum of means Σ_t E v_t(X_t) over independent samples, estimated from counts.
///
/// Worlds and queries add up: E_P g - E_Q h is the mean of g under the counts of P and of -h under those of Q. With
/// the boxes of all samples at [`LevelSplit::tail`] and the deviation at [`LevelSplit::main`],
/// [`LinearFunctional::lower_limit`] is at most the true value, except with the failure probability that was divided.
///
/// *Proof.* For fixed distributions θ the width w(θ) is a number, and the estimate exceeds its mean by w(θ) with
/// probability at most `main`. If the boxes hold, w(θ) is at most the width from the limits. The claim follows by the
/// union bound. The boxes use the same counts as the estimate: no independence between the two events is needed. ∎
#[derive(Debug, Clone, Copy, Default)]
pub struct LinearFunctional {
    estimate: CompensatedSum,
    magnitude: f64,
    moments: Moments,
}

impl LinearFunctional {
    /// Adds the mean of `values` under the distribution of the samples counted in `counts`; `limits` is its box.
    pub fn add(&mut self, counts: &[u64], values: &[f64], limits: &SimplexBox) {
        let trials: u64 = counts.iter().sum();
        let n = trials as f64;
        let mean = counts.iter().zip(values).map(|(&count, value)| count as f64 / n * value);
        let mean = mean.collect::<CompensatedSum>().value();
        self.magnitude += counts.iter().zip(values).map(|(&count, value)| count as f64 / n * value.abs()).sum::<f64>();
        self.estimate.add(mean);
        self.moments = self.moments.and(Moments::within(limits, values, mean).of_mean(trials));
    }

    /// A lower bound on the sum of the sample means: three roundings per term and one per sum, at most 8ε of the sum of
    /// the absolute values.
    pub(crate) fn estimate(&self) -> f64 {
        self.estimate.value() - 8.0 * f64::EPSILON * self.magnitude
    }

    /// The lower confidence limit, `-inf` if there is no bound.
    pub fn lower_limit(&self, main: FailureProbability) -> f64 {
        self.below_estimate(self.moments.width(main))
    }

    /// The limit for a deviation known to have the required level.
    pub fn below_estimate(&self, width: f64) -> f64 {
        let limit = self.estimate() - width;
        if limit.is_nan() { f64::NEG_INFINITY } else { limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::log_binomial_pmf;
    use proptest::prelude::*;

    /// An outcome that never occurs does not affect the range of the functional.
    #[test]
    fn impossible_outcomes_have_no_moments() {
        let (mean, moments) = Moments::under(&[0.5, 0.5, 0.0], &[0.0, 1.0, 100.0]);
        assert_eq!((mean, moments.deviation, moments.reach), (0.5, 0.5, 0.5));
        assert_eq!((moments.variance_high, moments.third), (0.25, 0.125));
    }

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    /// The Lyapunov ratio is at most third/V^{3/2} and deviation/V^{1/2}, whichever is smaller.
    #[test]
    fn the_width_takes_the_smaller_of_two_ratios() {
        let moments = Moments { variance_low: 100.0, variance_high: 100.0, third: 0.0, deviation: 0.9, reach: 0.9 };
        for (third, lyapunov) in [(30.0, 0.03), (300.0, 0.09)] {
            let width = Moments { third, ..moments }.width(failure(0.2));
            let normal = normal_width(failure(0.2), 100.0, lyapunov).unwrap();
            assert!((width / normal - 1.0).abs() < 1e-12, "{third}: {width} {normal}");
        }
    }

    /// A box that is close to one distribution has its moments.
    #[test]
    fn limits_of_many_samples_close_in_on_the_moments() {
        let (counts, values) = ([3_000_000_000u64, 5_000_000_000, 2_000_000_000], [0.3, -0.1, 0.7]);
        let limits = SimplexBox::clopper_pearson(&counts, failure(1e-3)).unwrap();
        let (mean, exact) = Moments::under(&[0.3, 0.5, 0.2], &values);
        let found = Moments::within(&limits, &values, mean);
        let close = |found: f64, exact: f64| (found / exact - 1.0).abs() < 1e-3;
        assert!(close(found.variance_low, exact.variance_low) && close(found.variance_high, exact.variance_high));
        assert!(close(found.third, exact.third) && close(found.reach, exact.reach), "{found:?} {exact:?}");
        assert!(close(found.deviation, exact.deviation), "{found:?} {exact:?}");
    }

    /// All distributions of two values at distance 1, and a box with the same lower limit l twice: their limits are
    /// 1/4, 1, 1, 1 and l², which the moments exceed by the share for rounding.
    #[test]
    fn moments_are_rounded_outwards() {
        let outside = |found: f64, exact: f64| found / exact - 1.0 > 0.5 * MARGIN && found / exact - 1.0 < 2.0 * MARGIN;
        let all = SimplexBox::clopper_pearson(&[1, 0], failure(1e-300)).unwrap();
        let moments = Moments::within(&all, &[1.0, 0.0], 0.3);
        assert!(outside(moments.variance_high, 0.25) && outside(moments.third, 1.0), "{moments:?}");
        assert!(outside(moments.deviation, 1.0) && outside(moments.reach, 1.0), "{moments:?}");
        let even = SimplexBox::clopper_pearson(&[500, 500], failure(1e-3)).unwrap();
        let moments = Moments::within(&even, &[1.0, 0.0], 0.5);
        assert!(outside(even.low()[0] * even.low()[1], moments.variance_low), "{moments:?}");
    }

    fn limit(counts: [&[u64]; 2], values: [&[f64]; 2], f: f64) -> f64 {
        let split = LevelSplit::new(failure(f), counts.iter().map(|world| SimplexBox::tails(world.len())).sum());
        let mut functional = LinearFunctional::default();
        for (counts, values) in counts.into_iter().zip(values) {
            functional.add(counts, values, &SimplexBox::clopper_pearson(counts, split.tail).unwrap());
        }
        functional.lower_limit(split.main)
    }

    proptest! {
        /// For distributions inside the box, the moments are inside the limits.
        #[test]
        fn moments_of_distributions_in_the_box_are_within_their_limits(
            counts in prop::collection::vec(0u64..5000, 3..8),
            values in prop::collection::vec(-2.0f64..3.0, 8),
            moves in prop::collection::vec((0usize..8, 0usize..8, 0.0f64..1.0), 12),
        ) {
            let classes = counts.len();
            let n: u64 = counts.iter().sum();
            prop_assume!(n > 0);
            let values = &values[..classes];
            let limits = SimplexBox::clopper_pearson(&counts, failure(1e-3)).unwrap();
            let mut distribution: Vec<f64> = counts.iter().map(|&count| count as f64 / n as f64).collect();
            let center = distribution.iter().zip(values).map(|(p, v)| p * v).sum();
            let moments = Moments::within(&limits, values, center);
            for (from, to, share) in moves {
                let (from, to) = (from % classes, to % classes);
                let most = (distribution[from] - limits.low()[from]).min(limits.high()[to] - distribution[to]).max(0.0);
                distribution[from] -= share * most;
                distribution[to] += share * most;
                let mean: f64 = distribution.iter().zip(values).map(|(p, v)| p * v).sum();
                let moment = |power: i32| -> f64 {
                    distribution.iter().zip(values).map(|(p, v)| p * (v - mean).abs().powi(power)).sum()
                };
                prop_assert!(moments.variance_low <= moment(2) + 1e-14 && moment(2) <= moments.variance_high + 1e-14);
                prop_assert!(moment(3) <= moments.third + 1e-14);
                prop_assert!(values.iter().all(|v| v - mean <= moments.reach + 1e-14));
                prop_assert!(values.iter().all(|v| (v - mean).abs() <= moments.deviation + 1e-14));
            }
        }

        /// Any counts, values and levels: a number or -inf, never above the estimate.
        #[test]
        fn limits_are_never_nan_and_never_above_the_estimate(
            counts in prop::collection::vec(0u64..1_000_000_000_000, 1..6),
            values in prop::collection::vec(prop_oneof![Just(0.0), -1e3f64..1e3, Just(1e200), Just(-1e-200)], 6),
            f in prop_oneof![Just(1e-300), Just(0.999), 1e-9f64..0.5],
        ) {
            prop_assume!(counts.iter().sum::<u64>() > 0);
            let values = &values[..counts.len()];
            let negative: Vec<f64> = values.iter().map(|value| -value).collect();
            let bound = limit([&counts, &counts], [values, &negative], f);
            prop_assert!(bound <= 0.0, "{bound}");
        }
    }

    /// Every pair of binomial counts with its probability: the failure rate is exact.
    #[test]
    fn the_exact_failure_rate_of_a_difference_of_proportions_stays_below_the_level() {
        let mut worst: f64 = 0.0;
        for (n, m) in [(1u64, 1u64), (5, 9), (30, 30), (60, 25)] {
            for (p, q) in [(0.5, 0.5), (0.1, 0.1), (0.02, 0.4), (0.9, 0.7), (0.999, 0.01), (0.03, 0.01)] {
                for f in [0.05, 0.4, 1e-3] {
                    let mut rate = 0.0;
                    for k in 0..=n {
                        for l in 0..=m {
                            let bound = limit([&[k, n - k], &[l, m - l]], [&[1.0, 0.0], &[-1.0, 0.0]], f);
                            if bound > p - q {
                                rate += (log_binomial_pmf(k, n, p) + log_binomial_pmf(l, m, q)).exp();
                            }
                        }
                    }
                    assert!(rate <= f, "{n} {m} {p} {q} {f}: {rate}");
                    worst = worst.max(rate / f);
                }
            }
        }
        println!("largest failure rate: {worst} of its level");
    }

    /// For large samples, the price is the normal quantile at 9/10 of the failure probability, 1.695 standard
    /// deviations.
    #[test]
    fn many_samples_pay_one_normal_quantile() {
        let n = 10_000_000_000;
        let bound = limit([&[n / 2, n / 2], &[n / 2, n / 2]], [&[1.0, 0.0], &[-1.0, 0.0]], 0.05);
        let sd = (0.5 / n as f64).sqrt();
        assert!((bound / sd + 1.695).abs() < 0.002, "{}", bound / sd);
    }

    /// Queries add up: a hundred of them pay for one quantile, not a hundred.
    #[test]
    fn sums_over_queries_pay_once() {
        let counts: &[u64] = &[300_000, 500_000, 200_000];
        let values = [0.3, -0.1, 0.7];
        let split = LevelSplit::new(failure(0.05), 100 * SimplexBox::tails(3));
        let limits = SimplexBox::clopper_pearson(counts, split.tail).unwrap();
        let mut sum = LinearFunctional::default();
        for _ in 0..100 {
            sum.add(counts, &values, &limits);
        }
        let one: f64 = counts.iter().zip(values).map(|(&n, v)| n as f64 * 1e-6 * v).sum();
        let variance: f64 = counts.iter().zip(values).map(|(&n, v)| n as f64 * 1e-6 * (v - one).powi(2)).sum();
        let sds = (100.0 * one - sum.lower_limit(split.main)) / (100.0 * variance / 1e6).sqrt();
        assert!(sds > 1.69 && sds < 1.73, "{sds}");
    }
}
