//! Noisy answers against one noisy threshold: which of them are reported above it.
//!
//! Every probability is the integral of a log-concave function of the noisy threshold. Counts and threshold may be any
//! number of noise scales apart, so positions are stored as distances from the nearest of them, whose differences are
//! exact; and Gauss-Legendre panels are halved from there until the two halves agree with the whole.

use super::laplace_argmax::GAUSS_LEGENDRE;
use super::{Noise, OutcomeDistribution};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::order;
use crate::quadrature::LogIntegral;
use crate::special::{CompensatedSum, LN_SQRT_2PI, log_ndtr};
use std::f64::consts::LN_2;

/// The largest number of answers.
const MOST_ANSWERS: usize = 64;
/// The largest number of outcomes: each is an integral.
const MOST_OUTCOMES: usize = 1_000;
/// The largest distance of an answer from the threshold, in noise scales.
const MOST_SCALES: f64 = 1e15;
/// An integrand below e^-45 of its peak is negligible: a log-concave function has at most that share beyond.
const DROP: f64 = 45.0;
/// From here on ln(1 - e^{-z}/2) is -1e-20, and ln Φ(z) from z = 9.5.
const FAR: [f64; 2] = [45.0, 9.5];
/// From here on, the spacing of doubles exceeds the contribution of the width of a peak to its height.
const PEAK_IS_ALL: f64 = 1e17;
/// The allowed difference between a panel and its halves, as a share of the integral.
const TOLERANCE: f64 = 1e-13;
/// The largest number of times a panel is halved.
const DEEPEST: u32 = 24;

/// The report on queries that are answered in order: which answers were above the threshold, and how many were
/// examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedAbove {
    /// The positions of the answers that were above, counted from 0.
    pub above: Vec<usize>,
    /// The number of answers examined: up to the last one above if it was the last one allowed, otherwise all.
    pub examined: usize,
}

/// All possible reports on `answers` queries if the `cutoff`-th answer above is the last one examined.
///
/// In their order, "above" comes before "below": with a cutoff of 1, outcome i means that answer i is the first one
/// above. The last outcome always means that none is above.
///
/// ```
/// # use leakbound::distribution::sparse_vector_outcomes;
/// let above: Vec<Vec<usize>> = sparse_vector_outcomes(3, 2)?.into_iter().map(|outcome| outcome.above).collect();
/// assert_eq!(above, [vec![0, 1], vec![0, 2], vec![0], vec![1, 2], vec![1], vec![2], vec![]]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// [`Error::Rejected`] for a cutoff of 0, for more than 64 answers, and for more than 1,000 outcomes.
pub fn sparse_vector_outcomes(answers: usize, cutoff: usize) -> Result<Vec<ReportedAbove>> {
    let reject = |reason: String| Err(Error::rejected("sparse vector", reason));
    if cutoff == 0 {
        return reject("a cutoff of 0 looks at no answer".into());
    }
    if answers > MOST_ANSWERS {
        return reject(format!("{answers} answers; at most {MOST_ANSWERS} have an exact distribution"));
    }
    // Subsets of at most `cutoff` answers.
    let (mut number, mut of_size) = (0u64, 1u64);
    for size in 0..=cutoff.min(answers) as u64 {
        number = number.saturating_add(of_size);
        of_size = of_size.saturating_mul(answers as u64 - size) / (size + 1);
    }
    if number > MOST_OUTCOMES as u64 {
        return reject(format!(
            "{answers} answers with up to {cutoff} above the threshold have {number} outcomes; at most {MOST_OUTCOMES} \
             have an exact distribution"
        ));
    }
    let mut all = Vec::with_capacity(number as usize);
    enumerate(&mut Vec::new(), 0, answers, cutoff, &mut all);
    Ok(all)
}

fn enumerate(above: &mut Vec<usize>, examined: usize, answers: usize, left: usize, all: &mut Vec<ReportedAbove>) {
    if examined == answers || left == 0 {
        all.push(ReportedAbove { above: above.clone(), examined });
        return;
    }
    above.push(examined);
    enumerate(above, examined + 1, answers, left - 1, all);
    above.pop();
    enumerate(above, examined + 1, answers, left, all);
}

/// A noisy threshold, and the noise of every answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisyThreshold {
    /// T.
    pub threshold: f64,
    /// The noise of the threshold, drawn once.
    pub noise: Noise,
    /// The noise of every answer, drawn afresh.
    pub answer_noise: Noise,
}

/// The distribution of the sparse vector technique: answers a_0, a_1, ... are compared with one noisy threshold, each
/// with its own noise, until `cutoff` of them are above.
///
/// With density f of the noisy threshold t and distribution function F of the noise of an answer, the outcome in which
/// the examined answers in A are above and those in B are below has probability
/// ```text
/// P(A, B) = ∫ f(t - T) Π_{i∈B} F(t - a_i) Π_{i∈A} (1 - F(t - a_i)) dt.
/// ```
/// Outcomes are those of [`sparse_vector_outcomes`], in that order. Probabilities have a relative error of 1e-12 for ln
/// P > -200; below, ln P has an error of 1e-14 (1 + |ln P|).
///
/// # Errors
/// Those of [`sparse_vector_outcomes`]; [`Error::Domain`] for a threshold that is not a number, and for an answer more
/// than 10^15 noise scales from it.
///
/// # Example
/// With one answer at the threshold, both outcomes are equally likely.
/// ```
/// # use leakbound::distribution::{NoisyThreshold, sparse_vector_distribution};
/// # use leakbound::histogram::VoteHistogram;
/// let threshold = NoisyThreshold { threshold: 3.0, noise: "laplace:2".parse()?, answer_noise: "laplace:4".parse()? };
/// let distribution = sparse_vector_distribution(&VoteHistogram::new(vec![3, 1, 4, 1, 5])?, threshold, 1)?;
/// assert!((distribution.p()[0] - 0.5).abs() < 1e-14);
/// assert!((distribution.p()[1] / 0.134_348_064_514_386_2 - 1.0).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Dwork and Roth (2014), "The algorithmic foundations of differential privacy", Algorithm 1 (above-threshold, a cutoff
/// of 1); Lyu, Su and Li (2017), "Understanding the sparse vector technique for differential privacy", Algorithm 1.
pub fn sparse_vector_distribution(
    answers: &VoteHistogram,
    threshold: NoisyThreshold,
    cutoff: usize,
) -> Result<OutcomeDistribution> {
    let outcomes = sparse_vector_outcomes(answers.classes(), cutoff)?;
    let places = Places::new(answers.counts(), threshold)?;
    let integrals: Vec<LogIntegral> = outcomes.iter().map(|outcome| places.integral(outcome)).collect();
    OutcomeDistribution::from_integrals(&integrals)
}

/// The threshold and the different answers, in ascending order.
struct Places {
    threshold: NoisyThreshold,
    /// distance[i][j] of place j below place i.
    distance: Vec<Vec<f64>>,
    /// The index of the threshold among the places.
    middle: usize,
    /// The place of each answer.
    of_answer: Vec<usize>,
    /// The smaller scale.
    step: f64,
}

/// A place and a distance above it.
#[derive(Debug, Clone, Copy)]
struct At {
    place: usize,
    offset: f64,
}

/// How many answers of each place are below the noisy threshold and above it.
struct Sides(Vec<[f64; 2]>);

impl Places {
    fn new(answers: &[u64], threshold: NoisyThreshold) -> Result<Self> {
        let t = threshold.threshold;
        Error::check_domain(t.is_finite(), "threshold", t, "(-inf, inf)")?;
        let step = threshold.noise.scale().min(threshold.answer_noise.scale());
        let mut different: Vec<u64> = answers.to_vec();
        different.sort_unstable();
        different.dedup();
        let far = different.iter().fold(0.0, |far: f64, &answer| far.max((answer as f64 - t).abs() / step));
        let quantity = "distance of an answer from the threshold over the noise scale";
        Error::check_domain(far <= MOST_SCALES, quantity, far, "[0, 1e15]")?;
        // An answer at the threshold has its own place, at distance 0.
        let middle = different.partition_point(|&answer| (answer as f64) < t);
        let place = |index: usize| different[index - usize::from(index > middle)];
        let between = |i: usize, j: usize| match (i == middle, j == middle) {
            (true, true) => 0.0,
            (true, false) => t - place(j) as f64,
            (false, true) => place(i) as f64 - t,
            (false, false) => (i128::from(place(i)) - i128::from(place(j))) as f64,
        };
        let places = different.len() + 1;
        let distance = (0..places).map(|i| (0..places).map(|j| between(i, j)).collect()).collect();
        let of_answer = answers.iter().map(|answer| {
            let index = different.partition_point(|other| other < answer);
            index + usize::from(index >= middle)
        });
        Ok(Self { threshold, distance, middle, of_answer: of_answer.collect(), step })
    }

    fn sides(&self, outcome: &ReportedAbove) -> Sides {
        let mut sides = Sides(vec![[0.0; 2]; self.distance.len()]);
        for (answer, &place) in self.of_answer.iter().enumerate().take(outcome.examined) {
            sides.0[place][usize::from(outcome.above.contains(&answer))] += 1.0;
        }
        sides
    }

    /// ln of the integrand.
    fn log_integrand(&self, sides: &Sides, at: At) -> f64 {
        let distance = &self.distance[at.place];
        let (noise, answer) = (self.threshold.noise, self.threshold.answer_noise);
        let mut sum = log_density(noise, (distance[self.middle] + at.offset) / noise.scale()) - noise.scale().ln();
        for (&[below, above], distance) in sides.0.iter().zip(distance) {
            let z = (distance + at.offset) / answer.scale();
            if below > 0.0 {
                sum += below * log_cdf(answer, z);
            }
            if above > 0.0 {
                sum += above * log_cdf(answer, -z);
            }
        }
        sum
    }

    fn integral(&self, outcome: &ReportedAbove) -> LogIntegral {
        let sides = self.sides(outcome);
        let peak = self.peak(&sides);
        let top = self.log_integrand(&sides, peak);
        let rounding = |ln_value: f64| 4.0 * f64::EPSILON * (1.0 + outcome.examined as f64 + ln_value.abs());
        if top.abs() > PEAK_IS_ALL {
            return LogIntegral { ln_value: top, error: rounding(top) };
        }
        let ends = self.ends(&sides, peak, top);
        let mut panels = Panels { places: self, sides: &sides, top, sum: CompensatedSum::default(), distance: 0.0 };
        let mut pieces = Vec::new();
        for pair in ends.windows(2) {
            let (low, high) = (pair[0], pair[1]);
            let width = self.distance[high.place][low.place] + (high.offset - low.offset);
            if width > 0.0 {
                // From the nearer end, where distances are exact.
                pieces.push((low, 0.5 * width));
                pieces.push((At { offset: high.offset - 0.5 * width, ..high }, 0.5 * width));
            }
        }
        let wholes: Vec<f64> = pieces.iter().map(|&(low, width)| panels.rule(low, width)).collect();
        let rough: f64 = wholes.iter().sum();
        for ((low, width), whole) in pieces.into_iter().zip(wholes) {
            panels.refine(low, width, whole, rough, 0);
        }
        let sum = panels.sum.value();
        let ln_value = top + sum.ln();
        LogIntegral { ln_value, error: panels.distance / sum + rounding(ln_value) }
    }

    /// Where the integrand is largest, or nearly so.
    fn peak(&self, sides: &Sides) -> At {
        let of_place = |place: usize| self.log_integrand(sides, At { place, offset: 0.0 });
        let last = self.distance.len() - 1;
        let best = (1..=last).fold(0, |best, place| if of_place(place) > of_place(best) { place } else { best });
        let value = |offset: f64| self.log_integrand(sides, At { place: best, offset });
        let reach = |sign: f64| {
            let mut reach = self.step;
            // Concave, and eventually below its value at 0.
            while value(sign * reach) > value(sign * 0.5 * reach) {
                reach *= 2.0;
            }
            sign * reach
        };
        let low = if best == 0 { reach(-1.0) } else { self.distance[best - 1][best] };
        let high = if best == last { reach(1.0) } else { self.distance[best + 1][best] };
        let offset = maximum(value, [low, high], 0.02 * self.step / (1.0 + self.of_answer.len() as f64));
        At { place: best, offset: if value(offset) >= value(0.0) { offset } else { 0.0 } }
    }

    /// The ends of the panels, in order, within the window in which the integrand is not negligible.
    fn ends(&self, sides: &Sides, peak: At, top: f64) -> Vec<At> {
        let along = |distance: f64| At { offset: peak.offset + distance, ..peak };
        let reach = |sign: f64| {
            let drop = |reach: f64| top - self.log_integrand(sides, along(sign * reach));
            let (mut inside, mut reach) = (0.0, self.step);
            while drop(reach) < DROP {
                (inside, reach) = (reach, 1.5 * reach);
            }
            // Not far beyond: if an end panel falls by at most 2 DROP, its outermost points show it.
            for _ in 0..100 {
                if drop(reach) < 2.0 * DROP {
                    break;
                }
                let middle = 0.5 * (inside + reach);
                if drop(middle) < DROP {
                    inside = middle;
                } else {
                    reach = middle;
                }
            }
            sign * reach
        };
        let [low, high] = [reach(-1.0), reach(1.0)];
        let scale = self.threshold.answer_noise.scale();
        let far = scale * FAR[usize::from(matches!(self.threshold.answer_noise, Noise::Gaussian(_)))];
        let mut ends = vec![(low, along(low)), (0.0, peak), (high, along(high))];
        for (place, distance) in self.distance.iter().enumerate() {
            let of_place = if place == self.middle { &[0.0][..] } else { &[-far, -0.2 * far, 0.0, 0.2 * far, far] };
            for &offset in of_place {
                // From the peak, near which it is known best.
                let from_peak = distance[peak.place] + (offset - peak.offset);
                if from_peak > low && from_peak < high {
                    ends.push((from_peak, At { place, offset }));
                }
            }
        }
        order::sort(&mut ends, |a, b| a.0.total_cmp(&b.0));
        ends.into_iter().map(|(_, at)| at).collect()
    }
}

/// Where a concave function is largest within an interval, to within `resolution`: golden section search.
fn maximum(value: impl Fn(f64) -> f64, [mut low, mut high]: [f64; 2], resolution: f64) -> f64 {
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - SHARE * (high - low), low + SHARE * (high - low));
    let (mut at_a, mut at_b) = (value(a), value(b));
    // Each step leaves 0.618 of the interval: 200 steps shrink any interval to nothing.
    for _ in 0..200 {
        if high - low <= resolution.max(4.0 * f64::EPSILON * low.abs().max(high.abs())) {
            break;
        }
        if at_a < at_b {
            (low, a, at_a) = (a, b, at_b);
            b = low + SHARE * (high - low);
            at_b = value(b);
        } else {
            (high, b, at_b) = (b, a, at_a);
            a = high - SHARE * (high - low);
            at_a = value(a);
        }
    }
    0.5 * (low + high)
}

/// The sum over panels of the integrand over its peak.
struct Panels<'a> {
    places: &'a Places,
    sides: &'a Sides,
    top: f64,
    sum: CompensatedSum,
    /// The differences between panels and their halves.
    distance: f64,
}

impl Panels<'_> {
    /// The rule with 16 points.
    fn rule(&self, low: At, width: f64) -> f64 {
        let half = 0.5 * width;
        let value = |node: f64| {
            let at = At { offset: low.offset + half * (1.0 + node), ..low };
            libm::exp(self.places.log_integrand(self.sides, at) - self.top)
        };
        GAUSS_LEGENDRE.iter().map(|&(node, weight)| weight * half * (value(-node) + value(node))).sum()
    }

    /// Adds the halves of a panel if they agree with the whole, and otherwise refines them.
    fn refine(&mut self, low: At, width: f64, whole: f64, all: f64, depth: u32) {
        let half = 0.5 * width;
        let middle = At { offset: low.offset + half, ..low };
        let halves = [self.rule(low, half), self.rule(middle, half)];
        let distance = (halves[0] + halves[1] - whole).abs();
        // Far down, the rounding error of the integrand exceeds the tolerance.
        let tolerance = TOLERANCE + 32.0 * f64::EPSILON * self.top.abs();
        if distance <= tolerance * all || depth == DEEPEST {
            halves.into_iter().for_each(|half| self.sum.add(half));
            self.distance += distance;
            return;
        }
        self.refine(low, half, halves[0], all, depth + 1);
        self.refine(middle, half, halves[1], all, depth + 1);
    }
}

/// ln f of noise of scale 1.
fn log_density(noise: Noise, z: f64) -> f64 {
    match noise {
        Noise::Gaussian(_) => -0.5 * z * z - LN_SQRT_2PI,
        Noise::Laplace(_) => -z.abs() - LN_2,
    }
}

/// ln F of noise of scale 1.
fn log_cdf(noise: Noise, z: f64) -> f64 {
    match noise {
        Noise::Gaussian(_) => log_ndtr(z),
        Noise::Laplace(_) if z < 0.0 => z - LN_2,
        Noise::Laplace(_) => libm::log1p(-0.5 * libm::exp(-z)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(name: &str, scale: f64) -> Noise {
        format!("{name}:{scale}").parse().unwrap()
    }

    fn of(name: &str, answers: &[u64], [t, tau, sigma]: [f64; 3], cutoff: usize) -> OutcomeDistribution {
        let threshold = NoisyThreshold { threshold: t, noise: noise(name, tau), answer_noise: noise(name, sigma) };
        sparse_vector_distribution(&VoteHistogram::new(answers.to_vec()).unwrap(), threshold, cutoff).unwrap()
    }

    /// Values to 25 digits.
    #[test]
    fn agrees_with_values_of_high_precision() {
        let table: [(&[u64], [f64; 6]); 2] = [
            (
                &[3, 1, 4, 1, 5],
                [
                    0.5,
                    0.134_348_064_514_386_204_806_427_4,
                    0.169_741_581_051_525_497_057_680_5,
                    0.038_485_610_428_784_656_693_602_03,
                    0.070_935_804_106_080_131_059_830_29,
                    0.086_488_939_899_223_510_382_459_75,
                ],
            ),
            (
                &[2, 2, 3, 2, 4],
                [
                    0.418_112_078_762_164_341_562_813_6,
                    0.203_299_136_780_606_670_703_134_6,
                    0.144_850_687_040_670_199_463_104_9,
                    0.061_556_619_314_742_541_784_430_82,
                    0.065_355_990_990_084_958_611_020_61,
                    0.106_825_487_111_731_287_775_495_5,
                ],
            ),
        ];
        for (answers, expected) in table {
            let found = of("laplace", answers, [3.0, 2.0, 4.0], 1);
            for (found, expected) in found.p().iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-13, "{answers:?}: {found} {expected}");
            }
            assert!(found.error() < 1e-11, "{}", found.error());
        }
    }

    /// P(a + Z ≥ T + Y) of one answer in closed form, however far below the threshold it is, for any scales.
    #[test]
    fn one_answer_has_a_closed_form_however_far_away() {
        let laplace = |d: f64, s: f64, t: f64| {
            // ln[(s² e^{-d/s} - t² e^{-d/t})/(2 (s² - t²))], the larger scale in front.
            let (s, t) = (s.max(t), s.min(t));
            if s == t {
                -d / s + (0.5 + 0.25 * d / s).ln()
            } else {
                -d / s + ((s * s - t * t * (d / s - d / t).exp()) / (2.0 * (s - t) * (s + t))).ln()
            }
        };
        let gaussian = |d: f64, s: f64, t: f64| log_ndtr(-d / s.hypot(t));
        for (s, t) in [(1.0, 1.0), (4.0, 2.0), (2.0, 4.0), (0.01, 100.0), (100.0, 0.01), (1e5, 0.05), (0.05, 1e5)] {
            for d in [0.0, 1.0, 7.0, 40.0, 3000.0, 1e6, 1e9] {
                for (name, expected) in [("laplace", laplace(d, s, t)), ("gaussian", gaussian(d, s, t))] {
                    for base in [0, 1 << 40] {
                        let found = of(name, &[base], [base as f64 + d, t, s], 1);
                        let most = 1e-11 + 2e-15 * expected.abs();
                        assert!(found.error() < most, "{name} {d} {s} {t} {base}: {:e}", found.error());
                        let error = (found.ln_p()[0] - expected).abs();
                        assert!(
                            error < 4e-13 + 2e-15 * expected.abs(),
                            "{name} {d} {s} {t} {base}: {} {expected}, off by {error:e}",
                            found.ln_p()[0]
                        );
                    }
                }
            }
        }
    }

    /// Answers far above come first, those far below never do; those in between keep their logarithms.
    #[test]
    fn far_outcomes_keep_their_logarithms() {
        for name in ["laplace", "gaussian"] {
            let near = of(name, &[1_005, 1_000, 3], [1_000.0, 1.0, 2.0], 2);
            let moved = of(
                name,
                &[(1 << 50) + 1_005, (1 << 50) + 1_000, (1 << 50) + 3],
                [1_000.0 + 2f64.powi(50), 1.0, 2.0],
                2,
            );
            assert_eq!(near.ln_p().len(), 7);
            for (a, b) in near.ln_p().iter().zip(moved.ln_p()) {
                assert!((a - b).abs() <= 1e-12 + 1e-14 * a.abs(), "{name}: {a} {b}");
                assert!(a.is_finite());
            }
            // The first is above with few exceptions, and the third never is.
            assert!(near.p()[0] + near.p()[2] > 0.9 && near.ln_p()[1] < -200.0, "{near:?}");
        }
        // With much noise on the threshold, answers can be far above it: those of 20 scales between them.
        let found = of("laplace", &[100_020, 100_000], [0.0, 1e5, 1.0], 1);
        // ln P(1) = ln of (first below, second above), which needs noise of 20 scales: e^{-20} (20 + 2)/4 · 1/2 each.
        assert!(found.ln_p()[1] < -15.0 && found.ln_p()[1] > -35.0, "{:?}", found.ln_p());
    }

    #[test]
    fn outcomes_are_counted_before_they_are_listed() {
        let rejected = |answers, cutoff| sparse_vector_outcomes(answers, cutoff).unwrap_err().to_string();
        assert_eq!(rejected(3, 0), "sparse vector: a cutoff of 0 looks at no answer");
        assert_eq!(rejected(65, 1), "sparse vector: 65 answers; at most 64 have an exact distribution");
        assert!(
            rejected(20, 5).contains("20 answers with up to 5 above the threshold have 21700 outcomes; at most 1000")
        );
        assert_eq!(sparse_vector_outcomes(64, 1).unwrap().len(), 65);
        for (answers, cutoff) in [(1, 1), (4, 2), (5, 9), (9, 3)] {
            let all = sparse_vector_outcomes(answers, cutoff).unwrap();
            assert!(all.last().unwrap().above.is_empty());
            for (place, outcome) in all.iter().enumerate() {
                assert!(all[..place].iter().all(|other| other.above != outcome.above), "{outcome:?}");
                let stopped = outcome.above.len() == cutoff;
                let last = if stopped { outcome.above[cutoff - 1] + 1 } else { answers };
                assert_eq!(outcome.examined, last);
            }
        }
    }

    #[test]
    fn hopeless_distances_and_thresholds_are_rejected() {
        let answers = VoteHistogram::new(vec![3, 1]).unwrap();
        let rejected = |t: f64, scale: f64| {
            let threshold =
                NoisyThreshold { threshold: t, noise: noise("gaussian", scale), answer_noise: noise("laplace", 1.0) };
            sparse_vector_distribution(&answers, threshold, 1).unwrap_err().to_string()
        };
        assert!(rejected(f64::NAN, 1.0).contains("threshold = NaN"));
        assert!(rejected(1e16, 1.0).contains("distance of an answer from the threshold"));
        assert!(rejected(0.0, 1e-16).contains("distance of an answer from the threshold"));
    }

    /// Simpson's rule in steps of the noise, for scales that are not far apart: another rule, other nodes, no logarithms.
    fn by_simpson(name: &str, answers: &[u64], [t, tau, sigma]: [f64; 3], outcome: &ReportedAbove) -> f64 {
        let below = |z: f64| match name {
            "laplace" if z < 0.0 => 0.5 * z.exp(),
            "laplace" => 1.0 - 0.5 * (-z).exp(),
            _ => crate::special::ndtr(z),
        };
        let density = |z: f64| match name {
            "laplace" => 0.5 * (-z.abs()).exp(),
            _ => (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt(),
        };
        let value = |x: f64| {
            answers.iter().enumerate().take(outcome.examined).fold(density((x - t) / tau) / tau, |product, (i, &a)| {
                let z = (x - a as f64) / sigma;
                product * if outcome.above.contains(&i) { below(-z) } else { below(z) }
            })
        };
        // Between integers and the threshold, which is one, there is no kink.
        let pieces = 64;
        let step = 1.0 / f64::from(pieces);
        (-4_000..4_000)
            .map(|piece: i32| {
                let low = t + f64::from(piece) * step * 4.0;
                let sums: f64 = (0..4)
                    .map(|part| {
                        let a = low + f64::from(part) * step;
                        step / 6.0 * (value(a) + 4.0 * value(a + 0.5 * step) + value(a + step))
                    })
                    .sum();
                sums
            })
            .sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn agrees_with_simpsons_rule(
            answers in prop::collection::vec(0u64..12, 1..5),
            t in 0u32..12, tau in 0.0f64..1.5, sigma in 0.0f64..1.5, cutoff in 1usize..4, gaussian: bool,
        ) {
            let (name, numbers) = (if gaussian { "gaussian" } else { "laplace" }, [f64::from(t), tau.exp(), sigma.exp()]);
            let found = of(name, &answers, numbers, cutoff);
            for (p, outcome) in found.p().iter().zip(sparse_vector_outcomes(answers.len(), cutoff).unwrap()) {
                let expected = by_simpson(name, &answers, numbers, &outcome);
                prop_assert!((p - expected).abs() < 2e-10, "{name} {answers:?} {numbers:?} {outcome:?}: {p} {expected}");
            }
        }
    }

    /// The largest sizes allowed, in negligible time.
    #[test]
    fn many_answers_have_a_distribution() {
        for name in ["laplace", "gaussian"] {
            let answers: Vec<u64> = (0..64).map(|i| 37 * i % 64).collect();
            let start = std::time::Instant::now();
            let found = of(name, &answers, [60.0, 2.0, 4.0], 1);
            println!("{name}: {:?}, error {:e}", start.elapsed(), found.error());
            assert!(found.error() < 1e-11);
        }
    }
}
