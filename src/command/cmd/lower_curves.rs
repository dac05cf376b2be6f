//! Lower curves of a sequence of queries: sums where divergences add, the largest query everywhere.

use crate::command::args::BoundOptions;
use crate::report::{ComposedCurve, ComposedEpsilon, CurveKind, Meaning};
use crate::study::Number;
use crate::study::{Evidence, Wanted};
use crate::{
    Composition, Direction, Epsilon, FailureBudget, Guide, JointQuery, Order, PairedCounts, RdpCurve, Result,
    joint_bound, order_grid,
};
use rayon::prelude::*;

const PRODUCT: &str = "the outputs are independent under both datasets, so divergences add";
const DEPENDENT: &str = "teachers trained once make the answers dependent, and a sum can overstate what they leak \
                         together; the largest single query bounds it";

/// What a sum of lower bounds is in this mode, and why; None where nothing is composed.
pub const fn meaning(mode: Composition) -> Option<(Meaning, &'static str)> {
    match mode {
        Composition::Independent => Some((Meaning::Bound, PRODUCT)),
        Composition::SharedTeachers => Some((Meaning::Illustrative, DEPENDENT)),
        Composition::PerQuery => None,
    }
}

/// The counts of one query, and what was known of it before.
pub struct Answer<'a> {
    counts: &'a PairedCounts,
    guide: &'a Guide,
}

impl<'a> Answer<'a> {
    pub const fn new(counts: &'a PairedCounts, guide: &'a Guide) -> Self {
        Self { counts, guide }
    }
}

/// The evidence of all queries at once.
pub struct LowerCurves<'a> {
    answers: &'a [Answer<'a>],
    evidence: Vec<Evidence>,
    /// Answers to each query.
    times: f64,
    options: &'a BoundOptions,
    budget: &'a FailureBudget,
}

impl<'a> LowerCurves<'a> {
    /// The failure probability is divided among the queries.
    pub fn new(
        answers: &'a [Answer<'a>],
        times: f64,
        options: &'a BoundOptions,
        budget: &'a FailureBudget,
    ) -> Result<Self> {
        let share = budget.share_of_all(answers.len(), 1);
        let evidence = answers
            .par_iter()
            .map(|answer| Evidence::new(answer.counts, answer.guide, share, Wanted::Renyi))
            .collect::<Result<_>>()?;
        Ok(Self { answers, evidence, times, options, budget })
    }

    /// `lower-sum`, and `lower-joint` where divergences add and all queries have a guess, or `lower-largest-query` where
    /// they do not, in the directions of the options.
    pub fn curves(&self, meaning: Meaning, orders: &[Order]) -> Result<Vec<ComposedCurve>> {
        // Lower bounds are computed at some orders only: D_α never falls in α, so each serves the orders above it.
        let few = lower_orders(&self.options.orders.0);
        let lower: Vec<[Vec<f64>; 2]> = self
            .evidence
            .par_iter()
            .map(|evidence| {
                let at = |direction| few.iter().map(|&order| evidence.renyi(order, direction)).collect();
                Direction::BOTH.map(at)
            })
            .collect();
        let at = |place: usize, direction: Direction| {
            lower.iter().map(move |values: &[Vec<f64>; 2]| values[direction as usize][place])
        };
        let all = |value: &dyn Fn(usize, Direction) -> f64| {
            Direction::BOTH.map(|direction| (0..few.len()).map(|place| value(place, direction)).collect::<Vec<f64>>())
        };
        let rise = |name, meaning, few: &[Order], values: &[Vec<f64>; 2]| {
            let value = |order, direction: Direction| rising(few, &values[direction as usize], order);
            curves((name, CurveKind::Lower), orders, [meaning, Meaning::Illustrative], self.options, value)
        };
        let sums = all(&|place, direction| self.times * at(place, direction).sum::<f64>());
        let mut found = rise("lower-sum", meaning, &few, &sums)?;
        if meaning == Meaning::Illustrative {
            let largest = all(&|place, direction| at(place, direction).fold(0.0, f64::max));
            found.extend(rise("lower-largest-query", Meaning::Bound, &few, &largest)?);
        } else if let Some(joint) = self.joint()? {
            found.extend(rise("lower-joint", meaning, &self.options.orders.0, &joint)?);
        }
        Ok(found)
    }

    /// The joint bound of all queries at the requested orders, among which and the directions the failure probability is
    /// divided: nothing in a direction that is not requested. None for a single query, or one of which nothing was known.
    fn joint(&self) -> Result<Option<[Vec<f64>; 2]>> {
        let query = |answer: &Answer<'a>| {
            let pair = answer.guide.pair()?;
            Some(JointQuery { counts: answer.counts, p: pair.dataset(), q: pair.neighbor() })
        };
        let Some(queries) = self.answers.iter().map(query).collect::<Option<Vec<_>>>().filter(|all| all.len() > 1)
        else {
            return Ok(None);
        };
        let (orders, directions) = (&self.options.orders.0, self.options.direction.list());
        let share = self.budget.joint_share().split(orders.len() * directions.len());
        let mut joint = [vec![0.0; orders.len()], vec![0.0; orders.len()]];
        for direction in directions {
            let bound = |&order: &Order| Ok(joint_bound(&queries, order, direction, share)?.value);
            joint[direction as usize] = orders.iter().map(bound).collect::<Result<_>>()?;
        }
        Ok(Some(joint))
    }
}

/// Orders of lower bounds: those asked for and a few more.
fn lower_orders(asked: &[Order]) -> Vec<Order> {
    let grid = [1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0, 256.0];
    let mut orders: Vec<Order> = grid.into_iter().filter_map(|order| Order::new(order).ok()).collect();
    orders.extend(asked);
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    orders
}

/// The largest value at an order that is not above: D_α never falls in α.
fn rising(orders: &[Order], values: &[f64], order: Order) -> f64 {
    orders
        .iter()
        .zip(values)
        .filter(|(other, _)| other.get() <= order.get())
        .map(|(_, &value)| value)
        .fold(0.0, f64::max)
}

/// The grid for conversions with the orders asked for among it.
pub fn orders(asked: &[Order]) -> Vec<Order> {
    let mut orders = order_grid();
    orders.extend(asked.iter().filter(|order| order.get() < 1e6));
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    orders
}

/// A curve in the directions of the options, each with the ε at δ of both directions: differential privacy is about
/// both, so the larger one is the ε of the sequence. `meaning` is that of the curve, then that of ε.
pub fn curves(
    (name, kind): (&'static str, CurveKind),
    orders: &[Order],
    meaning: [Meaning; 2],
    options: &BoundOptions,
    value: impl Fn(Order, Direction) -> f64,
) -> Result<Vec<ComposedCurve>> {
    let delta = options.claims.delta;
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
    Ok(options.direction.list().into_iter().map(curve).collect())
}
