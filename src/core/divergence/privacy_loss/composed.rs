//! Composition of many privacy losses, enclosed from both sides.

use super::lattice::{Above, Below, Masses, kept};
use super::spectrum::{CyclicDistribution, convolve};
use super::tail::{MANY, cumulants, log_moment, window};
use super::{Atom, EnclosedLoss, LEAST, PrivacyLoss};
use crate::bound::outward::up;
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Delta, Epsilon};
use leakbound_fft::Planner;

/// Points of the finest lattice, for one query and for all together, with at least the third number for one.
const MOST_POINTS: usize = 1 << 18;
const MOST_POINTS_OF_ALL: usize = 1 << 27;
const POINTS_OF_ONE: usize = 1 << 15;
/// Points of the coarsest.
const FEWEST_POINTS: usize = 1 << 8;
/// Refinements before the enclosure is left at its width.
const REFINEMENTS: usize = 6;
/// Tilted distributions leave their window with probability at most e^-RARITY on either side.
const RARITY: f64 = 44.0;
/// Relative error of a weight p e^{λl}, for each query and unit of 10 + λ|l|: ln p of a double is within 745.
const ROUNDING: f64 = 2e-14;
/// Absolute error of a loss on the lattice, for each query and unit of its largest loss.
const MISPLACED: f64 = 8.0 * f64::EPSILON;
/// Share of δ that may be moved to an infinite loss, as a multiple of the tolerance.
const MOVED_SHARE: f64 = 0.02;
/// A tilt narrows the distribution of the sum at most to this share.
const NARROWEST: f64 = 0.3;
/// Points that are summed for every tilt tried. Any tilt is valid, so neighboring losses of many different queries may
/// replace each other there.
const MOST_POINTS_OF_TILT: usize = 1 << 18;
/// Rounding of a closed form.
const SLIGHTLY: f64 = 1e-12;
/// Number of thresholds below ε that are tried for the lower side.
const THRESHOLDS: usize = 48;
/// Number of thresholds whose weights are computed from each other by products before an exponential renews them, and
/// how far the logarithm of a weight may fall in between: an overflow would stay infinite, an underflow 0.
const RENEWED: usize = 256;
const RENEWED_FALL: f64 = 300.0;
/// The search for the lower side starts this much above the upper one, so that a crossing would be detected.
const BEYOND: f64 = 1e-9;

/// A step of the lattice is at least this share of the one before. For exactly known losses, only the lattice makes the
/// enclosure wide; for enclosed losses the enclosures may as well, and a finer lattice does not narrow those.
const FINER_OF_KNOWN: f64 = 0.02;
const FINER_OF_ENCLOSED: f64 = 0.25;
/// If a finer lattice does not narrow the enclosure to this share, the lattice is not what makes it wide.
const HELPED: f64 = 0.8;

/// A number between two inclusive ends: a theorem with verified rounding, not a confidence interval.
///
/// Neither end is NaN. Ends that cross are not hidden: they are an error in this library, which every study reports as
/// [`Error::Contradiction`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// A lower bound on the number.
    pub lower: f64,
    /// An upper bound on the number.
    pub upper: f64,
}

/// The privacy profile of a sequence of independent outputs in one direction: δ(ε) and ε(δ), each enclosed.
///
/// This is P against Q alone. The privacy parameter is the larger one of both directions, see
/// [`compose_losses`](super::compose_losses).
#[derive(Debug, Clone)]
pub struct ComposedDirection {
    /// Probability of an infinite loss.
    infinite: Bracket,
    /// The same plus the mass counted as infinite on the upper side.
    infinite_upper: f64,
    /// The sum of the largest finite losses, rounded up and down: from there on, δ is `infinite`.
    largest: f64,
    largest_lower: f64,
    /// The sum of the total variation distances: an upper bound on δ(0) and thus on every δ(ε).
    total_variation: f64,
    /// The probability that some output has one of its largest, rare losses, and the sum of the largest other losses.
    rare: (f64, f64),
    /// At least the probability that every output has its likeliest finite loss, and at most the sum of those losses.
    likeliest: (f64, f64),
    /// `None` if each loss has a single value, or losses are too small for a lattice.
    lattice: Option<Profile>,
    /// Rounding of the weights of all queries together, as the logarithm of a factor.
    rounding: f64,
}

/// Suffix sums of the convolved distributions, from the largest loss down.
///
/// A distribution is that of the tilted losses, m(x) = P(x) e^{λx - log}. Every sum is relative to its own first point
/// x₀: P of the points from there on is e^{log - λx₀} Σ m(x) e^{-λ(x - x₀)}, and e^ε Q, with Q = e^-x P, is
/// e^{log - λx₀} e^{ε - x₀} Σ m(x) e^{-(λ+1)(x - x₀)}. So no sum overflows or underflows, however large the losses are.
#[derive(Debug, Clone)]
struct Profile {
    step: f64,
    /// Index of the first point.
    first: i64,
    tilt: f64,
    /// ln of the total tilted mass: of the upper side, and of P and Q of the lower one.
    logs: [f64; 3],
    /// Of P and of Q, upper side; one entry more than points, the last for everything beyond them.
    upper_p: Vec<f64>,
    upper_q: Vec<f64>,
    /// Lower bound on P and upper bound on Q of the set of points from here on.
    lower_p: Vec<f64>,
    lower_q: Vec<f64>,
}

/// The parts that are the same for all lattices.
struct Frame {
    /// Probability of the largest losses of one output that may count as infinite.
    spare: f64,
    /// The largest number of points.
    most: usize,
    /// The tilt, and the standard deviation of the tilted sum.
    tilt: f64,
    scale: f64,
}

/// The losses to compose: each side has those that bound it.
#[derive(Clone, Copy)]
struct Parts<'a> {
    above: &'a [(&'a PrivacyLoss, u64)],
    below: &'a [(&'a PrivacyLoss, u64)],
    /// A step of the lattice is at least this share of the one before.
    finer: f64,
}

impl Parts<'_> {
    fn compose(self, delta: Delta, relative: f64) -> Result<ComposedDirection> {
        let Self { above, below, .. } = self;
        Error::check_length(!above.is_empty(), "composed losses", 0, "at least 1")?;
        Error::check_domain(relative > 0.0 && relative < 1.0, "relative width", relative, "(0, 1)")?;
        let queries: f64 = above.iter().map(|loss| loss.1 as f64).sum();
        // The retained part of every loss when the largest are set aside.
        let spare = MOVED_SHARE * relative * delta.get() / queries.max(1.0);
        let mut composed = self.without_lattice(spare);
        let Some((tilt, scale, center)) = tilt(above, spare, delta).or_else(|| tilt(below, spare, delta)) else {
            return Ok(composed);
        };
        composed.rounding = rounding(above, spare, tilt).max(rounding(below, spare, tilt));
        let spread = (tilt * scale).max(1.0);
        let mut step = scale * (4.0 * (center.abs() / scale).max(1.0) * relative / (queries * spread)).sqrt();
        let mut best: Option<(f64, ComposedDirection)> = None;
        let most = (MOST_POINTS_OF_ALL / above.len()).next_power_of_two().clamp(POINTS_OF_ONE, MOST_POINTS);
        let (frame, mut planner) = (Frame { spare, most, tilt, scale }, Planner::new());
        for _ in 0..REFINEMENTS {
            let Some((next, points, used)) = composed.on_lattice(self, step, (&frame, &mut planner)) else { break };
            let bracket = next.epsilon(delta);
            let width =
                if bracket.upper == bracket.lower { 0.0 } else { (bracket.upper - bracket.lower) / bracket.upper };
            let helped = best.as_ref().is_none_or(|best| !(width >= HELPED * best.0));
            if best.as_ref().is_none_or(|best| !(width >= best.0)) {
                best = Some((width, next));
            }
            if width <= relative || points >= most || !helped {
                break;
            }
            step = used * (0.5 * relative / width).sqrt().clamp(self.finer, 0.5);
        }
        Ok(best.map_or(composed, |best| best.1))
    }

    /// The bounds known before any convolution.
    fn without_lattice(self, spare: f64) -> ComposedDirection {
        let Self { above, below, .. } = self;
        let infinite =
            |losses: &[(&PrivacyLoss, u64)]| at_least_once(losses.iter().map(|(loss, times)| (loss.infinite, *times)));
        let infinite = Bracket { lower: infinite(below), upper: infinite(above) };
        let rounding = ROUNDING * above.iter().map(|loss| loss.1 as f64).sum::<f64>();
        let ([largest, slack], [largest_lower, slack_lower]) = (largest(above), largest(below));
        let set_aside: Vec<(usize, f64)> = above.iter().map(|(loss, _)| kept(loss, spare)).collect();
        let rare = above.iter().zip(&set_aside).map(|((loss, times), (_, moved))| (moved + loss.infinite, *times));
        let others = above.iter().zip(&set_aside).map(|((loss, times), (count, _))| {
            times_or_zero(loss.atoms.get(*count).map_or(f64::NEG_INFINITY, |atom| atom.l), *times)
        });
        ComposedDirection {
            infinite,
            infinite_upper: infinite.upper,
            largest: if largest + slack > 0.0 { up(largest + slack, 1.0) } else { 0.0 },
            largest_lower: (largest_lower - slack_lower).max(0.0),
            // Sums of rounded terms, rounded up.
            total_variation: up(above.iter().map(|(loss, times)| *times as f64 * loss.total_variation()).sum(), 1e4),
            rare: (at_least_once(rare), up(others.sum::<f64>().max(0.0) + slack, 1e3)),
            likeliest: likeliest(below, rounding),
            lattice: None,
            rounding,
        }
    }
}

/// The probability that every output has its likeliest finite loss, and the sum of those, both rounded down.
fn likeliest(losses: &[(&PrivacyLoss, u64)], rounding: f64) -> (f64, f64) {
    let (mut ln_p, mut sum, mut size) = (0.0, 0.0, 0.0);
    for (loss, times) in losses.iter().filter(|(_, times)| *times > 0) {
        let Some(atom) = loss.atoms.iter().max_by(|a, b| a.p.total_cmp(&b.p)) else { return (0.0, 0.0) };
        ln_p += *times as f64 * atom.p.min(1.0).ln();
        sum += *times as f64 * atom.l;
        size += *times as f64 * atom.l.abs();
    }
    let slack = f64::EPSILON * (2.0 + losses.len() as f64);
    (libm::exp(ln_p * (1.0 + slack) - rounding), sum - slack * size)
}

/// The sum of the largest finite losses, and its possible rounding error.
fn largest(losses: &[(&PrivacyLoss, u64)]) -> [f64; 2] {
    let first = |loss: &PrivacyLoss| loss.atoms.first().map_or(f64::NEG_INFINITY, |atom| atom.l);
    let largest = losses.iter().map(|(loss, times)| times_or_zero(first(loss), *times)).sum::<f64>();
    // Rounding error of sums of both signs.
    let size = losses.iter().map(|(loss, times)| times_or_zero(first(loss).abs(), *times)).sum::<f64>();
    [largest, if size.is_finite() { f64::EPSILON * (2.0 + losses.len() as f64) * size } else { 0.0 }]
}

/// The factor e^±x by which the weights p e^{λl} of all queries, and Q = e^-l P of them, are off together.
fn rounding(losses: &[(&PrivacyLoss, u64)], spare: f64, tilt: f64) -> f64 {
    let of_one = |(loss, times): &(&PrivacyLoss, u64)| {
        let far = kept_atoms(loss, spare).iter().fold(0.0, |far: f64, atom| far.max(atom.l.abs()));
        *times as f64 * (ROUNDING * (10.0 + tilt * far) + MISPLACED * far)
    };
    losses.iter().map(of_one).sum()
}

/// The atoms that are not set aside.
fn kept_atoms(loss: &PrivacyLoss, spare: f64) -> &[Atom] {
    &loss.atoms[kept(loss, spare).0..]
}

/// 1 - Π (1 - p)^k.
fn at_least_once(terms: impl Iterator<Item = (f64, u64)>) -> f64 {
    let none: f64 = terms.filter(|term| term.1 > 0).map(|(p, times)| times as f64 * libm::log1p(-p.min(1.0))).sum();
    -libm::expm1(none)
}

fn times_or_zero(value: f64, times: u64) -> f64 {
    if times == 0 { 0.0 } else { value * times as f64 }
}

/// Neighboring losses combined into one point at their mean, with the logarithm of their probability.
fn gathered_point(atoms: &[Atom]) -> (f64, f64) {
    if let [atom] = atoms {
        return (atom.l, atom.p.ln());
    }
    let p: f64 = atoms.iter().map(|atom| atom.p).sum();
    (atoms.iter().map(|atom| atom.p * atom.l).sum::<f64>() / p, p.ln())
}

/// The exponent λ for which the mean of the sum is about ε(δ), the standard deviation there and that mean, from
/// Chernoff's bound ln δ ≈ Λ(λ) - λ Λ'(λ). `None` if no loss is noticeably positive.
fn tilt(losses: &[(&PrivacyLoss, u64)], spare: f64, delta: Delta) -> Option<(f64, f64, f64)> {
    let atoms: usize = losses.iter().map(|(loss, _)| loss.atoms.len()).sum();
    let together = atoms.div_ceil(MOST_POINTS_OF_TILT).max(1);
    // Logarithms once for all exponents tried.
    let points = |(loss, _): &(&PrivacyLoss, u64)| -> Vec<(f64, f64)> {
        kept_atoms(loss, spare).chunks(together).map(gathered_point).collect()
    };
    let points = parallel::map(losses, points);
    let sum = |lambda: f64| {
        let mut total = [0.0; 3];
        let of_one = |points: &Vec<(f64, f64)>| cumulants(points.iter().copied(), lambda);
        let all: Vec<[f64; 3]> =
            if losses.len() < MANY { points.iter().map(of_one).collect() } else { parallel::map(&points, of_one) };
        for ((_, times), own) in losses.iter().zip(all) {
            if own[0] > f64::NEG_INFINITY {
                total.iter_mut().zip(own).for_each(|(total, own)| *total += *times as f64 * own);
            }
        }
        total
    };
    let scale = sum(0.0)[2].sqrt();
    // Atoms whose probability underflowed and was replaced do not count.
    let counting = losses.iter().flat_map(|loss| loss.0.atoms.iter()).filter(|atom| atom.p > f64::MIN_POSITIVE);
    let extreme = counting.fold(0.0, |far: f64, atom| far.max(atom.l.abs()));
    if !(scale > 1e-100 && scale.is_finite() && extreme.is_finite()) {
        return None;
    }
    // A tail that exceeds ε only by the scale of small losses has a δ smaller than its probability by that factor.
    let target = delta.get().max(1e-300).ln() - scale.min(1.0).ln();
    // A tilt beyond the largest losses would only inflate rounding elsewhere.
    let short = |lambda: f64| {
        let [value, mean, variance] = sum(lambda);
        value - lambda * mean > target && variance.sqrt() > NARROWEST * scale
    };
    let most = 1e3 / extreme;
    let (mut low, mut high) = (0.0, (1.0 / scale).min(most));
    while short(high) && high < most {
        (low, high) = (high, (2.0 * high).min(most));
    }
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if short(middle) { low = middle } else { high = middle }
    }
    let [_, mean, variance] = sum(low);
    Some((low, variance.sqrt().max(NARROWEST * scale), mean))
}

impl ComposedDirection {
    /// Composes independent outputs: each loss with the number of times its query was answered.
    ///
    /// The enclosure has relative width `relative` in ε at `delta` if 2^18 lattice points suffice (fewer for more than
    /// 500 different queries). It is valid at every δ and ε, and narrow within some standard deviations of the loss.
    /// 1000 different queries of ten classes at 1e-3 take 0.7 s on one core, and time and space grow with n^1.5 for n
    /// of them.
    ///
    /// *Validity.* The outputs must be independent under both datasets: fixed votes with fresh noise, or fresh training
    /// for every answer. Losses on a lattice of step Δ dominate the given ones from above and are a statistic of the
    /// outputs from below (`lattice`), both to second order in Δ. The convolution is a cyclic Fourier transform under
    /// the exponential tilt that centers the sum on the ε in question, so its rounding, absolute in the tilted
    /// distribution, is relative there: δ = 1e-30 is as accurate as 1e-3. Three terms are added to δ on the upper side
    /// and subtracted on the lower: the bound on all rounding errors, the mass that wraps around (Chernoff), and the
    /// largest losses with tiny probability, which count as infinite. The probabilities of the distributions themselves
    /// are taken as given.
    ///
    /// # Errors
    /// [`Error::Length`] for no query, [`Error::Domain`] when `relative` is not in (0, 1).
    ///
    /// # Example
    /// ```
    /// # use leakbound::divergence::{ComposedDirection, PrivacyLoss};
    /// # use leakbound::prelude::*;
    /// // Randomized response with truth probability 3/4, eight times: δ at ε = 4 ln 3 by the binomial distribution. A loss is exactly
    /// // there, so that the upper side is as wide as it gets.
    /// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.75, 0.25])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
    /// let loss = PrivacyLoss::of_distributions(&p, &q)?;
    /// let composed = ComposedDirection::of_known(&[(loss, 8)], Delta::new(0.1)?, 1e-4)?;
    /// let bracket = composed.delta(Epsilon::new(4.0 * 3f64.ln())?);
    /// let binomial = [(8, 1.0), (7, 8.0), (6, 28.0)].map(|(k, ways)| {
    ///     let weight = |right: f64| ways * right.powi(k) * (1.0 - right).powi(8 - k);
    ///     (weight(0.75) - 81.0 * weight(0.25)).max(0.0)
    /// });
    /// let exact: f64 = binomial.iter().sum();
    /// assert!(bracket.lower <= exact && exact <= bracket.upper && bracket.upper < bracket.lower * 1.01);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # References
    /// Sommer, Meiser and Mohammadi (2019), "Privacy loss classes"; Koskela, Jälkö and Honkela (2020), for the Fourier
    /// accountant; Gopi, Lee and Wutschitz (2021), "Numerical composition of differential privacy"; Doroshenko et al.
    /// (2022), "Connect the dots", for the upper lattice; Zhu, Dong and Wang (2022) for dominating pairs.
    pub fn of_known(losses: &[(PrivacyLoss, u64)], delta: Delta, relative: f64) -> Result<Self> {
        let losses: Vec<(&PrivacyLoss, u64)> = losses.iter().map(|(loss, times)| (loss, *times)).collect();
        Parts { above: &losses, below: &losses, finer: FINER_OF_KNOWN }.compose(delta, relative)
    }

    /// Composes independent outputs with enclosed losses, each with the number of times its query was answered: the
    /// upper ends of the enclosures bound from above, their lower ends from below, as in [`Self::of_known`].
    ///
    /// # Errors
    /// As [`Self::of_known`].
    pub fn of_enclosed(losses: &[(&EnclosedLoss, u64)], delta: Delta, relative: f64) -> Result<Self> {
        let [above, below]: [Vec<(&PrivacyLoss, u64)>; 2] = [
            losses.iter().map(|(loss, times)| (&loss.at_most, *times)).collect(),
            losses.iter().map(|(loss, times)| (&loss.at_least, *times)).collect(),
        ];
        let known = losses.iter().all(|(loss, _)| loss.at_most == loss.at_least);
        Parts { above: &above, below: &below, finer: if known { FINER_OF_KNOWN } else { FINER_OF_ENCLOSED } }
            .compose(delta, relative)
    }

    /// The profile on a lattice of about this step, the number of its points and the step used; `None` if no lattice is
    /// wide enough.
    fn on_lattice(
        &self,
        parts: Parts<'_>,
        mut step: f64,
        (frame, planner): (&Frame, &mut Planner),
    ) -> Option<(Self, usize, f64)> {
        let &Frame { spare, most, tilt, scale } = frame;
        for _ in 0..REFINEMENTS {
            let above = parallel::map(parts.above, |(loss, times)| (Above::new(loss, step, spare), *times));
            let below = parallel::map(parts.below, |(loss, times)| (Below::new(loss, step, spare), *times));
            let sides: [Vec<(&Masses, u64)>; 3] = [
                above.iter().map(|(one, times)| (&one.p, *times)).collect(),
                below.iter().map(|(one, times)| (&one.p, *times)).collect(),
                below.iter().map(|(one, times)| (&one.q, *times)).collect(),
            ];
            let windows = sides.each_ref().map(|side| window(side, step, tilt, scale, RARITY));
            let low = windows.iter().fold(f64::INFINITY, |low, window| low.min(window.0));
            let high = windows.iter().fold(f64::NEG_INFINITY, |high, window| high.max(window.1));
            let wished = (high - low) / step + 4.0;
            if !(wished <= most as f64) {
                step *= 1.01 * wished / most as f64;
                continue;
            }
            let points = (wished as usize).max(FEWEST_POINTS).next_power_of_two();
            let first = (low / step).floor() as i64 - 1;
            let convolved = sides.map(|side| {
                let weighted = parallel::map(&side, |(masses, times)| (tilted(masses, step, tilt), *times));
                (convolve(weighted, points, planner), log_moment(&side, step, tilt))
            });
            let moved = above.iter().zip(parts.above);
            let moved = at_least_once(moved.map(|((one, times), (loss, _))| (one.moved + loss.infinite, *times)));
            let profile = Profile::new(convolved, step, first, tilt);
            // A suffix sum of N terms has N roundings, of sums and of weights.
            let rounding = self.rounding + 4.0 * points as f64 * f64::EPSILON;
            let next = Self { infinite_upper: moved, lattice: Some(profile), rounding, ..self.clone() };
            return Some((next, points, step));
        }
        None
    }

    /// δ at ε.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        Bracket { lower: self.lower_delta(epsilon.get()), upper: self.upper_delta(epsilon.get()) }
    }

    /// ε at δ: the smallest ε ≥ 0 with δ(ε) ≤ δ, infinite if the probability of an infinite loss exceeds δ. At δ = 0 it
    /// is the largest loss, however small its probability is.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Bracket {
        let target = delta.get();
        let upper = if self.upper_delta(0.0) <= target {
            0.0
        } else if self.infinite.upper > target {
            f64::INFINITY
        } else if target == 0.0 {
            self.largest
        } else {
            self.upper_epsilon(target)
        };
        let lower = if self.infinite.lower * (1.0 - SLIGHTLY) > target {
            f64::INFINITY
        } else if target == 0.0 {
            self.largest_lower
        } else {
            self.lower_epsilon(target, upper)
        };
        Bracket { lower, upper }
    }

    /// An ε with δ(ε) ≤ δ; the largest loss is one.
    fn upper_epsilon(&self, target: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.largest);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) {
                break;
            }
            if self.upper_delta(middle) > target { low = middle } else { high = middle }
        }
        high
    }

    /// An ε with δ(ε) > δ, as close to `upper` as the lower side allows, or 0. Far below, the lower side is weak, so
    /// the search steps down from above.
    fn lower_epsilon(&self, target: f64, upper: f64) -> f64 {
        let upper = (upper * (1.0 + BEYOND)).min(self.largest);
        let (mut low, mut high, mut back) = (upper, upper, BEYOND * upper);
        while !(self.lower_delta(low) > target) {
            if low <= 0.0 {
                return 0.0;
            }
            (high, low) = (low, (low - back).max(0.0));
            back *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) {
                break;
            }
            if self.lower_delta(middle) > target { low = middle } else { high = middle }
        }
        low
    }

    /// An upper bound on δ at ε; never 0 if some loss is larger.
    pub(in crate::divergence) fn upper_delta(&self, epsilon: f64) -> f64 {
        let infinite = self.infinite.upper * (1.0 + SLIGHTLY);
        if epsilon >= self.largest {
            return infinite.min(1.0);
        }
        // No loss is above the largest.
        let coarse = infinite + (1.0 - self.infinite.upper) * -libm::expm1(epsilon - self.largest) * (1.0 + SLIGHTLY);
        // δ(ε) ≤ δ(0), the total variation distance, which is at most the sum over the outputs. And except for the rare
        // losses, no loss is above the sum of the largest others. Without these bounds a consensus, whose rare losses
        // are large and whose other losses are next to nothing, would look as expensive as its rare losses.
        let (rare, others) = self.rare;
        let common = if epsilon < others { -libm::expm1(epsilon - others) } else { 0.0 };
        let coarse = coarse.min(self.total_variation.min(rare + (1.0 - rare) * common) * (1.0 + SLIGHTLY));
        let fine = self.lattice.as_ref().map_or(1.0, |lattice| self.fine_delta(lattice, epsilon));
        // Overflow becomes 1, and NaN is not a bound.
        let fine = if fine.is_nan() { 1.0 } else { fine };
        coarse.min(1.0).min(fine).max(LEAST)
    }

    /// An upper bound on δ at ε from the lattice. Losses below its window are not on it, so below the window δ is
    /// bounded by a chord to the first point: in e^ε, δ is convex, and 1 at 0.
    fn fine_delta(&self, lattice: &Profile, epsilon: f64) -> f64 {
        let first = lattice.loss(0);
        // Less than a step below, there is no lattice point in between.
        if epsilon < first - lattice.step {
            let here = self.fine_delta(lattice, first).min(1.0);
            return 1.0 - (1.0 - here) * libm::exp(epsilon - first) * (1.0 - SLIGHTLY);
        }
        let from = lattice.index_above(epsilon);
        let (p, q) = (lattice.upper_p[from], lattice.upper_q[from]);
        // Beyond the last point nothing is subtracted.
        let growth = libm::exp((epsilon - lattice.loss(from)).min(0.0) - self.rounding);
        let finite = p * libm::exp(self.rounding) - growth * q;
        let weight = libm::exp(lattice.logs[0] - lattice.tilt * lattice.loss(from));
        self.infinite_upper * (1.0 + SLIGHTLY) + weight * finite.max(0.0)
    }

    /// A lower bound on δ at ε.
    pub(in crate::divergence) fn lower_delta(&self, epsilon: f64) -> f64 {
        let infinite = self.infinite.lower * (1.0 - SLIGHTLY);
        // The set of the likeliest losses, whose Q is e^-sum P.
        let (p, sum) = self.likeliest;
        let likeliest = if epsilon < sum { p * -libm::expm1(epsilon - sum) * (1.0 - SLIGHTLY) } else { 0.0 };
        let fine = self.lattice.as_ref().map_or(0.0, |lattice| self.fine_lower_delta(lattice, epsilon));
        (infinite + likeliest.max(fine)).min(1.0)
    }

    /// A lower bound on what finite losses add to δ at ε, from the lattice. Any threshold is valid; the best is near ε,
    /// where P/Q crosses e^ε, or above it if less is known below.
    fn fine_lower_delta(&self, lattice: &Profile, epsilon: f64) -> f64 {
        let from = lattice.index_above(epsilon).saturating_sub(THRESHOLDS);
        let [less, more] = [libm::exp(-self.rounding), libm::exp(self.rounding)];
        let [fall_p, fall_q] = lattice.falls();
        let renewed = (RENEWED_FALL / ((1.0 + lattice.tilt) * lattice.step)).clamp(1.0, RENEWED as f64) as usize;
        let mut best = 0.0;
        for start in (from..lattice.lower_p.len()).step_by(renewed) {
            let loss = lattice.loss(start);
            let mut weight_p = libm::exp(lattice.logs[1] - lattice.tilt * loss) * less;
            let mut weight_q = libm::exp(lattice.logs[2] - lattice.tilt * loss + (epsilon - loss)) * more;
            let end = lattice.lower_p.len().min(start + renewed);
            for (p, q) in lattice.lower_p[start..end].iter().zip(&lattice.lower_q[start..end]) {
                // After an overflow, the value is NaN or infinite, and the comparisons discard it. Each weight or
                // product that underflows loses at most the smallest double.
                let value = weight_p * p - weight_q * q - 4.0 * LEAST;
                if value > best && value < f64::INFINITY {
                    best = value;
                }
                weight_p *= fall_p;
                weight_q *= fall_q;
            }
            // Sums of probabilities are at most 1, and the remaining weights keep falling.
            if weight_p < best {
                break;
            }
        }
        best
    }
}

/// Masses times e^{λx}, normalized to sum 1.
fn tilted(masses: &Masses, step: f64, tilt: f64) -> Masses {
    let log = log_moment(&[(masses, 1)], step, tilt);
    masses
        .iter()
        .filter(|mass| mass.1 > 0.0)
        .map(|&(point, p)| (point, libm::exp(tilt * (point as f64 * step) + p.ln() - log)))
        .collect()
}

impl Profile {
    fn new(convolved: [(CyclicDistribution, f64); 3], step: f64, first: i64, tilt: f64) -> Self {
        let tail = libm::exp(-RARITY);
        let logs = convolved.each_ref().map(|side| side.1);
        let [upper, lower_p, lower_q] = convolved.map(|side| side.0);
        let mut profile = Self {
            step,
            first,
            tilt,
            logs,
            upper_p: Vec::new(),
            upper_q: Vec::new(),
            lower_p: Vec::new(),
            lower_q: Vec::new(),
        };
        let [fall_p, fall_q] = profile.falls();
        profile.upper_p = profile.suffix_sums(&upper, 1.0, fall_p, tail);
        // From the same masses as Σ P, so that every term of their difference is positive.
        profile.upper_q = profile.suffix_sums(&upper, 1.0, fall_q, 0.0);
        profile.lower_p = profile.suffix_sums(&lower_p, -1.0, fall_p, 0.0);
        // Mass that wrapped around, from below or from above, is missing here: at most twice the tail, tilted.
        profile.lower_p.iter_mut().for_each(|sum| *sum -= 2.0 * tail);
        profile.lower_q = profile.suffix_sums(&lower_q, 1.0, fall_q, tail);
        profile
    }

    /// The factors by which e^{-λx} P and Q = e^-x of it fall from point to point.
    fn falls(&self) -> [f64; 2] {
        [libm::exp(-self.tilt * self.step), libm::exp(-(self.tilt + 1.0) * self.step)]
    }

    /// Suffix sums of masses, plus or minus their error, each relative to its first point; `beyond` is the last.
    fn suffix_sums(&self, distribution: &CyclicDistribution, error: f64, fall: f64, beyond: f64) -> Vec<f64> {
        let points = distribution.mass.len();
        let mut sums = vec![beyond; points + 1];
        for index in (0..points).rev() {
            let place = (self.first + index as i64).rem_euclid(points as i64) as usize;
            let mass = (distribution.mass[place] + error * distribution.error).max(0.0);
            sums[index] = mass + fall * sums[index + 1];
        }
        sums
    }

    /// The loss of a point.
    fn loss(&self, index: usize) -> f64 {
        (self.first + index as i64) as f64 * self.step
    }

    /// The first point above ε, at most the one after the last.
    fn index_above(&self, epsilon: f64) -> usize {
        let place = (epsilon / self.step).floor() + 1.0 - self.first as f64;
        place.clamp(0.0, (self.upper_p.len() - 1) as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;

    /// Without a lattice: rare losses, and the others bounded by their sum.
    #[test]
    fn rare_losses_and_the_sum_of_the_others_bound_the_profile() {
        let composed = ComposedDirection {
            infinite: Bracket { lower: 0.0, upper: 0.0 },
            infinite_upper: 0.0,
            largest: 10.0,
            largest_lower: 10.0,
            total_variation: 1.0,
            rare: (0.5, 1.0),
            likeliest: (0.0, 0.0),
            lattice: None,
            rounding: 0.0,
        };
        let expected = 0.5 + 0.5 * (1.0 - (-0.5f64).exp());
        assert!((composed.upper_delta(0.5) - expected).abs() < 1e-9, "{}", composed.upper_delta(0.5));
        assert!((composed.upper_delta(2.0) - 0.5).abs() < 1e-9);
    }

    /// A lattice that is much too fine is coarsened to the allowed number of points, and no further.
    #[test]
    fn a_lattice_has_as_many_points_as_it_may() {
        let distribution = |p: [f64; 3]| OutcomeDistribution::from_probabilities(&p).unwrap();
        let loss =
            PrivacyLoss::of_distributions(&distribution([0.5, 0.3, 0.2]), &distribution([0.4, 0.4, 0.2])).unwrap();
        let (losses, delta) = ([(&loss, 40)], Delta::new(1e-4).unwrap());
        let parts = Parts { above: &losses, below: &losses, finer: FINER_OF_KNOWN };
        let composed = parts.compose(delta, 1e-3).unwrap();
        let (tilt, scale, _) = tilt(&losses, 0.0, delta).unwrap();
        let most = 1 << 12;
        let frame = Frame { spare: 0.0, most, tilt, scale };
        let (_, points, used) = composed.on_lattice(parts, 1e-9 * scale, (&frame, &mut Planner::new())).unwrap();
        assert!(points == most && used < 0.1 * scale, "{points} {used} {scale}");
    }
}
