//! The 2-cut within a half-space p - q ≥ Δ: one linear functional instead of a rectangle.

use crate::bound::{Direction, LowerBound, Validity};
use crate::divergence::bernoulli_renyi;
use crate::error::Result;
use crate::interval::{
    BinomialCounts, LevelSplit, LinearFunctional, ProportionLimit, SimplexBox, clopper_pearson_lower,
    clopper_pearson_upper,
};
use crate::quantity::{Delta, FailureProbability, Order};

const METHOD: &str = "two-cut-half-space";
/// A bound is rounded down by this share, well above the rounding of a divergence and of the points it is taken at.
const MARGIN: f64 = 1e-11;
/// Bisection steps: the bracket shrinks to the spacing of doubles.
const STEPS: usize = 70;

/// What is known of p = P(O) and q = Q(O) for an output set O of which P(O) ≥ Q(O) is expected: a wide box and
/// p - q ≥ Δ, all of which hold at once except with the failure probability.
///
/// A rectangle pays a quantile for p and one for q; their difference needs only one, z_g sd(p̂ - q̂) against
/// 2 z_{g/2} sd(p̂), and so 2.8 times fewer samples for the same bound. Δ is the lower limit of p - q whose deviation
/// (Berry-Esseen or Bennett) takes nine tenths of the failure probability; the limits of p and q, which bound the
/// variance, share the tenth that is left. All orders, both directions and ε come from the one event.
///
/// The set must not have been chosen by looking at these counts. Where P(O) ≥ Q(O) is wrong the bounds are weak or 0,
/// never invalid.
///
/// ```
/// # use leakbound::{BinomialCounts, Direction, FailureProbability, HalfSpace, Order, Rectangle};
/// let (inside, inside_neighbor) = (BinomialCounts::new(6_000, 10_000)?, BinomialCounts::new(5_000, 10_000)?);
/// let (failure, order) = (FailureProbability::new(0.05)?, Order::new(2.0)?);
/// let half_space = HalfSpace::new(inside, inside_neighbor, failure)?.bound(order, Direction::Forward);
/// let rectangle = Rectangle::two_tails(inside, inside_neighbor, failure)?.corner(order, Direction::Forward);
/// // f(0.6, 0.5) at the frequencies themselves would be ln(1.04) = 0.0392.
/// assert!((half_space.value - 0.0301).abs() < 1e-4 && rectangle.value < 0.0266);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    p_low: ProportionLimit,
    p_high: ProportionLimit,
    q_low: ProportionLimit,
    q_high: ProportionLimit,
    /// Δ, at most p - q.
    difference: f64,
    failure: FailureProbability,
}

/// A proportion with its complement.
type Side = (f64, f64);

fn side(limit: ProportionLimit) -> Side {
    (limit.value, limit.complement)
}

impl HalfSpace {
    /// The box and the half-space from the counts inside O under the dataset and under its neighbour.
    ///
    /// # Errors
    /// As [`clopper_pearson_lower`].
    pub fn new(inside: BinomialCounts, inside_neighbor: BinomialCounts, failure: FailureProbability) -> Result<Self> {
        let LevelSplit { tail, main } = LevelSplit::new(failure, 2 * SimplexBox::tails(2));
        let mut difference = LinearFunctional::default();
        for (world, sign) in [(inside, 1.0), (inside_neighbor, -1.0)] {
            let counts = [world.successes(), world.trials() - world.successes()];
            difference.add(&counts, &[sign, 0.0], &SimplexBox::clopper_pearson(&counts, tail)?);
        }
        Ok(Self {
            p_low: clopper_pearson_lower(inside, tail)?,
            p_high: clopper_pearson_upper(inside, tail)?,
            q_low: clopper_pearson_lower(inside_neighbor, tail)?,
            q_high: clopper_pearson_upper(inside_neighbor, tail)?,
            difference: difference.lower_limit(main),
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
    /// f(p, q) = p^α q^{1-α} + (1-p)^α (1-q)^{1-α} increases in p and decreases in q where p ≥ q, so its minimum over
    /// {box, p - q ≥ Δ} is at the corner (p_l, q_u) where that lies in the half-space, and otherwise on the segment
    /// p = q + Δ from q = max(q_l, p_l - Δ) to q_u: at every other point p can fall or q can rise. On the segment f is
    /// convex in q, so its tangent at any point is below it, and the least value of the tangent on the segment is what
    /// is returned: a search that ended early would loosen the bound, not break it. Rounded down by a relative 1e-11.
    ///
    /// # References
    /// Chadha et al. (2024), "Auditing Private Prediction", Eq. (3), for the 2-cut.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
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
    /// For each q, P(O) is at least p_l and at least q + Δ; both (p_l - δ)/q and 1 + (Δ - δ)/q, for Δ > δ, fall with q
    /// and are taken at q_u. The reverse is the same with the complements, for Q(Oᶜ) - P(Oᶜ) ≥ Δ too. Sharp for small
    /// ε; where Q(O) is rare the interval of Clopper and Pearson, which spends its failure probability on Q(O) itself,
    /// is sharper. Rounded down by a relative 1e-11.
    #[must_use]
    pub fn epsilon(&self, delta: Delta, direction: Direction) -> LowerBound {
        let (low, high) = match direction {
            Direction::Forward => (self.p_low.value, self.q_high.value),
            Direction::Reverse => (self.q_high.complement, self.p_low.complement),
        };
        let from_box = ((low - delta.get()) / high).ln() - MARGIN;
        let from_difference = libm::log1p((self.difference - delta.get()) / high);
        // The larger of the two, either of which is NaN where it says nothing.
        self.lower_bound(from_box.max(from_difference) * (1.0 - MARGIN))
    }

    /// The ends in q of the part of the line p = q + Δ that the minimum can lie on; None where a corner is the minimum.
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

    /// A lower bound of the minimum of D_α on the segment.
    fn least_on_segment(&self, (start, end): (f64, f64), order: Order, direction: Direction) -> f64 {
        let (mut low, mut high) = (start, end);
        let mut best: f64 = 0.0;
        let mut q = end;
        for _ in 0..STEPS {
            let (value, slope) = self.value_and_slope(q, order, direction);
            // F ≥ F_0 (1 - u) on the segment, with u what the tangent falls by to its lower end.
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

    /// D_α at (q + Δ, q), and the logarithmic slope of F = e^{(α-1) D_α} in q as its size, rounded up, and whether it
    /// is positive.
    ///
    /// With x = p and y = q, or the other way round, dF/dq = G(ln x/y) - G(ln (1-x)/(1-y)) for
    /// G(l) = α e^{(α-1)l} - (α-1) e^{αl}.
    fn value_and_slope(&self, q: f64, order: Order, direction: Direction) -> (f64, (f64, bool)) {
        let a = order.get();
        let (p, q) = self.point(q);
        let (inside, outside) = ((p.0 / q.0).ln(), (p.1 / q.1).ln());
        // Relative to the smaller change, which the quotients have lost where the points are close.
        let change = p.0 - q.0;
        let inside = if inside.abs() < 0.5 { libm::log1p(change / q.0) } else { inside };
        let outside = if outside.abs() < 0.5 { libm::log1p(-change / q.1) } else { outside };
        let (value, inside, outside) = match direction {
            Direction::Forward => (bernoulli_renyi(p, q, order), inside, outside),
            Direction::Reverse => (bernoulli_renyi(q, p, order), -inside, -outside),
        };
        if !(value < f64::INFINITY) {
            // Forward F grows without bound to the left, where q = 0; reverse to the right, where p = 1.
            return (value, (f64::INFINITY, direction == Direction::Reverse));
        }
        let log_f = (a - 1.0) * value;
        // How far the rounding of p moves the logarithms: the complement has lost what its own size is below 1.
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

    /// (p, 1-p), (q, 1-q) with p at most q + Δ: f increases in p.
    fn point(&self, q: f64) -> (Side, Side) {
        let p = (q + self.difference) * (1.0 - f64::EPSILON);
        let p = if p < 0.5 {
            (p, 1.0 - p)
        } else {
            // The error of Δ is that of a number of size 1, whatever the complement is.
            let other = (1.0 - self.difference - q + 2.0 * f64::EPSILON).clamp(0.0, 1.0);
            (1.0 - other, other)
        };
        (p, (q, 1.0 - q))
    }

    fn lower_bound(&self, value: f64) -> LowerBound {
        LowerBound {
            value: if value > 0.0 { value } else { 0.0 },
            failure_probability: self.failure,
            method: METHOD,
            validity: Validity::FiniteSample,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::variational::tests::{FIG_6, FIVE, TEN, laws, share as share_of};
    use crate::audit::{OutputSet, OutputSets, Rectangle, SetSource};
    use proptest::prelude::*;

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    fn order(a: f64) -> Order {
        Order::new(a).unwrap()
    }

    fn half_space(k: u64, n: u64, l: u64, m: u64, f: f64) -> HalfSpace {
        HalfSpace::new(BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, m).unwrap(), failure(f)).unwrap()
    }

    /// Methods 1.4: the share of the divergence that is certified at the frequencies of the laws.
    fn share(p: f64, q: f64, n: f64, a: f64) -> f64 {
        let space = half_space((p * n).round() as u64, n as u64, (q * n).round() as u64, n as u64, 0.05);
        space.bound(order(a), Direction::Forward).value / bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), order(a))
    }

    /// Two classes at a tie, 250 votes, Gaussian noise of scale 40: p = ½ against Φ(-2/(40√2)).
    #[test]
    fn a_tie_is_certified_as_tabulated() {
        let q = crate::special::ndtr(-2.0 / (40.0 * std::f64::consts::SQRT_2));
        for (n, expected) in [(1e5, [0.531, 0.534]), (1e6, [0.837, 0.838]), (1e8, [0.983, 0.983])] {
            for (a, expected) in [2.0, 10.0].into_iter().zip(expected) {
                let found = share(0.5, q, n, a);
                println!("n = {n:e}, order {a}: {found:.3}, tabulated {expected}");
                assert!((found - expected).abs() < 0.02, "{n} {a}: {found}");
            }
        }
    }

    /// Methods 1.4: sets of the exact laws, at the frequencies of the laws.
    #[test]
    fn cuts_of_many_classes_are_certified_as_tabulated() {
        for (case, n, expected) in [
            (FIG_6, 1e5, [0.948, 0.979]),
            (FIG_6, 1e8, [0.972, 0.999]),
            (FIVE, 1e5, [0.445, 0.453]),
            (FIVE, 1e8, [0.875, 0.890]),
            (TEN, 1e5, [0.328, 0.340]),
            (TEN, 1e6, [0.600, 0.626]),
            (TEN, 1e8, [0.736, 0.769]),
        ] {
            let [p, q] = laws(case);
            for (a, expected) in [2.0, 10.0].into_iter().zip(expected) {
                let sets = OutputSets::from_laws(&p, &q, &[order(a)], SetSource::ExactLaw).unwrap().sets;
                let found = share_of(case, n, order(a), |counts, _| {
                    let bound = |set: &OutputSet| {
                        let [inside, inside_neighbor] = set.inside(counts).unwrap();
                        HalfSpace::new(inside, inside_neighbor, failure(0.05)).unwrap()
                    };
                    let bounds = sets.iter().map(|set| bound(set).bound(order(a), Direction::Forward).value);
                    bounds.fold(0.0, f64::max)
                });
                println!("{:?}, n = {n:e}, order {a}: {found:.3}, tabulated {expected}", case.0);
                assert!((found - expected).abs() < 0.02, "{:?} {n} {a}: {found}", case.0);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The certificate against a fine grid of the region.
        #[test]
        fn the_bound_is_the_minimum_over_the_region(
            n in prop_oneof![Just(30u64), Just(3_000), Just(1_000_000)],
            x in 0.0f64..1.0, y in 0.0f64..1.0, a in 1.01f64..40.0, forward in any::<bool>(),
        ) {
            let space = half_space((x * n as f64) as u64, n, (y * n as f64) as u64, n, 0.05);
            let direction = if forward { Direction::Forward } else { Direction::Reverse };
            let bound = space.bound(order(a), direction).value;
            let mut least = f64::INFINITY;
            for i in 0..=400 {
                let q = space.q_low.value + (space.q_high.value - space.q_low.value) * f64::from(i) / 400.0;
                let p = (q + space.difference).max(space.p_low.value).max(q.min(space.p_high.value));
                if p <= space.p_high.value {
                    let (p, q) = ((p, 1.0 - p), (q, 1.0 - q));
                    least = least.min(match direction {
                        Direction::Forward => bernoulli_renyi(p, q, order(a)),
                        Direction::Reverse => bernoulli_renyi(q, p, order(a)),
                    });
                }
            }
            prop_assert!(bound <= least * (1.0 + 1e-9) + 1e-13, "{bound} {least}");
            prop_assert!(bound >= least * 0.99 - 1e-9, "{bound} {least}");
        }

        /// Any counts, orders and levels: finite and never NaN.
        #[test]
        fn extreme_counts_give_numbers(
            n in prop_oneof![Just(1u64), Just(7), Just(1_000_000_000_000)], m in prop_oneof![Just(1u64), Just(1 << 53)],
            x in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0], y in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0],
            a in prop_oneof![Just(1.0 + 1e-12), Just(1e5), Just(1e300), 1.1f64..60.0],
            f in prop_oneof![Just(1e-300), Just(0.999), Just(0.05)],
        ) {
            let space = half_space((x * n as f64) as u64, n, (y * m as f64) as u64, m, f);
            for direction in Direction::BOTH {
                prop_assert!(space.bound(order(a), direction).value.is_finite());
                let epsilon = space.epsilon(Delta::new(1e-5).unwrap(), direction).value;
                prop_assert!(epsilon >= 0.0 && epsilon.is_finite());
            }
        }
    }

    /// Close laws: the half-space needs 2.8 times fewer samples than the rectangle.
    #[test]
    fn the_half_space_beats_the_rectangle_at_small_signals() {
        let (k, l, n) = (510_000, 500_000, 1_000_000);
        let rectangle =
            Rectangle::two_tails(BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, n).unwrap(), failure(0.05))
                .unwrap();
        for a in [1.5, 2.0, 32.0] {
            for direction in Direction::BOTH {
                let bound = half_space(k, n, l, n, 0.05).bound(order(a), direction).value;
                assert!(bound > 1.05 * rectangle.corner(order(a), direction).value);
            }
        }
    }

    /// Every pair of binomial counts with its probability: no bound exceeds the true divergence more often than stated.
    #[test]
    fn the_exact_failure_rate_stays_below_the_level() {
        let (n, f) = (40u64, 0.2);
        for (p, q) in [(0.5, 0.5), (0.55, 0.5), (0.9, 0.4), (0.05, 0.02), (0.2, 0.6)] {
            for a in [1.5, 8.0] {
                for direction in Direction::BOTH {
                    let (x, y) = if direction == Direction::Forward { (p, q) } else { (q, p) };
                    let (truth, ratio) = (bernoulli_renyi((x, 1.0 - x), (y, 1.0 - y), order(a)), (p / q).ln());
                    let other = ((1.0 - q) / (1.0 - p)).ln();
                    let (mut rate, mut epsilon_rate) = (0.0, 0.0);
                    for k in 0..=n {
                        for l in 0..=n {
                            let space = half_space(k, n, l, n, f);
                            let weight = (crate::special::log_binomial_pmf(k, n, p)
                                + crate::special::log_binomial_pmf(l, n, q))
                            .exp();
                            if space.bound(order(a), direction).value > truth {
                                rate += weight;
                            }
                            let epsilon =
                                if direction == Direction::Forward { ratio.max(-other) } else { other.max(-ratio) };
                            if space.epsilon(Delta::new(0.0).unwrap(), direction).value > epsilon.max(0.0) {
                                epsilon_rate += weight;
                            }
                        }
                    }
                    assert!(rate <= f && epsilon_rate <= f, "{p} {q} {a} {direction}: {rate} {epsilon_rate}");
                }
            }
        }
    }
}
