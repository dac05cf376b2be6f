//! The k-cut of Chadha et al. from simultaneous intervals.

use super::dual_tangent::Tangent;
use super::least_favorable::least_favorable;
use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::interval::{ProportionLimit, ProportionRange, RectangleProbability, goodman, sison_glaz};
use crate::quantity::{FailureProbability, Order};
use crate::special::CompensatedSum;

pub(super) const K_CUT_GOODMAN: MethodRow = MethodRow {
    name: "k-cut-goodman",
    when: "To reproduce published numbers; it needs many counts in every class.",
    guarantee: Guarantee::Nominal(Validity::Asymptotic),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let intervals = SimultaneousIntervals::goodman(task.counts, task.failure)?;
        Ok(sure(move |order, direction| intervals.bound(order, direction)))
    }),
};

pub(super) const K_CUT_SISON_GLAZ: MethodRow = MethodRow {
    name: "k-cut-sison-glaz",
    when: "To reproduce published numbers; it needs many counts in every class.",
    guarantee: Guarantee::Nominal(Validity::Asymptotic),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Renyi(|task| {
        let exact = RectangleProbability::Exact;
        let intervals = SimultaneousIntervals::sison_glaz(task.counts, task.failure, exact)?;
        Ok(sure(move |order, direction| intervals.bound(order, direction)))
    }),
};

/// Simultaneous intervals of the probabilities of all outcomes in both worlds, and the bounds that they imply.
///
/// Each world's intervals get half of the failure probability, and hold only in the limit of many samples. One event
/// covers all orders and both directions.
///
/// ```
/// # use leakbound::audit::SimultaneousIntervals;
/// # use leakbound::bound::Direction;
/// # use leakbound::counts::PairedCounts;
/// # use leakbound::quantity::{FailureProbability, Order};
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![7_000, 3_000], vec![5_000, 5_000])?;
/// let intervals = SimultaneousIntervals::goodman(&counts, FailureProbability::new(0.05)?)?;
/// let order = Order::new(2.0)?;
/// let (paper, nearest) = (intervals.bound(order, Direction::Forward), intervals.nearest(order, Direction::Forward));
/// // ln(0.49/0.5 + 0.09/0.5) = 0.148 for the frequencies themselves.
/// assert!(paper.value > 0.07 && paper.value < nearest.value && nearest.value < 0.148);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Chadha et al. (2024), "Auditing Private Prediction", appendix B, for the k-cut; Goodman (1965), "On simultaneous
/// confidence intervals for multinomial proportions", Technometrics 7(2), and Sison and Glaz (1995), "Simultaneous
/// confidence intervals and sample size determination for multinomial proportions", Journal of the American Statistical
/// Association 90(429), for the intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct SimultaneousIntervals {
    p: Vec<ProportionRange>,
    q: Vec<ProportionRange>,
    least: Option<Tangent>,
    failure: FailureProbability,
    methods: [&'static str; 2],
    probabilities: Option<[RectangleProbability; 2]>,
}

/// Relative rounding margin of a bound, in addition to that of its logarithms.
const MARGIN: f64 = 1e-12;

impl SimultaneousIntervals {
    /// Goodman's intervals: bounds `k-cut-goodman` and `k-cut-goodman-box`.
    ///
    /// # Errors
    /// As [`goodman`].
    pub fn goodman(counts: &PairedCounts, failure: FailureProbability) -> Result<Self> {
        let half = failure.split(2);
        let p = goodman(counts.counts(), half)?;
        let q = goodman(counts.counts_neighbor(), half)?;
        Ok(Self::new(p, q, failure, [K_CUT_GOODMAN.name, "k-cut-goodman-box"], None))
    }

    /// Sison and Glaz's intervals: bounds `k-cut-sison-glaz` and `k-cut-sison-glaz-box`.
    ///
    /// # Errors
    /// As [`sison_glaz`].
    pub fn sison_glaz(
        counts: &PairedCounts,
        failure: FailureProbability,
        wanted: RectangleProbability,
    ) -> Result<Self> {
        let half = failure.split(2);
        let p = sison_glaz(counts.counts(), half, wanted)?;
        let q = sison_glaz(counts.counts_neighbor(), half, wanted)?;
        let used = Some([p.probability, q.probability]);
        Ok(Self::new(p.ranges, q.ranges, failure, [K_CUT_SISON_GLAZ.name, "k-cut-sison-glaz-box"], used))
    }

    fn new(
        p: Vec<ProportionRange>,
        q: Vec<ProportionRange>,
        failure: FailureProbability,
        methods: [&'static str; 2],
        probabilities: Option<[RectangleProbability; 2]>,
    ) -> Self {
        let least = least_favorable(&p, &q);
        Self { p, q, least, failure, methods, probabilities }
    }

    /// How the rectangle probability of Sison and Glaz was computed in each world; `None` for Goodman's intervals.
    #[must_use]
    pub const fn probabilities(&self) -> Option<[RectangleProbability; 2]> {
        self.probabilities
    }

    /// Lower bound of D_α as printed: ln[Σ_c p_l(c)^α q_u(c)^{1-α}]/(α-1), never below 0.
    ///
    /// Every term is at most p(c)^α q(c)^{1-α} if the intervals hold. Each class is at its own worst corner, so, like
    /// [`Rectangle::termwise`](crate::audit::Rectangle::termwise), it needs on the order of 1/χ⁴ samples. Rounded down
    /// by a relative 1e-12 and the rounding of the logarithms.
    ///
    /// # References
    /// Chadha et al. (2024), "Auditing Private Prediction", appendix B, Eq. (5) and the bound below it, with the
    /// failure probability split over the two worlds.
    #[must_use]
    pub fn bound(&self, order: Order, direction: Direction) -> LowerBound {
        let [p, q] = direction.ordered([&self.p, &self.q]);
        self.lower_bound(self.methods[0], termwise(p, q, order.get()))
    }

    /// Lower bound of D_α as the smallest divergence of two distributions within the intervals: never below
    /// [`SimultaneousIntervals::bound`] except for rounding; like [`KCutBox`](crate::audit::KCutBox), but with
    /// asymptotic limits.
    #[must_use]
    pub fn nearest(&self, order: Order, direction: Direction) -> LowerBound {
        let value = self.least.as_ref().map_or(0.0, |least| least.divergence(order, direction));
        self.lower_bound(self.methods[1], value)
    }

    const fn lower_bound(&self, method: &'static str, value: f64) -> LowerBound {
        LowerBound::new(value, self.failure, method, Validity::Asymptotic)
    }
}

/// ln[Σ p_l^a q_u^{1-a}]/(a-1), rounded down, at least 0.
///
/// With e = ln p_l - ln q_u + ln p_l/(a-1) it is max e + ln[Σ exp((a-1)(e - max e))]/(a-1), which never overflows.
fn termwise(p: &[ProportionRange], q: &[ProportionRange], a: f64) -> f64 {
    let ln = |limit: ProportionLimit| if limit.value > 0.5 { libm::log1p(-limit.complement) } else { limit.value.ln() };
    let terms = p.iter().zip(q).filter(|(p, _)| p.lower.value > 0.0).map(|(p, q)| {
        let (ln_p, ln_q) = (ln(p.lower), ln(q.upper));
        (ln_p - ln_q + ln_p / (a - 1.0), ln_p.abs() * (1.0 + 1.0 / (a - 1.0)) + ln_q.abs())
    });
    let top = terms.clone().map(|(exponent, _)| exponent).fold(f64::NEG_INFINITY, f64::max);
    if !(top > f64::NEG_INFINITY) {
        return 0.0;
    }
    let (mut sum, mut size) = (CompensatedSum::default(), CompensatedSum::default());
    for (exponent, magnitude) in terms {
        let weight = libm::exp((a - 1.0) * (exponent - top));
        sum.add(weight);
        size.add(weight * magnitude);
    }
    // An error of e changes the value by the weight of its class.
    let error = f64::EPSILON * (4.0 * size.value() / sum.value() + 4.0 * top.abs() + 4.0 / (a - 1.0));
    let value = (top + sum.value().ln() / (a - 1.0) - error) * (1.0 - MARGIN);
    if value > 0.0 && value < f64::INFINITY { value } else { 0.0 }
}
