//! Composition of many privacy losses, enclosed from both sides.

use super::lattice::{Above, Below, Masses, kept};
use super::spectrum::{CyclicDistribution, convolve};
use super::tail::{MANY, cumulants, log_moment, window};
use super::{Atom, EnclosedLoss, PrivacyLoss};
use crate::bound::outward::up;
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon};
use rayon::prelude::*;

/// Points of the finest lattice, for one query and for all together, but no fewer for one than the next.
const MOST_POINTS: usize = 1 << 18;
const MOST_POINTS_OF_ALL: usize = 1 << 27;
const POINTS_OF_ONE: usize = 1 << 15;
/// Points of the coarsest.
const FEWEST_POINTS: usize = 1 << 8;
/// Refinements before the enclosure is left as wide as it is.
const REFINEMENTS: usize = 6;
/// Tilted distributions leave their window with probability e^-RARITY at most on either side.
const RARITY: f64 = 44.0;
/// Relative error of a weight p e^{λl}, for each query and unit of 1 + λ|l|.
const ROUNDING: f64 = 2e-14;
/// Share of δ that may be moved to an infinite loss, as a multiple of the tolerance.
const MOVED_SHARE: f64 = 0.02;
/// A tilt narrows the distribution of the sum to this share at most.
const NARROWEST: f64 = 0.3;
/// Points that are summed for every tilt that is tried. Any tilt is valid, so that neighboring losses of many different
/// queries may stand for each other there.
const MOST_POINTS_OF_TILT: usize = 1 << 18;
/// Rounding of a closed form.
const SLIGHTLY: f64 = 1e-12;
/// Thresholds below ε that are tried for the lower side.
const THRESHOLDS: usize = 48;

/// A step of the lattice is at least this share of the one before. Of losses that are known themselves the lattice alone
/// makes the enclosure wide; of enclosed ones the enclosures may as well, which a finer lattice does not narrow.
const FINER_OF_KNOWN: f64 = 0.02;
const FINER_OF_ENCLOSED: f64 = 0.25;
/// What a finer lattice narrows by less than to this share, the lattice has not made wide.
const HELPED: f64 = 0.8;

/// A number between two ends, both inclusive; a theorem with verified rounding, no confidence level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// At most the number.
    pub lower: f64,
    /// At least the number.
    pub upper: f64,
}

/// The privacy profile of a sequence of independent outputs: δ(ε) and ε(δ), each enclosed.
#[derive(Debug, Clone)]
pub struct ComposedLoss {
    /// Probability of an infinite loss.
    infinite: Bracket,
    /// With what was counted as infinite on the upper side.
    infinite_upper: f64,
    /// The sum of the largest finite losses, rounded up and down: from there on δ is `infinite`.
    largest: f64,
    largest_lower: f64,
    /// The sum of the total variation distances, at least δ(0) and with it every δ(ε).
    total_variation: f64,
    /// The probability that some output has one of its largest, rare losses, and the sum of the largest of the others.
    rare: (f64, f64),
    /// Whether every loss has one finite value only.
    single_valued: bool,
    /// None where losses have one value each, or are too small for a lattice.
    lattice: Option<Profile>,
    rounding: f64,
}

/// Suffix sums of the convolved distributions, from the largest loss down.
#[derive(Debug, Clone)]
struct Profile {
    step: f64,
    /// Index of the first point.
    first: i64,
    /// Σ over points from here on of P, and of P e^{-loss}, upper side.
    upper_p: Vec<f64>,
    upper_q: Vec<f64>,
    /// P of the set of points from here on, at least, and Q times e^center, at most.
    lower_p: Vec<f64>,
    lower_q: Vec<f64>,
    /// Where most of the tilted losses are. Without it Q = e^-loss P would soon be 0 in doubles, and e^ε Q with it.
    center: f64,
    /// P of losses beyond the window, upper side.
    beyond: f64,
}

/// Composes independent outputs: each loss with the number of times that its query was answered.
///
/// The enclosure is as narrow as `relative` in ε at `delta`, if 2^18 points of the lattice suffice (fewer for more than
/// 500 different queries); it is valid at every δ and ε, and narrow within some standard deviations of the loss. 1000
/// different queries of ten classes at 1e-3 take 0.7 s on one core, and time and space grow with n^1.5 for n of them.
///
/// *What holds.* The outputs must be independent under both datasets: fixed votes with fresh noise, or fresh
/// training for every answer. Losses on a lattice of step Δ dominate the given ones from above and are a statistic
/// of the outputs from below (`lattice`), both to second order in Δ. The convolution is a cyclic Fourier transform
/// under the exponential tilt that centers the sum on the ε in question, so that its rounding, absolute in the tilted
/// distribution, is relative there: δ = 1e-30 is as good as 1e-3. Added to δ on the upper side and taken from it on the
/// lower: the bound of all rounding errors, what wraps around (Chernoff), the largest losses of a tiny probability,
/// which count as infinite. The probabilities of the distributions themselves are taken as given.
///
/// # Errors
/// [`Error::Length`] for no query, [`Error::Domain`] when `relative` is not in (0, 1).
///
/// # Example
/// ```
/// # use leakbound::divergence::{PrivacyLoss, compose_losses};
/// # use leakbound::prelude::*;
/// // Randomized response with truth probability 3/4, eight times: δ at ε = 4 ln 3 by the binomial distribution. A loss is exactly
/// // there, so that the upper side is as wide as it gets.
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.75, 0.25])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
/// let loss = PrivacyLoss::of_distributions(&p, &q)?;
/// let composed = compose_losses(&[(loss, 8)], Delta::new(0.1)?, 1e-4)?;
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
pub fn compose_losses(losses: &[(PrivacyLoss, u64)], delta: Delta, relative: f64) -> Result<ComposedLoss> {
    let losses: Vec<(&PrivacyLoss, u64)> = losses.iter().map(|(loss, times)| (loss, *times)).collect();
    Parts { above: &losses, below: &losses, finer: FINER_OF_KNOWN }.compose(delta, relative)
}

/// Composes independent outputs of which each loss is enclosed, with the number of times that its query was answered:
/// from above the upper ends of the enclosures, from below their lower ends, as [`compose_losses`] does each.
///
/// # Errors
/// As [`compose_losses`].
///
/// # Example
/// ```
/// # use leakbound::divergence::compose_enclosed;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::mechanism::parse;
/// # use leakbound::prelude::*;
/// // DP-SGD with noise 0.8 at a rate of 1 %, a thousand steps; the published accountants are 0.5 % apart here.
/// let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
/// let [_, remove] = parse("subsampled-gaussian:sigma=0.8,rate=0.01")?.enclosed_losses(&without, &with, 2_000)?;
/// let delta = Delta::new(1e-5)?;
/// let epsilon = compose_enclosed(&[(&remove, 1_000)], delta, 1e-3)?.epsilon(delta);
/// assert!(epsilon.lower > 3.139 && epsilon.upper < 3.143, "{epsilon:?}");
/// # Ok::<(), Error>(())
/// ```
pub fn compose_enclosed(losses: &[(&EnclosedLoss, u64)], delta: Delta, relative: f64) -> Result<ComposedLoss> {
    let [above, below]: [Vec<(&PrivacyLoss, u64)>; 2] = [
        losses.iter().map(|(loss, times)| (&loss.at_most, *times)).collect(),
        losses.iter().map(|(loss, times)| (&loss.at_least, *times)).collect(),
    ];
    let known = losses.iter().all(|(loss, _)| loss.at_most == loss.at_least);
    Parts { above: &above, below: &below, finer: if known { FINER_OF_KNOWN } else { FINER_OF_ENCLOSED } }
        .compose(delta, relative)
}

/// What is composed: each side has the losses that bound it.
#[derive(Clone, Copy)]
struct Parts<'a> {
    above: &'a [(&'a PrivacyLoss, u64)],
    below: &'a [(&'a PrivacyLoss, u64)],
    /// A step of the lattice is at least this share of the one before.
    finer: f64,
}

impl Parts<'_> {
    fn compose(self, delta: Delta, relative: f64) -> Result<ComposedLoss> {
        let Self { above, below, .. } = self;
        if above.is_empty() {
            return Err(Error::Length { quantity: "composed losses", found: 0, expected: "at least 1".into() });
        }
        if !(relative > 0.0 && relative < 1.0) {
            return Err(Error::Domain { quantity: "relative width", value: relative, domain: "(0, 1)" });
        }
        let queries: f64 = above.iter().map(|loss| loss.1 as f64).sum();
        // What is kept of every loss when the largest are set aside.
        let spare = MOVED_SHARE * relative * delta.get() / queries.max(1.0);
        let mut composed = self.without_lattice(spare);
        let Some((tilt, scale, center)) = tilt(above, spare, delta).or_else(|| tilt(below, spare, delta)) else {
            return Ok(composed);
        };
        composed.rounding = ROUNDING * terms(above, spare, tilt).max(terms(below, spare, tilt));
        let spread = (tilt * scale).max(1.0);
        let mut step = scale * (4.0 * (center.abs() / scale).max(1.0) * relative / (queries * spread)).sqrt();
        let mut best: Option<(f64, ComposedLoss)> = None;
        let most = (MOST_POINTS_OF_ALL / above.len()).next_power_of_two().clamp(POINTS_OF_ONE, MOST_POINTS);
        for _ in 0..REFINEMENTS {
            let Some((next, points, used)) = composed.on_lattice(self, spare, step, most, [tilt, scale]) else { break };
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

    /// What is known before any convolution.
    fn without_lattice(self, spare: f64) -> ComposedLoss {
        let Self { above, below, .. } = self;
        let infinite =
            |losses: &[(&PrivacyLoss, u64)]| at_least_once(losses.iter().map(|(loss, times)| (loss.infinite, *times)));
        let infinite = Bracket { lower: infinite(below), upper: infinite(above) };
        let ([largest, slack], [largest_lower, slack_lower]) = (largest(above), largest(below));
        let set_aside: Vec<(usize, f64)> = above.iter().map(|(loss, _)| kept(loss, spare)).collect();
        let rare = above.iter().zip(&set_aside).map(|((loss, times), (_, moved))| (moved + loss.infinite, *times));
        let others = above.iter().zip(&set_aside).map(|((loss, times), (count, _))| {
            times_or_zero(loss.atoms.get(*count).map_or(f64::NEG_INFINITY, |atom| atom.l), *times)
        });
        ComposedLoss {
            infinite,
            infinite_upper: infinite.upper,
            largest: if largest + slack > 0.0 { up(largest + slack, 1.0) } else { 0.0 },
            largest_lower: (largest_lower - slack_lower).max(0.0),
            // Sums of rounded terms, rounded up.
            total_variation: up(above.iter().map(|(loss, times)| *times as f64 * loss.total_variation()).sum(), 1e4),
            rare: (at_least_once(rare), up(others.sum::<f64>().max(0.0) + slack, 1e3)),
            single_valued: below.iter().all(|(loss, times)| *times == 0 || loss.atoms.len() <= 1),
            lattice: None,
            rounding: ROUNDING * above.iter().map(|loss| loss.1 as f64).sum::<f64>(),
        }
    }
}

/// The sum of the largest finite losses, and what it may lose in rounding.
fn largest(losses: &[(&PrivacyLoss, u64)]) -> [f64; 2] {
    let first = |loss: &PrivacyLoss| loss.atoms.first().map_or(f64::NEG_INFINITY, |atom| atom.l);
    let largest = losses.iter().map(|(loss, times)| times_or_zero(first(loss), *times)).sum::<f64>();
    // What sums of both signs lose in rounding.
    let size = losses.iter().map(|(loss, times)| times_or_zero(first(loss).abs(), *times)).sum::<f64>();
    [largest, if size.is_finite() { f64::EPSILON * (2.0 + losses.len() as f64) * size } else { 0.0 }]
}

/// In how many units of rounding the weights p e^{λl} of all queries are off together.
fn terms(losses: &[(&PrivacyLoss, u64)], spare: f64, tilt: f64) -> f64 {
    let of_one = |(loss, times): &(&PrivacyLoss, u64)| {
        let far = kept_atoms(loss, spare).iter().fold(0.0, |far: f64, atom| far.max(atom.l.abs()));
        *times as f64 * (2.0 + tilt * far)
    };
    losses.iter().map(of_one).sum()
}

/// The atoms of which none is set aside.
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

/// Neighboring losses as one point at their mean, with the logarithm of their probability.
fn gathered_point(atoms: &[Atom]) -> (f64, f64) {
    if let [atom] = atoms {
        return (atom.l, atom.p.ln());
    }
    let p: f64 = atoms.iter().map(|atom| atom.p).sum();
    (atoms.iter().map(|atom| atom.p * atom.l).sum::<f64>() / p, p.ln())
}

/// The exponent λ under which the mean of the sum is about ε(δ), the standard deviation there and that mean, from
/// Chernoff's bound ln δ ≈ Λ(λ) - λ Λ'(λ). None where no loss is positive to speak of.
fn tilt(losses: &[(&PrivacyLoss, u64)], spare: f64, delta: Delta) -> Option<(f64, f64, f64)> {
    let atoms: usize = losses.iter().map(|(loss, _)| loss.atoms.len()).sum();
    let together = atoms.div_ceil(MOST_POINTS_OF_TILT).max(1);
    // Logarithms once for all exponents that are tried.
    let points = |(loss, _): &(&PrivacyLoss, u64)| -> Vec<(f64, f64)> {
        kept_atoms(loss, spare).chunks(together).map(gathered_point).collect()
    };
    let points: Vec<Vec<(f64, f64)>> = losses.par_iter().map(points).collect();
    let sum = |lambda: f64| {
        let mut total = [0.0; 3];
        let of_one = |points: &Vec<(f64, f64)>| cumulants(points.iter().copied(), lambda);
        let all: Vec<[f64; 3]> = if losses.len() < MANY {
            points.iter().map(of_one).collect()
        } else {
            points.par_iter().map(of_one).collect()
        };
        for ((_, times), own) in losses.iter().zip(all) {
            if own[0] > f64::NEG_INFINITY {
                total.iter_mut().zip(own).for_each(|(total, own)| *total += *times as f64 * own);
            }
        }
        total
    };
    let scale = sum(0.0)[2].sqrt();
    // Those of a probability that stands for one below the doubles do not count.
    let counting = losses.iter().flat_map(|loss| loss.0.atoms.iter()).filter(|atom| atom.p > f64::MIN_POSITIVE);
    let extreme = counting.fold(0.0, |far: f64, atom| far.max(atom.l.abs()));
    if !(scale > 1e-100 && scale.is_finite() && extreme.is_finite()) {
        return None;
    }
    // A tail that is passed by a scale of small losses has a δ smaller than its probability by as much.
    let target = delta.get().max(1e-300).ln() - scale.min(1.0).ln();
    // Further than to the largest losses no tilt goes: it would only blow up rounding elsewhere.
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
        if short(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    let [_, mean, variance] = sum(low);
    Some((low, variance.sqrt().max(NARROWEST * scale), mean))
}

impl ComposedLoss {
    /// The profile on a lattice of about this step, the number of its points and the step used; none if none is wide
    /// enough.
    fn on_lattice(
        &self,
        parts: Parts<'_>,
        spare: f64,
        step: f64,
        most: usize,
        [tilt, scale]: [f64; 2],
    ) -> Option<(Self, usize, f64)> {
        let mut step = step;
        for _ in 0..REFINEMENTS {
            let above: Vec<(Above, u64)> =
                parts.above.par_iter().map(|(loss, times)| (Above::new(loss, step, spare), *times)).collect();
            let below: Vec<(Below, u64)> =
                parts.below.par_iter().map(|(loss, times)| (Below::new(loss, step, spare), *times)).collect();
            let sides: [(Vec<(&Masses, u64)>, f64); 3] = [
                (above.iter().map(|(one, times)| (&one.p, *times)).collect(), tilt),
                (below.iter().map(|(one, times)| (&one.p, *times)).collect(), tilt),
                (below.iter().map(|(one, times)| (&one.q, *times)).collect(), tilt + 1.0),
            ];
            let windows = sides.each_ref().map(|(side, tilt)| window(side, step, *tilt, scale, RARITY));
            let low = windows.iter().fold(f64::INFINITY, |low, window| low.min(window.0));
            let high = windows.iter().fold(f64::NEG_INFINITY, |high, window| high.max(window.1));
            let wished = (high - low) / step + 4.0;
            if !(wished <= most as f64) {
                step *= 1.01 * wished / most as f64;
                continue;
            }
            let points = (wished as usize).max(FEWEST_POINTS).next_power_of_two();
            let first = (low / step).floor() as i64 - 1;
            let convolved = sides.map(|(side, tilt)| {
                let weighted: Vec<(Masses, u64)> =
                    side.par_iter().map(|(masses, times)| (tilted(masses, step, tilt), *times)).collect();
                (convolve(weighted, points), log_moment(&side, step, tilt))
            });
            let moved = above.iter().zip(parts.above);
            let moved = at_least_once(moved.map(|((one, times), (loss, _))| (one.moved + loss.infinite, *times)));
            let profile = Profile::new(&convolved, step, first, points, tilt);
            // A suffix sum of N terms has N roundings.
            let rounding = self.rounding + points as f64 * f64::EPSILON;
            let next = Self { infinite_upper: moved, lattice: Some(profile), rounding, ..self.clone() };
            return Some((next, points, step));
        }
        None
    }

    /// δ at ε.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        let upper = self.upper_delta(epsilon.get());
        Bracket { lower: self.lower_delta(epsilon.get()).min(upper), upper }
    }

    /// ε at δ: the smallest ε ≥ 0 with δ(ε) ≤ δ, infinite where losses are infinite more often than δ.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Bracket {
        let target = delta.get();
        let upper = if self.upper_delta(0.0) <= target {
            0.0
        } else if self.infinite.upper <= target {
            self.upper_epsilon(target)
        } else {
            f64::INFINITY
        };
        let lower = if self.infinite.lower * (1.0 - SLIGHTLY) > target {
            f64::INFINITY
        } else {
            self.lower_epsilon(target, upper.min(self.largest))
        };
        Bracket { lower: lower.min(upper), upper }
    }

    /// An ε with δ(ε) ≤ δ, where the largest loss is one.
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

    /// An ε with δ(ε) > δ, as near to `upper` as the lower side has it, or 0. Far below the lower side knows little, so
    /// the search steps down from above.
    fn lower_epsilon(&self, target: f64, upper: f64) -> f64 {
        let (mut low, mut high, mut back) = (upper, upper, 1e-6 * upper);
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

    /// At least δ at ε.
    pub(in crate::divergence) fn upper_delta(&self, epsilon: f64) -> f64 {
        let infinite = self.infinite.upper * (1.0 + SLIGHTLY);
        if epsilon >= self.largest {
            return infinite.min(1.0);
        }
        // No loss is above the largest.
        let coarse = infinite + (1.0 - self.infinite.upper) * -libm::expm1(epsilon - self.largest) * (1.0 + SLIGHTLY);
        // δ(ε) ≤ δ(0), the total variation distance, which is at most the sum over the outputs. And but for the rare
        // losses no loss is above the sum of the largest others. Without these a consensus, whose rare losses are large
        // and whose other losses are next to nothing, would look as expensive as its rare losses.
        let (rare, others) = self.rare;
        let common = if epsilon < others { -libm::expm1(epsilon - others) } else { 0.0 };
        let coarse = coarse.min(self.total_variation.min(rare + (1.0 - rare) * common) * (1.0 + SLIGHTLY));
        let fine = self.lattice.as_ref().map_or(1.0, |lattice| self.fine_delta(lattice, epsilon));
        // Overflow is 1, and a bound that is no number bounds nothing.
        coarse.min(1.0).min(if fine.is_nan() { 1.0 } else { fine })
    }

    /// At least δ at ε by the lattice. Losses below its window are not on it, so that below it δ is bounded by what it is
    /// at the first point: in e^ε it is convex, and 1 at 0.
    fn fine_delta(&self, lattice: &Profile, epsilon: f64) -> f64 {
        let first = lattice.first as f64 * lattice.step;
        // A step further down there is no point of the lattice between.
        if epsilon < first - lattice.step {
            let here = self.fine_delta(lattice, first).min(1.0);
            return 1.0 - (1.0 - here) * libm::exp(epsilon - first) * (1.0 - SLIGHTLY);
        }
        let from = lattice.index_above(epsilon);
        let (p, q) = lattice.upper_p.get(from).zip(lattice.upper_q.get(from)).unwrap_or((&0.0, &0.0));
        let finite = p * (1.0 + self.rounding) - libm::exp(epsilon) * q * (1.0 - self.rounding);
        self.infinite_upper * (1.0 + SLIGHTLY) + finite.max(0.0) + lattice.beyond
    }

    /// At most δ at ε.
    pub(in crate::divergence) fn lower_delta(&self, epsilon: f64) -> f64 {
        let infinite = self.infinite.lower * (1.0 - SLIGHTLY);
        let Some(lattice) = &self.lattice else {
            let gap = if self.single_valued { -libm::expm1(epsilon - self.largest_lower) } else { 0.0 };
            return infinite + (1.0 - self.infinite.lower) * gap.max(0.0) * (1.0 - SLIGHTLY);
        };
        let growth = libm::exp(epsilon - lattice.center) * (1.0 + self.rounding);
        // Any threshold is valid; the best is near ε, where P/Q crosses e^ε, or above where less is known below.
        let value = |from: usize| lattice.lower_p[from] * (1.0 - self.rounding) - growth * lattice.lower_q[from];
        let from = lattice.index_above(epsilon).saturating_sub(THRESHOLDS);
        let best = (from..lattice.lower_p.len()).map(value).fold(0.0, f64::max);
        let sum = infinite + if best.is_finite() { best } else { 0.0 };
        if sum < 1.0 { sum.max(0.0) } else { 1.0 }
    }
}

/// Masses times e^{λx}, to sum 1.
fn tilted(masses: &Masses, step: f64, tilt: f64) -> Masses {
    let log = log_moment(&[(masses, 1)], step, tilt);
    masses
        .iter()
        .filter(|mass| mass.1 > 0.0)
        .map(|&(point, p)| (point, libm::exp(tilt * (point as f64 * step) + p.ln() - log)))
        .collect()
}

impl Profile {
    fn new(convolved: &[(CyclicDistribution, f64); 3], step: f64, first: i64, points: usize, tilt: f64) -> Self {
        let tail = libm::exp(-RARITY);
        let loss = |index: usize| (first + index as i64) as f64 * step;
        let end = loss(points);
        // Suffix sums of masses, with or less their error, times e^{log - (tilt + extra) loss}.
        let place = |index: usize| (first + index as i64).rem_euclid(points as i64) as usize;
        let suffix = |(distribution, log): &(CyclicDistribution, f64), tilt: f64, error: f64, extra: f64| {
            let mut sums = vec![0.0; points];
            let mut sum = 0.0;
            for index in (0..points).rev() {
                let mass = (distribution.mass[place(index)] + error * distribution.error).max(0.0);
                sum += mass * libm::exp(log - (tilt + extra) * loss(index));
                sums[index] = sum;
            }
            sums
        };
        let [upper, lower_p, lower_q] = convolved;
        let mut statistic_p = suffix(lower_p, tilt, -1.0, 0.0);
        // What wrapped around, from below or from above, is not there: at most twice the tail, tilted.
        for (index, sum) in statistic_p.iter_mut().enumerate() {
            *sum -= 2.0 * tail * libm::exp(lower_p.1 - tilt * loss(index));
        }
        let mass = |index: usize| lower_p.0.mass[place(index)];
        let center = loss((0..points).max_by(|&a, &b| mass(a).total_cmp(&mass(b))).unwrap_or(0));
        let moved = (lower_q.0.clone(), lower_q.1 + center);
        let mut statistic_q = suffix(&moved, tilt + 1.0, 1.0, 0.0);
        // Each of the terms may have lost what is below the doubles.
        let beyond_q = tail * libm::exp(moved.1 - (tilt + 1.0) * end) + f64::MIN_POSITIVE;
        statistic_q.iter_mut().for_each(|sum| *sum += beyond_q);
        Self {
            step,
            first,
            upper_p: suffix(upper, tilt, 1.0, 0.0),
            // Of the same masses as Σ P, so that every term of their difference is positive.
            upper_q: suffix(upper, tilt, 1.0, 1.0),
            lower_p: statistic_p,
            lower_q: statistic_q,
            center,
            beyond: tail * libm::exp(upper.1 - tilt * end),
        }
    }

    /// The first point above ε.
    fn index_above(&self, epsilon: f64) -> usize {
        let place = (epsilon / self.step).floor() + 1.0 - self.first as f64;
        place.clamp(0.0, self.upper_p.len() as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::OutcomeDistribution;

    /// Without a lattice: rare losses, and the others at most their sum.
    #[test]
    fn rare_losses_and_the_sum_of_the_others_bound_the_profile() {
        let composed = ComposedLoss {
            infinite: Bracket { lower: 0.0, upper: 0.0 },
            infinite_upper: 0.0,
            largest: 10.0,
            largest_lower: 10.0,
            total_variation: 1.0,
            rare: (0.5, 1.0),
            single_valued: false,
            lattice: None,
            rounding: 0.0,
        };
        let expected = 0.5 + 0.5 * (1.0 - (-0.5f64).exp());
        assert!((composed.upper_delta(0.5) - expected).abs() < 1e-9, "{}", composed.upper_delta(0.5));
        assert!((composed.upper_delta(2.0) - 0.5).abs() < 1e-9);
    }

    /// A lattice that is much too fine is made coarser by as much as the points allow, and no further.
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
        let (_, points, used) = composed.on_lattice(parts, 0.0, 1e-9 * scale, most, [tilt, scale]).unwrap();
        assert!(points == most && used < 0.1 * scale, "{points} {used} {scale}");
    }
}
