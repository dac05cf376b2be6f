//! The 2-cut within a half-space p - q ≥ Δ: one linear functional instead of a rectangle.

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use crate::bound::{Direction, LowerBound, Validity};
use crate::divergence::bernoulli_renyi;
use crate::error::Result;
use crate::interval::{
    BinomialCounts, LevelSplit, Limited, LinearFunctional, ProportionLimit, SimplexBox, clopper_pearson_lower,
    clopper_pearson_upper, difference_width,
};
use crate::quantity::{Delta, FailureProbability, Order};

pub(super) const TWO_CUT_HALF_SPACE: MethodRow = MethodRow {
    name: "two-cut-half-space",
    when: "One output set, and the two worlds are close: it needs fewer samples than the corner.",
    guarantee: Guarantee::OwnEvent,
    needs: Needs::Direction,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let share = task.share_of_set(1);
        let spaces = task.inside()?.into_iter().map(|[p, q]| HalfSpace::new(p, q, share));
        let spaces = spaces.collect::<Result<Vec<_>>>()?;
        Ok(sure(move |order, direction| task.largest(spaces.iter().map(|s| s.bound(order, direction)))))
    }),
};
/// A bound is rounded down by this share, well above the rounding errors of a divergence and its arguments.
const MARGIN: f64 = 1e-11;
/// Number of bisection steps: the bracket shrinks to the spacing of doubles.
const STEPS: usize = 70;

/// Limits of p = P(O) and q = Q(O) for an output set O with expected P(O) ≥ Q(O): a wide box and p - q ≥ Δ, which hold
/// simultaneously except with the failure probability.
///
/// A rectangle pays a quantile for p and one for q; their difference needs only one, z_g sd(p̂ - q̂) compared with 2
/// z_{g/2} sd(p̂), and so 2.8 times fewer samples for the same bound. Δ is the lower limit of p - q whose deviation
/// (Berry-Esseen or Bennett) takes nine tenths of the failure probability; the limits of p and q, which bound the
/// variance, share the remaining tenth. All orders, both directions and ε come from this one event.
///
/// The set must not have been chosen by looking at these counts. If P(O) ≥ Q(O) is wrong, the bounds are weak or 0,
/// never invalid.
///
/// ```
/// # use leakbound::audit::{HalfSpace, Rectangle};
/// # use leakbound::bound::Direction;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::quantity::{FailureProbability, Order};
/// let (inside, inside_neighbor) = (BinomialCounts::new(6_000, 10_000)?, BinomialCounts::new(5_000, 10_000)?);
/// let (failure, order) = (FailureProbability::new(0.05)?, Order::new(2.0)?);
/// let half_space = HalfSpace::new(inside, inside_neighbor, failure)?.bound(order, Direction::Forward);
/// let rectangle = Rectangle::two_tails(inside, inside_neighbor, failure)?.corner(order, Direction::Forward);
/// // f(0.6, 0.5) at the frequencies themselves would be ln(1.04) = 0.0392.
/// assert!((half_space.value - 0.0303).abs() < 1e-4 && (rectangle.value - 0.0256).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The half-space is this library's own, proved at [`HalfSpace::bound`]; Chadha et al. (2024), "Auditing Private
/// Prediction", Eq. (3), for the 2-cut; Bennett (1962), "Probability inequalities for the sum of independent random
/// variables", and Tyurin (2009), "New estimates of the convergence rate in the Lyapunov theorem", for the deviation;
/// Clopper and Pearson (1934) for the limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    p_low: ProportionLimit,
    p_high: ProportionLimit,
    q_low: ProportionLimit,
    q_high: ProportionLimit,
    /// Δ, a lower bound on p - q.
    difference: f64,
    /// True if p is Q(Oᶜ) and q is P(Oᶜ), which leaves p - q unchanged and exchanges the directions: if a set has large
    /// probability, its complement has the digits.
    mirrored: bool,
    failure: FailureProbability,
}

/// A proportion with its complement.
type Side = (f64, f64);

fn side(limit: ProportionLimit) -> Side {
    (limit.value, limit.complement)
}

impl HalfSpace {
    /// The box and the half-space from the counts inside O under the dataset and under its neighbor.
    ///
    /// # Errors
    /// As [`clopper_pearson_lower`].
    pub fn new(inside: BinomialCounts, inside_neighbor: BinomialCounts, failure: FailureProbability) -> Result<Self> {
        let frequency = |counts: BinomialCounts| counts.successes() as f64 / counts.trials() as f64;
        let mirrored = frequency(inside) + frequency(inside_neighbor) > 1.0;
        let (inside, inside_neighbor) =
            if mirrored { (inside_neighbor.mirrored(), inside.mirrored()) } else { (inside, inside_neighbor) };
        let LevelSplit { tail, main } = LevelSplit::new(failure, 2 * SimplexBox::tails(2));
        let mut difference = LinearFunctional::default();
        for (world, sign) in [(inside, 1.0), (inside_neighbor, -1.0)] {
            let counts = [world.successes(), world.trials() - world.successes()];
            difference.add(&counts, &[sign, 0.0], &SimplexBox::clopper_pearson(&counts, tail)?);
        }
        let limited = |world: BinomialCounts| {
            let (low, high) = (clopper_pearson_lower(world, tail)?, clopper_pearson_upper(world, tail)?);
            Ok::<_, crate::error::Error>(Limited { low, high, trials: world.trials() })
        };
        let (p, q) = (limited(inside)?, limited(inside_neighbor)?);
        Ok(Self {
            p_low: p.low,
            p_high: p.high,
            q_low: q.low,
            q_high: q.high,
            difference: difference.below_estimate(difference_width(p, q, main)),
            mirrored,
            failure,
        })
    }

    /// The lower limit Δ of P(O) - Q(O).
    #[must_use]
    pub const fn difference(&self) -> f64 {
        self.difference
    }

    /// Lower bound of D_α: the smallest 2-cut divergence in box and half-space.
    ///
    /// f(p, q) = p^α q^{1-α} + (1-p)^α (1-q)^{1-α} increases in p and decreases in q for p ≥ q, so its minimum over
    /// {box, p - q ≥ Δ} is at the corner (p_l, q_u) if that lies in the half-space, and otherwise on the segment p =
    /// q + Δ from q = max(q_l, p_l - Δ) to q_u: at every other point p can decrease or q can increase. On the segment f
    /// is convex in q, so its tangent at any point is below it, and the returned value is the minimum of the tangent on
    /// the segment: a search that ended early would loosen the bound, not break it. Rounded down by a relative 1e-11.
    ///
    /// # References
    /// Chadha et al. (2024), "Auditing Private Prediction", Eq. (3), for the 2-cut.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
        let direction = self.internal(direction);
        let divergence = |p: Side, q: Side| match direction {
            Direction::Forward => bernoulli_renyi(p, q, order),
            Direction::Reverse => bernoulli_renyi(q, p, order),
        };
        let value = if self.q_low.is_above(self.p_high) {
            divergence(side(self.p_high), side(self.q_low))
        } else {
            let corner =
                if self.p_low.is_above(self.q_high) { divergence(side(self.p_low), side(self.q_high)) } else { 0.0 };
            match self.segment() {
                Some(ends) => corner.max(self.least_on_segment(ends, order, direction)),
                None => corner,
            }
        };
        self.lower_bound(value * (1.0 - MARGIN))
    }

    /// Lower bound of ε at δ: forward ln((P(O) - δ)/Q(O)), reverse ln((Q(Oᶜ) - δ)/P(Oᶜ)).
    ///
    /// For each q, P(O) is at least p_l and at least q + Δ; both (p_l - δ)/q and 1 + (Δ - δ)/q, for Δ > δ, decrease in
    /// q and are taken at q_u. The reverse uses the complements likewise, since Q(Oᶜ) - P(Oᶜ) ≥ Δ as well. Sharp for
    /// small ε; if Q(O) is rare, the interval of Clopper and Pearson, which spends its failure probability on Q(O)
    /// itself, is sharper. Rounded down by a relative 1e-11.
    #[must_use]
    pub fn epsilon(&self, delta: Delta, direction: Direction) -> LowerBound {
        let (low, high) = match self.internal(direction) {
            Direction::Forward => (self.p_low.value, self.q_high.value),
            Direction::Reverse => (self.q_high.complement, self.p_low.complement),
        };
        let from_box = ((low - delta.get()) / high).ln() - MARGIN;
        let from_difference = libm::log1p((self.difference - delta.get()) / high);
        // The larger of the two; either one is NaN if it gives no bound.
        self.lower_bound(from_box.max(from_difference) * (1.0 - MARGIN))
    }

    /// The direction between the distributions of p and q.
    const fn internal(&self, direction: Direction) -> Direction {
        match (self.mirrored, direction) {
            (false, direction) => direction,
            (true, Direction::Forward) => Direction::Reverse,
            (true, Direction::Reverse) => Direction::Forward,
        }
    }

    /// The ends in q of the part of the line p = q + Δ that may contain the minimum; `None` if a corner is the minimum.
    fn segment(&self) -> Option<(f64, f64)> {
        let delta = self.difference;
        if !(delta > 0.0) {
            return None;
        }
        // Rounded outwards: a longer segment has a smaller minimum.
        let slack = 4.0 * f64::EPSILON;
        let low = (self.p_low.value - delta - slack * self.p_low.value).max(self.q_low.value);
        let high = (self.p_high.value - delta + slack * self.p_high.value).min(self.q_high.value);
        (low < high).then_some((low, high))
    }

    /// A lower bound on the minimum of D_α on the segment.
    fn least_on_segment(&self, (start, end): (f64, f64), order: Order, direction: Direction) -> f64 {
        let (mut low, mut high) = (start, end);
        let mut best: f64 = 0.0;
        let mut q = end;
        for _ in 0..STEPS {
            let (value, slope) = self.value_and_slope(q, order, direction);
            // F ≥ F_0 (1 - u) on the segment, where u is the fall of the tangent to its lower end.
            let (outward, rising) = slope;
            let fall = if rising { outward * (q - start) } else { outward * (end - q) };
            let certified = value + libm::log1p(-fall) / (order.get() - 1.0);
            if certified > best && value < f64::INFINITY {
                best = certified;
            }
            if rising {
                high = q;
            } else {
                low = q;
            }
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) || fall == 0.0 {
                break;
            }
            q = middle;
        }
        best
    }

    /// D_α at (q + Δ, q), and the logarithmic slope of F = e^{(α-1) D_α} in q: its size, rounded up, and whether it is
    /// positive.
    ///
    /// With x = p and y = q, or the reverse, dF/dq = G(ln x/y) - G(ln (1-x)/(1-y)) for G(l) = α e^{(α-1)l} - (α-1)
    /// e^{αl}.
    fn value_and_slope(&self, q: f64, order: Order, direction: Direction) -> (f64, (f64, bool)) {
        let a = order.get();
        let (p, q) = self.point(q);
        let (inside, outside) = ((p.0 / q.0).ln(), (p.1 / q.1).ln());
        // Relative to the smaller change, which the quotients lose if the points are close.
        let change = p.0 - q.0;
        let inside = if inside.abs() < 0.5 { libm::log1p(change / q.0) } else { inside };
        let outside = if outside.abs() < 0.5 { libm::log1p(-change / q.1) } else { outside };
        let (value, inside, outside) = match direction {
            Direction::Forward => (bernoulli_renyi(p, q, order), inside, outside),
            Direction::Reverse => (bernoulli_renyi(q, p, order), -inside, -outside),
        };
        if !(value < f64::INFINITY) {
            // Forward, F grows without bound to the left, where q = 0; in reverse, to the right, where p = 1.
            return (value, (f64::INFINITY, direction == Direction::Reverse));
        }
        let log_f = (a - 1.0) * value;
        // The effect of rounding p on the logarithms: the smaller the complement, the more digits it has lost.
        let blur = [1.0, 1.0 / p.1.max(f64::MIN_POSITIVE)];
        let term = |factor: f64, exponent: f64, blur: f64| {
            let scaled =
                if log_f <= 1.0 { libm::expm1(exponent) * libm::exp(-log_f) } else { libm::exp(exponent - log_f) };
            let size = if exponent.is_finite() { blur * exponent.abs() * libm::exp(exponent - log_f) } else { 0.0 };
            (factor * scaled, f64::EPSILON * 8.0 * factor * (scaled.abs() + size))
        };
        let terms = [
            (1.0, term(a, (a - 1.0) * inside, blur[0])),
            (-1.0, term(a - 1.0, a * inside, blur[0])),
            (-1.0, term(a, (a - 1.0) * outside, blur[1])),
            (1.0, term(a - 1.0, a * outside, blur[1])),
        ];
        let slope: f64 = terms.iter().map(|(sign, (term, _))| sign * term).sum();
        let error: f64 = terms.iter().map(|(_, (_, error))| error).sum();
        (value, (slope.abs() + error, slope > 0.0))
    }

    /// (p, 1-p), (q, 1-q) with p at most q + Δ or p_l, which is no larger on the segment: f increases in p.
    fn point(&self, q: f64) -> (Side, Side) {
        let p = (q + self.difference) * (1.0 - f64::EPSILON);
        let p = if p < 0.5 {
            (p, 1.0 - p)
        } else {
            // The error of Δ is that of a number of size 1, for any complement.
            let other = (1.0 - self.difference - q + 2.0 * f64::EPSILON).clamp(0.0, self.p_low.complement);
            (1.0 - other, other)
        };
        (p, (q, 1.0 - q))
    }

    fn lower_bound(&self, value: f64) -> LowerBound {
        LowerBound::new(value, self.failure, TWO_CUT_HALF_SPACE.name, Validity::FiniteSample)
    }
}

#[cfg(test)]
mod tests;
