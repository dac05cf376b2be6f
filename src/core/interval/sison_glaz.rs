//! Sison and Glaz's simultaneous intervals: all counts within the same distance c of the observed ones.

use super::binomial::ProportionLimit;
use super::simultaneous::{ProportionRange, total};
use super::truncated_poisson::{TruncatedMoments, Window};
use crate::error::Result;
use crate::order;
use crate::quantity::FailureProbability;
use crate::special::{LN_SQRT_2PI, binomial_tails, log_poisson_pmf, ndtr, ndtri_exp};

/// How ν(c) = P(|X_i - x_i| ≤ c for all i), X ~ Mult(n, x/n), is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RectangleProbability {
    /// Exactly: by convolving truncated Poisson distributions, given their sum.
    Exact,
    /// By an Edgeworth expansion with four moments of the sum of truncated Poisson variables, as published.
    Edgeworth,
    /// A lower bound: 1 minus the binomial tails of all classes, for failure probabilities too small to be resolved in
    /// 1 - ν.
    UnionBound,
}

/// Sison and Glaz's intervals and how they were computed.
#[derive(Debug, Clone, PartialEq)]
pub struct SisonGlaz {
    /// One range for each class.
    pub ranges: Vec<ProportionRange>,
    /// The c with ν(c) ≤ 1 - failure < ν(c + 1).
    pub half_width: u64,
    /// γ = (1 - failure - ν(c))/(ν(c + 1) - ν(c)).
    pub gamma: f64,
    /// How ν was finally computed.
    pub probability: RectangleProbability,
}

/// Failure probabilities below this would be lost in the error of 1 - ν.
const SMALLEST_RESOLVED: f64 = 1e-6;
/// Multiplications of one exact ν, about half a millisecond; with more, Edgeworth's expansion is used.
const MAX_WORK: f64 = 1e6;
/// Weights of a partial sum below this share of the largest are dropped.
const NEGLIGIBLE: f64 = 1e-30;

/// Simultaneous intervals max(0, x_i - c)/n to min(n, x_i + c + 2γ)/n for C proportions.
///
/// With Y_i independent Poisson variables of mean x_i cut to x_i ± c, and W their sum,
/// ν(c) = Π P(|Poi(x_i) - x_i| ≤ c) · P(W = n)/P(Poi(n) = n). The probability is taken at the observed frequencies, not
/// at the unknown ones: the intervals are asymptotic however exactly ν is computed, and for a class that was never seen
/// they are too short for any n, because its plug-in frequency is 0.
///
/// `wanted` is [`Exact`](RectangleProbability::Exact) or [`Edgeworth`](RectangleProbability::Edgeworth), whose relative
/// error depends on the number of classes rather than on n. The result names the method used: Edgeworth if the exact
/// convolution would take more than 10^6 multiplications, and the union bound, with slightly wider intervals, if
/// `failure` is below 1e-6. ν(0) counts as 0, so the upper ends are positive for any observation.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) for no classes, [`Error::Domain`](crate::Error::Domain) for a total of 0 or
/// above 2^53; [`Error::NoConvergence`](crate::Error::NoConvergence) from binomial tails.
///
/// # Example
/// ```
/// # use leakbound::interval::{RectangleProbability, sison_glaz};
/// # use leakbound::quantity::FailureProbability;
/// let intervals = sison_glaz(&[30, 20, 10], FailureProbability::new(0.05)?, RectangleProbability::Edgeworth)?;
/// assert_eq!(intervals.half_width, 7);
/// assert!((intervals.gamma - 0.749_181).abs() < 1e-6);
/// assert!((intervals.ranges[0].lower.value - 23.0 / 60.0).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Sison and Glaz (1995), "Simultaneous confidence intervals and sample size determination for multinomial
/// proportions", Eqs. (2.1) to (2.5); the representation by truncated Poisson variables: Levin (1981).
pub fn sison_glaz(counts: &[u64], failure: FailureProbability, wanted: RectangleProbability) -> Result<SisonGlaz> {
    let n = total(counts)?;
    let rectangle = Rectangle { counts: counts.iter().copied().filter(|&count| count > 0).collect(), n };
    let start = rectangle.start(failure);
    let probability = match wanted {
        _ if failure.get() < SMALLEST_RESOLVED => RectangleProbability::UnionBound,
        RectangleProbability::Exact if rectangle.work(start) > MAX_WORK => RectangleProbability::Edgeworth,
        other => other,
    };
    let few_percent = (start / 64).max(1);
    let crossing = |start, stride, how| rectangle.crossing(start, stride, failure.get(), how);
    let (c, [miss, miss_next]) = match probability {
        // An exact ν costs as much as hundreds by expansion, which end close to the crossing.
        RectangleProbability::Exact => {
            crossing(crossing(start, few_percent, RectangleProbability::Edgeworth)?.0, 1, probability)?
        }
        other => crossing(start, few_percent, other)?,
    };
    let gamma = ((miss - failure.get()) / (miss - miss_next)).clamp(0.0, 1.0);
    let (trials, width) = (n as f64, c as f64);
    let reach = width + 2.0 * gamma;
    let range = |&count: &u64| {
        let (x, y) = (count as f64, (n - count) as f64);
        let small = |x: f64, reach: f64| ((x - reach) / trials * (1.0 - MARGIN)).max(0.0);
        let large = |x: f64, reach: f64| ((x + reach) / trials * (1.0 + MARGIN)).min(1.0);
        ProportionRange {
            lower: ProportionLimit { value: small(x, width), complement: large(y, width) },
            upper: ProportionLimit { value: large(x, reach), complement: small(y, reach) },
        }
    };
    Ok(SisonGlaz { ranges: counts.iter().map(range).collect(), half_width: c, gamma, probability })
}

/// Outward rounding: a sum and a quotient.
const MARGIN: f64 = 4.0 * f64::EPSILON;

/// The nonzero counts and their sum.
#[derive(Debug)]
struct Rectangle {
    counts: Vec<u64>,
    n: u64,
}

impl Rectangle {
    /// c by the union bound with normal tails, within 1%.
    fn start(&self, failure: FailureProbability) -> u64 {
        let n = self.n as f64;
        let deviations: Vec<f64> =
            self.counts.iter().map(|&x| (x as f64 * ((self.n - x) as f64 / n)).sqrt()).filter(|&sd| sd > 0.0).collect();
        let z = -ndtri_exp(failure.get().ln() - (2.0 * self.counts.len() as f64).ln());
        let (mut low, mut high) = (0.0, z.max(0.0) * deviations.iter().copied().fold(0.0, f64::max));
        for _ in 0..8 {
            let middle = 0.5 * (low + high);
            let tails: f64 = deviations.iter().map(|sd| 2.0 * ndtr(-middle / sd)).sum();
            if tails > failure.get() { low = middle } else { high = middle }
        }
        (high as u64).clamp(1, self.n)
    }

    /// The c with miss(c) ≥ α > miss(c + 1), and both; miss = 1 - ν, 1 at c = 0 and 0 at c = n.
    /// The result is that of counting up from 1, but found by galloping from `start` by `stride` and then alternating
    /// between interpolation of ln miss and bisection.
    /// alternating between interpolation of ln miss and bisection.
    fn crossing(&self, start: u64, mut stride: u64, alpha: f64, how: RectangleProbability) -> Result<(u64, [f64; 2])> {
        let (mut low, mut high) = ((0u64, 1.0f64), (self.n, 0.0f64));
        let (mut galloping, mut guess, mut turn) = (true, start, 0u32);
        while high.0 - low.0 > 1 {
            guess = guess.clamp(low.0 + 1, high.0 - 1);
            let miss = self.miss(guess, how)?;
            // A NaN would count as a miss and widen the intervals.
            if miss < alpha {
                high = (guess, miss);
            } else {
                low = (guess, miss);
            }
            if galloping {
                galloping = low.0 == 0 || high.0 == self.n;
            }
            guess = if galloping && low.0 == 0 && high.0 < self.n {
                high.0.saturating_sub(stride)
            } else if galloping {
                low.0.saturating_add(stride)
            } else {
                let middle = low.0 + (high.0 - low.0) / 2;
                let ends = (low.1 / alpha).ln() / ((low.1 / alpha).ln() - (high.1 / alpha).ln());
                turn += 1;
                if turn % 3 > 0 && ends.is_finite() { low.0 + ((high.0 - low.0) as f64 * ends) as u64 } else { middle }
            };
            stride = stride.saturating_mul(2);
        }
        Ok((low.0, [low.1, high.1]))
    }

    /// 1 - ν(c) for 1 ≤ c < n.
    fn miss(&self, c: u64, how: RectangleProbability) -> Result<f64> {
        match how {
            RectangleProbability::Exact => Ok(self.exact_miss(c)),
            RectangleProbability::Edgeworth => Ok(self.edgeworth_miss(c)),
            RectangleProbability::UnionBound => self.union_miss(c),
        }
    }

    /// Multiplications of [`Rectangle::exact_miss`]; a weight of a window costs about eight.
    fn work(&self, c: u64) -> f64 {
        let mut lengths: Vec<(f64, f64)> =
            self.counts.iter().map(|&x| (Window::expected_points(x, c), x as f64)).collect();
        order::sort(&mut lengths, |a, b| a.0.total_cmp(&b.0));
        let mut work: f64 = lengths.iter().map(|(length, _)| 8.0 * length).sum();
        lengths.pop();
        let (mut partial, mut mean) = (1.0f64, 0.0);
        for (length, x) in lengths {
            work += partial * length;
            mean += x;
            partial = (partial + length).min(24.0 * mean.sqrt() + 90.0);
        }
        work
    }

    fn exact_miss(&self, c: u64) -> f64 {
        let mut windows: Vec<Window> = self.counts.iter().map(|&x| Window::new(x, c)).collect();
        // Shortest first, so that the longest is combined with a single value of the sum.
        order::sort(&mut windows, |a, b| a.weights.len().cmp(&b.weights.len()));
        let last = windows.pop().unwrap_or(Window { start: 0, weights: vec![1.0] });
        let sum = windows.into_iter().fold(Window { start: 0, weights: vec![1.0] }, convolve);
        let at = |k: u64| {
            let index = k.checked_sub(last.start).and_then(|index| usize::try_from(index).ok());
            index.and_then(|index| last.weights.get(index)).copied().unwrap_or(0.0)
        };
        let pairs = sum.weights.iter().enumerate();
        let probability: f64 = pairs
            .map(|(i, weight)| self.n.checked_sub(sum.start + i as u64).map_or(0.0, |rest| weight * at(rest)))
            .sum();
        1.0 - probability / libm::exp(log_poisson_pmf(self.n, self.n as f64))
    }

    fn edgeworth_miss(&self, c: u64) -> f64 {
        let (mut ln_mass, mut shift, mut variance, mut third, mut fourth) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &x in &self.counts {
            let moments = TruncatedMoments::new(x, c);
            ln_mass += moments.ln_mass;
            shift += moments.shift;
            variance += moments.variance;
            third += moments.third;
            fourth += moments.fourth_cumulant;
        }
        let sd = variance.sqrt();
        // The untruncated means add up to n.
        let z = -shift / sd;
        let (skewness, excess) = (third / (sd * variance), fourth / (variance * variance));
        let square = z * z;
        let series = 1.0
            + skewness / 6.0 * z * (square - 3.0)
            + excess / 24.0 * (square * (square - 6.0) + 3.0)
            + skewness * skewness / 72.0 * (square * (square * (square - 15.0) + 45.0) - 15.0);
        if !(series > 0.0) {
            return 1.0; // far below the windows of interest
        }
        let ln_sum = series.ln() - 0.5 * square - LN_SQRT_2PI - sd.ln();
        -libm::expm1(ln_mass + ln_sum - log_poisson_pmf(self.n, self.n as f64))
    }

    fn union_miss(&self, c: u64) -> Result<f64> {
        let mut miss = 0.0;
        for &x in &self.counts {
            let p = x as f64 / self.n as f64;
            miss += binomial_tails(x.saturating_add(c).saturating_add(1), self.n, p)?.0;
            if x > c {
                miss += binomial_tails(x - c, self.n, p)?.1;
            }
        }
        Ok(miss)
    }
}

/// The distribution of a sum, without negligible weights.
fn convolve(sum: Window, next: Window) -> Window {
    let mut weights = vec![0.0; sum.weights.len() + next.weights.len() - 1];
    let (short, long) = if sum.weights.len() < next.weights.len() {
        (&sum.weights, &next.weights)
    } else {
        (&next.weights, &sum.weights)
    };
    for (i, a) in short.iter().enumerate() {
        weights[i..].iter_mut().zip(long).for_each(|(target, b)| *target += a * b);
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let matters = |weight: &f64| *weight > NEGLIGIBLE * largest;
    let first = weights.iter().position(matters).unwrap_or(0);
    let end = weights.iter().rposition(matters).map_or(weights.len(), |last| last + 1);
    Window { start: sum.start + next.start + first as u64, weights: weights[first..end].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::log_binomial_pmf;

    const FORMS: [RectangleProbability; 3] =
        [RectangleProbability::Exact, RectangleProbability::Edgeworth, RectangleProbability::UnionBound];

    fn of(counts: &[u64], f: f64, how: RectangleProbability) -> SisonGlaz {
        sison_glaz(counts, FailureProbability::new(f).unwrap(), how).unwrap()
    }

    /// ν by enumerating all histograms of three classes, and for two classes by binomial probabilities.
    #[test]
    fn the_exact_probability_is_that_of_an_enumeration() {
        for counts in [[3u64, 5, 2], [20, 1, 9], [40, 40, 40], [0, 17, 13]] {
            let n: u64 = counts.iter().sum();
            let p = counts.map(|x| x as f64 / n as f64);
            for c in [1u64, 2, 5, 11] {
                let inside = |k: u64, i: usize| k.abs_diff(counts[i]) <= c;
                let mut sum = 0.0;
                for a in (0..=n).filter(|&a| inside(a, 0)) {
                    for b in (0..=n - a).filter(|&b| inside(b, 1) && inside(n - a - b, 2)) {
                        let given =
                            if a == n { 0.0 } else { log_binomial_pmf(b, n - a, (p[1] / (p[1] + p[2])).min(1.0)) };
                        sum += (log_binomial_pmf(a, n, p[0]) + given).exp();
                    }
                }
                let rectangle = Rectangle { counts: counts.iter().copied().filter(|&x| x > 0).collect(), n };
                let miss = rectangle.exact_miss(c);
                assert!((miss - (1.0 - sum)).abs() < 1e-13, "{counts:?} {c}: {miss} {sum}");
            }
        }
    }

    /// With many small classes, all terms of second order matter, and leave 5e-6 of a probability of one quarter.
    #[test]
    fn the_expansion_has_all_terms_of_second_order() {
        let rectangle = Rectangle { counts: vec![2; 20], n: 40 };
        let (exact, expanded) = (rectangle.exact_miss(3), rectangle.edgeworth_miss(3));
        assert!((exact - 0.257_75).abs() < 1e-5 && (expanded - exact).abs() < 8e-6, "{exact} {expanded}");
    }

    /// miss(c) and miss(c + 1), weighted by 1 - γ and γ, are the failure probability.
    #[test]
    fn gamma_interpolates_between_two_widths() {
        for counts in [[30u64, 20, 10], [200, 5, 80], [7, 8, 9]] {
            let found = of(&counts, 0.05, RectangleProbability::Exact);
            let rectangle = Rectangle { counts: counts.to_vec(), n: counts.iter().sum() };
            let [miss, next] = [0, 1].map(|more| rectangle.exact_miss(found.half_width + more));
            assert!((miss + found.gamma * (next - miss) - 0.05).abs() < 1e-12, "{counts:?}: {found:?}");
        }
    }

    /// The multiplications of the convolutions, and eight for each weight of a window.
    #[test]
    fn the_work_is_that_of_the_convolutions() {
        for (counts, c) in [(vec![1000u64; 2], 60), (vec![100, 300], 25), (vec![1000; 4], 100), (vec![1000; 12], 100)] {
            let mut windows: Vec<Window> = counts.iter().map(|&x| Window::new(x, c)).collect();
            order::sort(&mut windows, |a, b| a.weights.len().cmp(&b.weights.len()));
            let mut done: usize = windows.iter().map(|window| 8 * window.weights.len()).sum();
            windows.pop();
            let mut sum = Window { start: 0, weights: vec![1.0] };
            for window in windows {
                done += sum.weights.len() * window.weights.len();
                sum = convolve(sum, window);
            }
            let n = counts.iter().sum();
            let expected = Rectangle { counts, n }.work(c);
            assert!((expected / done as f64 - 1.0).abs() < 0.5, "{c}: {expected} {done}");
        }
    }

    /// The search ends where counting up from 1 would end.
    #[test]
    fn the_search_finds_the_first_crossing() {
        for counts in [vec![30u64, 20, 10], vec![1000, 3, 1], vec![5; 40], vec![100_000, 90_000, 4]] {
            for how in FORMS {
                for f in [0.3, 0.05, 1e-3] {
                    let found = of(&counts, f, how);
                    let rectangle = Rectangle { counts: counts.clone(), n: counts.iter().sum() };
                    let first = (1..).find(|&c| rectangle.miss(c, how).unwrap() < f).unwrap();
                    assert_eq!((found.half_width + 1, found.probability), (first, how), "{counts:?} {f}");
                    assert!((0.0..=1.0).contains(&found.gamma));
                }
            }
        }
    }

    /// Edgeworth is close to the exact probability with ten classes, and the union bound is never narrower.
    #[test]
    fn the_three_probabilities_agree_as_they_should() {
        for counts in [vec![400u64; 10], (1..12).map(|i| 40 * i).collect()] {
            let [exact, edgeworth, union] = FORMS.map(|how| {
                let found = of(&counts, 0.05, how);
                found.half_width as f64 + found.gamma
            });
            println!("{exact} {edgeworth} {union}");
            assert!((edgeworth / exact - 1.0).abs() < 0.01 && union >= exact - 1e-9 && union < 1.1 * exact);
        }
    }

    /// Bounded time and plausible ends for a thousand classes, 10^12 samples and extreme failure probabilities.
    #[test]
    fn extreme_counts_end_within_the_unit_interval() {
        let thousand: Vec<u64> = (0..1000).map(|i| 1_000_000_000 + 123_457 * i).collect();
        let rare: Vec<u64> = (0..1000).map(|i| if i == 7 { 1_000_000_000_000 } else { i % 3 }).collect();
        let all =
            [vec![1], vec![1, 0], vec![0, 1_000_000_000_000], vec![1 << 53], vec![1 << 52, 1 << 52], thousand, rare];
        for counts in all {
            for f in [1e-300, 1e-7, 0.05, 0.999] {
                for how in FORMS {
                    for range in of(&counts, f, how).ranges {
                        let ends =
                            [range.lower.value, range.lower.complement, range.upper.value, range.upper.complement];
                        assert!(ends.iter().all(|end| (0.0..=1.0).contains(end)), "{f} {how:?} {ends:?}");
                        assert!(range.lower.value <= range.upper.value && range.upper.value > 0.0);
                    }
                }
            }
        }
        assert_eq!(of(&[1 << 28; 2], 0.05, RectangleProbability::Exact).probability, RectangleProbability::Exact);
        assert_eq!(of(&[5, 6], 1e-9, RectangleProbability::Exact).probability, RectangleProbability::UnionBound);
        assert_eq!(
            of(&vec![10_000; 100], 0.05, RectangleProbability::Exact).probability,
            RectangleProbability::Edgeworth
        );
    }
}
