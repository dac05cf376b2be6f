//! All queries together: sums of lower bounds if divergences add, and otherwise the largest query.

use super::bounds::Bounds;
use super::claim::with_requested;
use super::evidence::{Evidence, Wanted};
use super::number::Number;
use crate::audit::{FailureBudget, Guide, JointQuery, joint_bound};
use crate::bound::Direction;
use crate::counts::PairedCounts;
use crate::divergence::{RdpCurve, order_grid};
use crate::error::Result;
use crate::model::Composition;
use crate::named::named;
use crate::parallel;
use crate::quantity::{Epsilon, Order};
use serde::Serialize;

/// What a composed figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// A theorem supports it.
    Bound,
    /// It serves for comparison, and proves nothing about the whole sequence.
    Illustrative,
}

named!(Meaning, "meaning of a figure", [Bound "bound", Illustrative "illustrative"]);

/// On which side of the truth a composed curve is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// From lower bounds.
    Lower,
    /// From output distributions.
    Exact,
    /// From upper bounds.
    Upper,
}

/// ε at δ of a composed curve.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposedEpsilon {
    /// δ.
    pub delta: f64,
    /// ε by the improved conversion, the larger of both directions.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// What this ε is: converted from a lower RDP curve, it is only an illustration.
    pub meaning: Meaning,
}

/// A curve of the whole sequence of queries.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposedCurve {
    /// `lower-sum`, `lower-largest-query`, `exact-sum`, `joint-exact`, a cap, or an accountant.
    pub name: &'static str,
    /// On which side of the truth it is.
    pub kind: CurveKind,
    /// Which divergence.
    pub direction: Direction,
    /// Its value at each of the section's orders.
    pub values: Vec<Number>,
    /// What the values are.
    pub meaning: Meaning,
    /// The curve converted to ε at δ.
    pub epsilon: ComposedEpsilon,
}

/// The figures of the whole sequence.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposedSection {
    /// The mode: independent, shared-teachers or per-query.
    pub composition: String,
    /// What the sequence is, in words.
    pub sequence: String,
    /// Number of queries in the sequence.
    pub queries: u64,
    /// What the sum of the lower bounds is.
    pub meaning: Meaning,
    /// The reason for this meaning.
    pub reason: &'static str,
    /// Orders of the curves.
    pub orders: Vec<f64>,
    /// The curves.
    pub curves: Vec<ComposedCurve>,
    /// The probability that the lower curves are wrong, all queries together.
    pub failure_probability: f64,
}

const PRODUCT: &str = "the outputs are independent under both datasets, so divergences add";
const DEPENDENT: &str = "teachers trained once make the answers dependent, and a sum can overstate what they leak \
                         together; the largest single query bounds it";

/// What a sum of lower bounds is in this mode, and why; None if nothing is composed.
pub(crate) const fn meaning(mode: Composition) -> Option<(Meaning, &'static str)> {
    match mode {
        Composition::Independent => Some((Meaning::Bound, PRODUCT)),
        Composition::SharedTeachers => Some((Meaning::Illustrative, DEPENDENT)),
        Composition::PerQuery => None,
    }
}

/// The counts of one query, and its prior guide.
pub(crate) struct Observed<'a> {
    counts: &'a PairedCounts,
    guide: &'a Guide,
}

impl<'a> Observed<'a> {
    pub(crate) const fn new(counts: &'a PairedCounts, guide: &'a Guide) -> Self {
        Self { counts, guide }
    }
}

/// The evidence of all queries together.
pub(crate) struct LowerCurves<'a> {
    answers: &'a [Observed<'a>],
    evidence: Vec<Evidence>,
    /// Answers to each query.
    times: f64,
    bounds: &'a Bounds,
    budget: &'a FailureBudget,
}

impl<'a> LowerCurves<'a> {
    /// The failure probability is divided among the queries.
    pub(crate) fn new(
        answers: &'a [Observed<'a>],
        times: f64,
        bounds: &'a Bounds,
        budget: &'a FailureBudget,
    ) -> Result<Self> {
        let share = budget.share_of_all(answers.len(), 1);
        let evidence =
            parallel::try_map(answers, |answer| Evidence::new(answer.counts, answer.guide, share, Wanted::Renyi))?;
        Ok(Self { answers, evidence, times, bounds, budget })
    }

    /// `lower-sum`, and `lower-joint` if divergences add and all queries have a guess, or `lower-largest-query` if they
    /// do not, in the directions of the bounds.
    pub(crate) fn curves(&self, meaning: Meaning, orders: &[Order]) -> Result<Vec<ComposedCurve>> {
        // Lower bounds are computed at some orders only: D_α never falls in α, so each serves the orders above it.
        let few = lower_orders(&self.bounds.orders);
        let lower = parallel::map(&self.evidence, |evidence| {
            let at = |direction| few.iter().map(|&order| evidence.renyi(order, direction).get()).collect();
            Direction::BOTH.map(at)
        });
        let at = |place: usize, direction: Direction| {
            lower.iter().map(move |values: &[Vec<f64>; 2]| values[direction as usize][place])
        };
        let all = |value: &dyn Fn(usize, Direction) -> f64| {
            Direction::BOTH.map(|direction| (0..few.len()).map(|place| value(place, direction)).collect::<Vec<f64>>())
        };
        let rise = |name, meaning, few: &[Order], values: &[Vec<f64>; 2]| {
            let value = |order, direction: Direction| rising(few, &values[direction as usize], order);
            curves((name, CurveKind::Lower), orders, [meaning, Meaning::Illustrative], self.bounds, value)
        };
        let sums = all(&|place, direction| self.times * at(place, direction).sum::<f64>());
        let mut found = rise("lower-sum", meaning, &few, &sums)?;
        if meaning == Meaning::Illustrative {
            let largest = all(&|place, direction| at(place, direction).fold(0.0, f64::max));
            found.extend(rise("lower-largest-query", Meaning::Bound, &few, &largest)?);
        } else if let Some(joint) = self.joint()? {
            found.extend(rise("lower-joint", meaning, &self.bounds.orders, &joint)?);
        }
        Ok(found)
    }

    /// The joint bound of all queries at the requested orders. The failure probability is divided among the orders and
    /// directions; nothing is spent on a direction that was not requested. None for a single query, or if nothing was
    /// known of one.
    fn joint(&self) -> Result<Option<[Vec<f64>; 2]>> {
        let query = |answer: &Observed<'a>| {
            let pair = answer.guide.pair()?;
            Some(JointQuery { counts: answer.counts, p: pair.dataset(), q: pair.neighbor() })
        };
        let Some(queries) = self.answers.iter().map(query).collect::<Option<Vec<_>>>().filter(|all| all.len() > 1)
        else {
            return Ok(None);
        };
        let (orders, directions) = (&self.bounds.orders, self.bounds.directions.clone());
        let share = self.budget.joint_share().split(orders.len() * directions.len());
        let mut joint = [vec![0.0; orders.len()], vec![0.0; orders.len()]];
        for direction in directions {
            let bound = |&order: &Order| Ok(joint_bound(&queries, order, direction, share)?.value);
            joint[direction as usize] = orders.iter().map(bound).collect::<Result<_>>()?;
        }
        Ok(Some(joint))
    }
}

/// Orders of lower bounds: those requested and a few more.
fn lower_orders(requested: &[Order]) -> Vec<Order> {
    let grid = [1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0];
    with_requested(grid.into_iter().filter_map(|order| Order::new(order).ok()).collect(), requested)
}

/// The largest value at an order not above the given one: D_α never decreases in α.
fn rising(orders: &[Order], values: &[f64], order: Order) -> f64 {
    orders
        .iter()
        .zip(values)
        .filter(|(other, _)| other.get() <= order.get())
        .map(|(_, &value)| value)
        .fold(0.0, f64::max)
}

/// The grid for conversions with the requested orders among it.
pub(crate) fn orders(requested: &[Order]) -> Vec<Order> {
    with_requested(order_grid(), requested.iter().filter(|order| order.get() < 1e6))
}

/// A curve in the directions of the bounds, each with the ε at δ of both directions: differential privacy is about
/// both, so the larger one is the ε of the sequence. `meaning` has the meaning of the curve, then that of ε.
pub(crate) fn curves(
    (name, kind): (&'static str, CurveKind),
    orders: &[Order],
    meaning: [Meaning; 2],
    bounds: &Bounds,
    value: impl Fn(Order, Direction) -> f64,
) -> Result<Vec<ComposedCurve>> {
    let delta = bounds.delta;
    let both = Direction::BOTH.map(|direction| RdpCurve::from_fn(orders, |order| value(order, direction)));
    let convert = |curve: &RdpCurve| -> Result<(Epsilon, Order)> {
        if curve.values().iter().all(|value| *value == 0.0) {
            // Equal distributions, or nothing proved: a conversion would only add its own slack.
            return Ok((Epsilon::new(0.0)?, orders[0]));
        }
        Ok(curve.epsilon(delta))
    };
    let [forward, reverse] = [convert(&both[0])?, convert(&both[1])?];
    let (epsilon, order) = if reverse.0 > forward.0 { reverse } else { forward };
    let curve = |direction: Direction| ComposedCurve {
        name,
        kind,
        direction,
        values: both[direction as usize].values().iter().map(|&value| Number(value)).collect(),
        meaning: meaning[0],
        epsilon: ComposedEpsilon {
            delta: delta.get(),
            epsilon: Number(epsilon.get()),
            order: order.get(),
            meaning: meaning[1],
        },
    };
    Ok(bounds.directions.iter().copied().map(curve).collect())
}
