//! The confidence rectangle of (P(O), Q(O)) for one output set O, and the lower bounds it implies.

use crate::bound::{Direction, LowerBound, Validity};
use crate::divergence::bernoulli_renyi;
use crate::error::Result;
use crate::interval::{BinomialCounts, ProportionLimit, clopper_pearson_lower, clopper_pearson_upper};
use crate::quantity::{Delta, Epsilon, FailureProbability, Order};
use crate::special::ndtri;

/// Clopper-Pearson limits of p = P(O) and q = Q(O), which hold simultaneously except with the failure probability.
///
/// An output set must be chosen before the counts are seen: from an exact distribution, a pilot, or as one of a fixed
/// list.
///
/// ```
/// # use leakbound::audit::Rectangle;
/// # use leakbound::bound::Direction;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::quantity::{FailureProbability, Order};
/// let (inside, inside_neighbor) = (BinomialCounts::new(6_000, 10_000)?, BinomialCounts::new(5_000, 10_000)?);
/// let rectangle = Rectangle::four_tails(inside, inside_neighbor, FailureProbability::new(0.05)?)?;
/// let bound = rectangle.corner(Order::new(2.0)?, Direction::Forward);
/// // f(0.6, 0.5) at the frequencies themselves would be ln(1.04) = 0.0392.
/// assert!((bound.value - 0.0238).abs() < 1e-4);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    p_low: ProportionLimit,
    p_high: ProportionLimit,
    q_low: ProportionLimit,
    q_high: ProportionLimit,
    failure: FailureProbability,
}

/// A bound from the corner is rounded down by this share, well above the rounding error of a divergence whose arguments
/// are already rounded outwards by 2^-46.
const CORNER_MARGIN: f64 = 1e-12;
/// The termwise bound adds two rounded powers; it is also kept below the corner bound, which it can equal.
const TERMWISE_MARGIN: f64 = 4e-12;

impl Rectangle {
    /// All four limits, if it is not known which of P(O) and Q(O) is larger: a quarter of the failure probability for
    /// each.
    ///
    /// # Errors
    /// As [`clopper_pearson_lower`].
    pub fn four_tails(p: BinomialCounts, q: BinomialCounts, failure: FailureProbability) -> Result<Self> {
        let tail = failure.split(4);
        let limits = |counts| Result::Ok([clopper_pearson_lower(counts, tail)?, clopper_pearson_upper(counts, tail)?]);
        Ok(Self::from_limits(limits(p)?, limits(q)?, failure))
    }

    /// Only a lower limit of P(O) and an upper limit of Q(O), half of the failure probability for each: for a set O for
    /// which P(O) ≥ Q(O) is expected from a distribution or a pilot. If that expectation is wrong, the bounds are 0,
    /// never invalid.
    ///
    /// # Errors
    /// As [`clopper_pearson_lower`].
    pub fn two_tails(p: BinomialCounts, q: BinomialCounts, failure: FailureProbability) -> Result<Self> {
        let tail = failure.split(2);
        let (p, q) = (
            [clopper_pearson_lower(p, tail)?, ProportionLimit::ONE],
            [ProportionLimit::ZERO, clopper_pearson_upper(q, tail)?],
        );
        Ok(Self::from_limits(p, q, failure))
    }

    /// From the privacy loss ln(P(x)/Q(x)) of one output x, drawn from P, with both probabilities known: x is
    /// everything answered in a run, however later answers depended on earlier ones.
    ///
    /// For O = {x : ln(P(x)/Q(x)) ≥ l} at the observed loss l, P(O) ≥ β except with probability β: P(O) is the p-value
    /// of l. Every output of O has Q(x) ≤ e^{-l} P(x), so Q(O) ≤ e^{-l} P(O). Of all pairs with P(O) = p ≥ β, the least
    /// distinguishable is p = β, q = β e^{-l}: keeping O with probability β/p, and otherwise calling it the complement,
    /// turns every other pair into this one. Bounds of ε at δ are therefore l + ln(1 - δ/β). Losses above about 700
    /// show the same as 700, because e^{-l} would leave the range of doubles.
    ///
    /// ```
    /// # use leakbound::audit::Rectangle;
    /// # use leakbound::bound::Direction;
    /// # use leakbound::quantity::{Delta, FailureProbability};
    /// let rectangle = Rectangle::of_observed_loss(10.0, FailureProbability::new(0.05)?);
    /// let bound = rectangle.epsilon(Delta::new(0.01)?, Direction::Forward);
    /// assert!((bound.value - (10.0 + 0.8f64.ln())).abs() < 1e-9);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn of_observed_loss(loss: f64, failure: FailureProbability) -> Self {
        let p_low = failure.get();
        // Rounded up, because the sum of many logarithms is not exact; a loss of NaN shows nothing.
        let shrunk = p_low * libm::exp(-loss) * (1.0 + CORNER_MARGIN);
        let q_high = match loss {
            f64::INFINITY => 0.0,
            // A finite loss leaves Q(O) some mass, even if a double has none.
            _ if loss > 0.0 => shrunk.clamp(f64::MIN_POSITIVE, 1.0),
            _ => 1.0,
        };
        let limit = |value: f64| ProportionLimit { value, complement: 1.0 - value };
        Self {
            p_low: limit(p_low),
            p_high: ProportionLimit::ONE,
            q_low: ProportionLimit::ZERO,
            q_high: limit(q_high),
            failure,
        }
    }

    /// The corner of the rectangle nearest to p = q, as (p, q) with their complements; `None` if the rectangle meets
    /// the diagonal.
    fn nearest_corner(&self) -> Option<(ProportionLimit, ProportionLimit)> {
        if self.p_low.is_above(self.q_high) {
            Some((self.p_low, self.q_high))
        } else if self.q_low.is_above(self.p_high) {
            Some((self.p_high, self.q_low))
        } else {
            None
        }
    }

    /// Lower bound of D_α from the nearest corner: the smallest 2-cut divergence in the rectangle.
    ///
    /// With f(p, q) = p^α q^{1-α} + (1-p)^α (1-q)^{1-α}, f increases in p where p ≥ q and decreases in q where q ≤ p
    /// (mirrored below the diagonal), so its minimum over the rectangle is at the corner nearest to the diagonal, or 1
    /// if the rectangle meets it. By data processing ln f/(α-1) ≤ D_α. The same rectangle serves all orders and both
    /// directions with one failure probability. Rounded down by a relative 1e-12.
    ///
    /// # References
    /// Chadha et al. (2024), Eq. (3), for the 2-cut; the minimum over the rectangle is proved in DESIGN.md.
    #[must_use]
    pub fn corner(&self, order: Order, direction: Direction) -> LowerBound {
        let value = self.nearest_corner().map_or(0.0, |(p, q)| {
            let [p, q] = direction.ordered([(p.value, p.complement), (q.value, q.complement)]);
            bernoulli_renyi(p, q, order)
        });
        self.bound("two-cut-corner", value * (1.0 - CORNER_MARGIN))
    }

    /// Lower bound of D_α as printed by Chadha et al.: each term of the 2-cut at its own worst corner,
    /// ln[p_l^α q_u^{1-α} + (1-p_u)^α (1-q_l)^{1-α}]/(α-1), never below 0.
    ///
    /// Valid, and never above [`Rectangle::corner`]; it needs on the order of 1/χ⁴ samples where the corner needs 1/χ².
    ///
    /// # References
    /// Chadha et al. (2024), "Auditing Private Prediction", appendix B, with the failure probability split over the
    /// tails used.
    #[must_use]
    pub fn termwise(&self, order: Order, direction: Direction) -> LowerBound {
        let a = order.get();
        let [[p_low, p_high], [q_low, q_high]] = self.sides(direction);
        let ln = |x: f64, other: f64| if x > 0.5 { libm::log1p(-other) } else { x.ln() };
        let term = |ln_p: f64, ln_q: f64| if ln_p == f64::NEG_INFINITY { ln_p } else { a * ln_p + (1.0 - a) * ln_q };
        let logs = [
            (ln(p_low.value, p_low.complement), ln(q_high.value, q_high.complement)),
            (ln(p_high.complement, p_high.value), ln(q_low.complement, q_low.value)),
        ];
        let terms = logs.map(|(ln_p, ln_q)| term(ln_p, ln_q));
        let top = terms[0].max(terms[1]);
        if !(top > f64::NEG_INFINITY) {
            return self.bound("two-cut-paper", 0.0);
        }
        let log_sum = top + terms.iter().map(|term| libm::exp(term - top)).sum::<f64>().ln();
        // Rounding of the products in the exponents.
        let size: f64 = logs.iter().flat_map(|&(p, q)| [p, q]).filter(|ln| ln.is_finite()).map(f64::abs).sum();
        let value = (log_sum - 4.0 * f64::EPSILON * (1.0 + a * size)) / (a - 1.0);
        self.bound("two-cut-paper", value * (1.0 - TERMWISE_MARGIN))
    }

    /// Lower bound of ε at δ: ln((P(A) - δ)/Q(A)) at the worst corner, for A = O and its complement.
    ///
    /// Forward bounds the ε of P(A) ≤ e^ε Q(A) + δ, reverse that of Q(A) ≤ e^ε P(A) + δ; differential privacy needs
    /// both. Rounded down by a relative 1e-12; infinite if Q(A) = 0 is certain.
    ///
    /// # References
    /// Jagielski, Ullman and Oprea (2020), "Auditing differentially private machine learning"; Chadha et al. (2024),
    /// Eq. (1), with the logarithm that is missing there.
    #[must_use]
    pub fn epsilon(&self, delta: Delta, direction: Direction) -> LowerBound {
        let value = self.worst_log_ratio(delta, direction);
        // Infinite if Q certainly has no mass.
        let rounding = if value.is_finite() { CORNER_MARGIN * (1.0 + value.abs()) } else { 0.0 };
        self.bound("clopper-pearson", value - rounding)
    }

    /// ln((P(A) - δ)/Q(A)) at the worst corner, for A = O and its complement; `-inf` if P(A) may be below δ.
    pub(super) fn worst_log_ratio(&self, delta: Delta, direction: Direction) -> f64 {
        // ln(low - δ) - ln(high), the lower limit of the likelier and the upper limit of the rarer side.
        let ratio = |low: f64, high: f64| {
            let excess = low - delta.get();
            if excess > 0.0 { ((excess * (1.0 - f64::EPSILON)) / high).ln() } else { f64::NEG_INFINITY }
        };
        let [[p_low, p_high], [q_low, q_high]] = self.sides(direction);
        ratio(p_low.value, q_high.value).max(ratio(p_high.complement, q_low.complement))
    }

    /// Lower bound of the smallest δ at ε: P(A) - e^ε Q(A) at the worst corner, for A = O and its complement.
    ///
    /// Forward bounds the δ of P(A) ≤ e^ε Q(A) + δ, reverse that of Q(A) ≤ e^ε P(A) + δ. Rounded down by 1e-12 of
    /// the two terms.
    ///
    /// ```
    /// # use leakbound::audit::Rectangle;
    /// # use leakbound::interval::BinomialCounts;
    /// # use leakbound::prelude::*;
    /// let (inside, inside_neighbor) = (BinomialCounts::new(6_000, 10_000)?, BinomialCounts::new(3_000, 10_000)?);
    /// let rectangle = Rectangle::two_tails(inside, inside_neighbor, FailureProbability::new(0.05)?)?;
    /// let delta = rectangle.delta(Epsilon::new(0.5)?, Direction::Forward);
    /// // 0.6 - e^0.5 0.3 = 0.105 at the frequencies themselves.
    /// assert!((delta.value - 0.080_719).abs() < 1e-6);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon, direction: Direction) -> LowerBound {
        let factor = libm::exp(epsilon.get());
        let excess = |low: f64, high: f64| {
            // With an infinite ε, there is nothing to show.
            let scaled = if factor.is_finite() { factor * high } else { f64::INFINITY };
            low - scaled - CORNER_MARGIN * (low + scaled)
        };
        let [[p_low, p_high], [q_low, q_high]] = self.sides(direction);
        let value = excess(p_low.value, q_high.value).max(excess(p_high.complement, q_low.complement));
        self.bound("clopper-pearson", value)
    }

    /// The smallest and the largest P(O) in the rectangle.
    #[must_use]
    pub const fn inside(&self) -> [ProportionLimit; 2] {
        [self.p_low, self.p_high]
    }

    /// The smallest and the largest Q(O) in the rectangle.
    #[must_use]
    pub const fn inside_neighbor(&self) -> [ProportionLimit; 2] {
        [self.q_low, self.q_high]
    }

    /// A rectangle from limits that hold simultaneously except with the failure probability.
    pub(super) const fn from_limits(
        [p_low, p_high]: [ProportionLimit; 2],
        [q_low, q_high]: [ProportionLimit; 2],
        failure: FailureProbability,
    ) -> Self {
        Self { p_low, p_high, q_low, q_high, failure }
    }

    /// Lower bound of μ for μ-GDP: Φ⁻¹(p) - Φ⁻¹(q) at the nearest corner; a test with true positive rate p and false
    /// positive rate q lies above the trade-off curve of every smaller μ. Rounded down by a relative 1e-12.
    ///
    /// # References
    /// Dong, Roth and Su (2022), "Gaussian differential privacy"; Nasr et al. (2023), "Tight auditing".
    #[must_use]
    pub fn gdp(&self) -> LowerBound {
        // Φ⁻¹ from the smaller side of the limit.
        let quantile = |limit: ProportionLimit| {
            if limit.value <= limit.complement { ndtri(limit.value) } else { -ndtri(limit.complement) }
        };
        let value = self.nearest_corner().map_or(0.0, |(p, q)| {
            let (p, q) = (quantile(p), quantile(q));
            let rounding = CORNER_MARGIN * (1.0 + p.abs() + q.abs());
            if rounding.is_finite() { (p - q).abs() - rounding } else { f64::INFINITY }
        });
        self.bound("gdp", value)
    }

    fn sides(&self, direction: Direction) -> [[ProportionLimit; 2]; 2] {
        direction.ordered([self.inside(), self.inside_neighbor()])
    }

    fn bound(&self, method: &'static str, value: f64) -> LowerBound {
        LowerBound::new(value, self.failure, method, Validity::FiniteSample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::order;
    use proptest::prelude::*;

    fn counts() -> impl Strategy<Value = BinomialCounts> {
        (0..=3u32).prop_flat_map(|size| {
            let trials = 1..=[5u64, 1_000, 100_000_000, 1_000_000_000_000][size as usize];
            trials.prop_flat_map(|n| (0..=n, Just(n))).prop_map(|(k, n)| BinomialCounts::new(k, n).unwrap())
        })
    }

    /// Including when e^{-l} leaves the range of doubles, and for an infinite loss.
    #[test]
    fn losses_of_any_size_have_bounds() {
        let (failure, delta) = (FailureProbability::new(0.05).unwrap(), Delta::new(0.01).unwrap());
        let order = Order::new(2.0).unwrap();
        for loss in [1e-3, 1.0, 30.0, 699.0, 715.0, 745.0, 800.0, 1e6] {
            let rectangle = Rectangle::of_observed_loss(loss, failure);
            // Rounded up.
            assert!(rectangle.q_high.value > failure.get() * libm::exp(-loss), "{loss}");
            let epsilon = rectangle.epsilon(delta, Direction::Forward).value;
            let expected = (f64::min(loss, 705.4) + 0.8f64.ln()).max(0.0);
            assert!((epsilon - expected).abs() < 0.4 && epsilon <= (loss + 0.8f64.ln()).max(0.0), "{loss}: {epsilon}");
            let renyi = rectangle.corner(order, Direction::Forward).value;
            assert!(renyi.is_finite() && renyi <= loss, "{loss}: {renyi}");
            assert!(loss < 1.0 || (rectangle.gdp().value > 0.0 && rectangle.gdp().value < 50.0), "{loss}");
        }
        let certain = Rectangle::of_observed_loss(f64::INFINITY, failure);
        assert_eq!(certain.epsilon(delta, Direction::Forward).value, f64::INFINITY);
        assert_eq!(certain.corner(order, Direction::Forward).value, f64::INFINITY);
        assert_eq!(certain.gdp().value, f64::INFINITY);
        for nothing in [0.0, -3.0, f64::NEG_INFINITY, f64::NAN] {
            let rectangle = Rectangle::of_observed_loss(nothing, failure);
            assert_eq!((rectangle.epsilon(delta, Direction::Forward).value, rectangle.gdp().value), (0.0, 0.0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_corner_is_never_below_the_termwise_bound(
            p in counts(), q in counts(), a in 1.0001f64..1000.0, f in 1e-15f64..0.9,
        ) {
            let rectangle = Rectangle::four_tails(p, q, FailureProbability::new(f).unwrap()).unwrap();
            for direction in Direction::BOTH {
                let (corner, termwise) = (rectangle.corner(order(a), direction), rectangle.termwise(order(a), direction));
                prop_assert!(corner.value >= termwise.value, "{corner:?} {termwise:?}");
                prop_assert!(corner.value.is_finite());
            }
        }

        #[test]
        fn a_declared_direction_only_helps(p in counts(), q in counts(), a in 1.01f64..100.0) {
            let failure = FailureProbability::new(0.05).unwrap();
            let four = Rectangle::four_tails(p, q, failure).unwrap();
            let two = Rectangle::two_tails(p, q, failure).unwrap();
            if four.p_low.value > four.q_high.value {
                for direction in Direction::BOTH {
                    prop_assert!(two.corner(order(a), direction).value >= four.corner(order(a), direction).value);
                }
            }
        }

        #[test]
        fn bounds_stay_below_the_divergence_of_the_frequencies(
            k in 1u64..1000, l in 1u64..1000, a in 1.01f64..50.0,
        ) {
            let rectangle = Rectangle::four_tails(
                BinomialCounts::new(k, 1000).unwrap(),
                BinomialCounts::new(l, 1000).unwrap(),
                FailureProbability::new(0.5).unwrap(),
            ).unwrap();
            let (p, q) = (k as f64 / 1000.0, l as f64 / 1000.0);
            let divergence = bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), order(a));
            prop_assert!(rectangle.corner(order(a), Direction::Forward).value <= divergence);
        }
    }

    /// Limits below 1e-15 differ although their complements have been rounded past each other.
    #[test]
    fn tiny_limits_are_told_apart_by_their_exact_side() {
        let counts = |k| BinomialCounts::new(k, 1 << 53).unwrap();
        let rectangle = Rectangle::four_tails(counts(1), counts(11), FailureProbability::new(0.5).unwrap()).unwrap();
        assert!(rectangle.p_high.value < rectangle.q_low.value);
        let [corner, termwise] = [Rectangle::corner, Rectangle::termwise];
        for direction in Direction::BOTH {
            let corner = corner(&rectangle, order(64.0), direction).value;
            assert!(corner > 0.0 && corner >= termwise(&rectangle, order(64.0), direction).value);
        }
    }

    #[test]
    fn certain_outputs_give_finite_bounds() {
        let failure = FailureProbability::new(0.05).unwrap();
        let all = BinomialCounts::new(1, 1).unwrap();
        let none = BinomialCounts::new(0, 1).unwrap();
        let rectangle = Rectangle::two_tails(all, none, failure).unwrap();
        let epsilon = rectangle.epsilon(Delta::new(0.0).unwrap(), Direction::Forward);
        assert_eq!(epsilon.value, 0.0); // one sample proves nothing at 5 %
    }
}
