//! A theorem that bounds the Rényi divergences of one release, with its scope.

use super::group::group_rdp;
use super::worst_case::gnmax_worst_case_curve;
use crate::bound::outward::sum_up;
use crate::bound::{Direction, Directions, UpperBound, Validity};
use crate::divergence::RdpCurve;
use crate::histogram::VoteChange;
use crate::parallel;
use crate::quantity::{NoiseScale, Order};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The inputs that the value of a bound depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Only the mechanism and the distance of the neighbors: the bound holds for all data at that distance and adds up
    /// over any answers.
    AnyData,
    /// Also the data: the bound holds for these data against their neighbors. It is not itself private, and it does not
    /// add up over answers that share random teachers.
    TheseData,
}

/// The statement of a theorem, independent of its parameters.
///
/// Theorems are compared by their statements, never by their names.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Statement {
    /// The name in tables and JSON, such as `gnmax-data-dependent`.
    pub name: &'static str,
    /// What to use it for, in a few words.
    #[serde(rename = "use")]
    pub used_for: &'static str,
    /// Author, year and theorem.
    pub source: &'static str,
    /// The inputs that its value depends on.
    #[serde(rename = "data")]
    pub scope: Scope,
    /// The directions in which it holds.
    pub directions: Directions,
    /// Its guarantee.
    pub validity: Validity,
    /// How far, relative to itself, a value may be above that of the theorem: the gap left by a search.
    pub gap: f64,
}

/// The gap left by rounding up.
const ROUNDING: f64 = 1e-9;

impl Statement {
    /// A theorem for any data.
    #[must_use]
    pub const fn for_any_data(name: &'static str, used_for: &'static str, source: &'static str) -> Self {
        let (scope, directions) = (Scope::AnyData, Directions::Both);
        Self { name, used_for, source, scope, directions, validity: Validity::Exact, gap: ROUNDING }
    }

    /// A theorem for given data.
    #[must_use]
    pub const fn for_these_data(name: &'static str, used_for: &'static str, source: &'static str) -> Self {
        Self { scope: Scope::TheseData, ..Self::for_any_data(name, used_for, source) }
    }

    /// The same in the forward direction only.
    #[must_use]
    pub const fn forward(self) -> Self {
        Self { directions: Directions::Forward, ..self }
    }

    /// The same, with a value from a numerical integral or search with a verified error.
    #[must_use]
    pub const fn certified(self, gap: f64) -> Self {
        Self { validity: Validity::NumericallyCertified, gap, ..self }
    }
}

/// Each order separately.
type AtOrder = dyn Fn(Order, Direction) -> f64 + Send + Sync;
/// Each order separately, equal in both directions.
type Alike = dyn Fn(Order) -> f64 + Send + Sync;
/// All orders together, equal in both directions.
type AtOrders = dyn Fn(&[Order]) -> Vec<f64> + Send + Sync;

#[derive(Clone)]
enum Cost {
    AtOrder(Arc<AtOrder>),
    Alike(Arc<Alike>),
    AtOrders(Arc<AtOrders>),
}

/// A theorem applied to one release: D_α is at most its value at α, in the directions that it covers.
///
/// ```
/// # use leakbound::accountant::WorstCases;
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::Noise;
/// # use leakbound::mechanism::NoisyArgmax;
/// # use leakbound::quantity::Order;
/// let mechanism = NoisyArgmax::new("laplace:0.5".parse()?);
/// let votes = VoteHistogram::new(vec![6, 0])?;
/// let theorems = mechanism.theorems_for_votes(&votes, &WorstCases::default());
/// let [both, forward] = ["lnmax-data-dependent", "lnmax-data-dependent-forward"]
///     .map(|name| theorems.iter().find(|theorem| theorem.name() == name).unwrap());
/// let order = Order::new(2.0)?;
/// // The cost as published says nothing about the reverse direction.
/// assert!(forward.at(order, Direction::Reverse).is_none());
/// assert!(both.at(order, Direction::Reverse).unwrap().value > 10.0 * forward.at(order, Direction::Forward).unwrap().value);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Clone)]
pub struct Theorem {
    statement: &'static Statement,
    cost: Cost,
}

impl fmt::Debug for Theorem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Theorem").field("statement", &self.statement).finish_non_exhaustive()
    }
}

impl Theorem {
    /// A separate bound at each order and in each direction, in nats.
    pub fn new(statement: &'static Statement, cost: impl Fn(Order, Direction) -> f64 + Send + Sync + 'static) -> Self {
        Self { statement, cost: Cost::AtOrder(Arc::new(cost)) }
    }

    /// The same bound in both directions at each order, in nats.
    pub fn alike(statement: &'static Statement, cost: impl Fn(Order) -> f64 + Send + Sync + 'static) -> Self {
        Self { statement, cost: Cost::Alike(Arc::new(cost)) }
    }

    /// A bound in both directions, with all orders computed together, in nats.
    pub fn of_curve(
        statement: &'static Statement,
        cost: impl Fn(&[Order]) -> Vec<f64> + Send + Sync + 'static,
    ) -> Self {
        Self { statement, cost: Cost::AtOrders(Arc::new(cost)) }
    }

    /// Its statement.
    #[must_use]
    pub const fn statement(&self) -> &'static Statement {
        self.statement
    }

    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.statement.name
    }

    /// The bound at an order; `None` in a direction in which the theorem does not hold.
    #[must_use]
    pub fn at(&self, order: Order, direction: Direction) -> Option<UpperBound> {
        let value = self.values(&[order], direction)?[0];
        Some(UpperBound::new(value, self.statement.name, self.statement.validity))
    }

    /// The bound at each order, in nats; `None` in a direction in which the theorem does not hold.
    #[must_use]
    pub fn values(&self, orders: &[Order], direction: Direction) -> Option<Vec<f64>> {
        self.statement.directions.cover(direction).then(|| match &self.cost {
            Cost::AtOrder(cost) => orders.iter().map(|&order| cost(order, direction)).collect(),
            Cost::Alike(cost) => orders.iter().map(|&order| cost(order)).collect(),
            Cost::AtOrders(cost) => cost(orders),
        })
    }

    /// The bound of both directions at each order, in nats; `None` for a theorem that holds in only one of them.
    ///
    /// ```
    /// # use leakbound::mechanism::AdditiveNoise;
    /// # use leakbound::quantity::Order;
    /// let [theorem] = AdditiveNoise { noise: "gaussian:2".parse()? }.theorems();
    /// assert_eq!(theorem.values_of_both(&[Order::new(4.0)?]), Some(vec![0.5]));
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn values_of_both(&self, orders: &[Order]) -> Option<Vec<f64>> {
        let forward = self.values(orders, Direction::Forward)?;
        match self.cost {
            Cost::AtOrder(_) => {
                let reverse = self.values(orders, Direction::Reverse)?;
                Some(forward.into_iter().zip(reverse).map(|(a, b)| a.max(b)).collect())
            }
            Cost::Alike(_) | Cost::AtOrders(_) => {
                self.statement.directions.cover(Direction::Reverse).then_some(forward)
            }
        }
    }

    /// The bound for a group of `points`, each of which changes the data once (Mironov 2017, Proposition 2), from this
    /// theorem for a single point. `None` for a theorem about these data only: it does not cover the other steps of the
    /// chain from one dataset to the other.
    #[must_use]
    pub fn of_group(self, points: u64) -> Option<Self> {
        (self.statement.scope == Scope::AnyData).then(|| {
            Self::new(&MIRONOV_GROUP, move |order, direction| {
                group_rdp(order, points, |order| self.at(order, direction).map_or(f64::INFINITY, |bound| bound.value))
            })
        })
    }
}

pub(crate) static MIRONOV_GROUP: Statement = Statement::for_any_data(
    "mironov-group",
    "several records of one person, where no sharper theorem is known",
    "Mironov (2017), Proposition 2",
);
pub(crate) static GNMAX_WORST_CASE: Statement = Statement::for_any_data(
    "gnmax-worst-case",
    "a noisy argmax with Gaussian noise: an ε to publish",
    "leakbound, theorem of gnmax_worst_case",
)
.certified(2e-3);

/// A cache of worst cases of GNMax: one takes milliseconds, and all answers of a study share them.
///
/// Orders of one curve share their search, so whole curves are kept, and no value depends on earlier ones.
#[derive(Debug, Clone, Default)]
pub struct WorstCases(Arc<Mutex<Known>>);

/// Keyed by noise, relation and orders.
type Known = BTreeMap<(u64, VoteChange, Vec<u64>), Arc<[f64]>>;

/// The largest number of stored curves.
const KEPT: usize = 256;

impl WorstCases {
    /// The supremum of D_α over all votes and all neighbors of a relation,
    /// [`gnmax_worst_case`](crate::accountant::gnmax_worst_case).
    #[must_use]
    pub fn theorem(&self, sigma: NoiseScale, kind: VoteChange) -> Theorem {
        let known = self.clone();
        Theorem::of_curve(&GNMAX_WORST_CASE, move |orders| known.curve(sigma, kind, orders).to_vec())
    }

    /// The upper end of the worst case at each order.
    pub(crate) fn curve(&self, sigma: NoiseScale, kind: VoteChange, orders: &[Order]) -> Arc<[f64]> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (sigma.get().to_bits(), kind, orders.iter().map(|order| order.get().to_bits()).collect());
        if let Some(found) = known().get(&key) {
            return Arc::clone(found);
        }
        // Without the lock: a waiting thread takes up other threads' work, which may be this.
        let found: Arc<[f64]> = gnmax_worst_case_curve(orders, sigma, kind).iter().map(|worst| worst.upper).collect();
        let mut known = known();
        if known.len() >= KEPT {
            known.clear();
        }
        known.insert(key, Arc::clone(&found));
        found
    }
}

/// The bounds of one theorem for a sequence of answers: sums over the answers at each order (Mironov 2017, Proposition
/// 1), rounded up.
#[derive(Debug, Clone)]
pub struct ComposedTheorem {
    statement: &'static Statement,
    /// Forward and reverse, in the directions in which the theorem holds.
    curves: [Option<RdpCurve>; 2],
}

impl ComposedTheorem {
    /// The theorems that hold for every answer. A theorem missing for some answer gives no guarantee for the sequence;
    /// if one answer has several with the same statement, the first is used.
    ///
    /// # Panics
    /// If `orders` is empty.
    #[must_use]
    pub fn all(answers: &[Vec<Theorem>], orders: &[Order]) -> Vec<Self> {
        let Some(first) = answers.first() else { return Vec::new() };
        let find = |answer: &'_ [Theorem], statement: &'static Statement| -> Option<usize> {
            answer.iter().position(|theorem| theorem.statement == statement)
        };
        let shared = first
            .iter()
            .map(Theorem::statement)
            .filter(|statement| answers.iter().all(|answer| find(answer, statement).is_some()));
        let composed = shared.map(|statement| {
            let curves = Direction::BOTH.map(|direction| {
                let one = |answer: &Vec<Theorem>| answer[find(answer, statement)?].values(orders, direction);
                let each: Vec<Vec<f64>> = parallel::map(answers, one).into_iter().collect::<Option<_>>()?;
                let mut sums = vec![0.0; orders.len()];
                for values in &each {
                    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum_up(*sum, *value));
                }
                RdpCurve::new(orders.to_vec(), sums).ok()
            });
            Self { statement, curves }
        });
        composed.collect()
    }

    /// The statement of the theorem.
    #[must_use]
    pub const fn statement(&self) -> &'static Statement {
        self.statement
    }

    /// The sum in a direction; `None` if the theorem does not hold in it.
    #[must_use]
    pub const fn curve(&self, direction: Direction) -> Option<&RdpCurve> {
        self.curves[direction as usize].as_ref()
    }

    /// The larger sum at each order, for a theorem that holds in both directions. All answers concern the same
    /// neighbor, so all have the same direction.
    #[must_use]
    pub fn both_directions(&self) -> Option<RdpCurve> {
        let [Some(forward), Some(reverse)] = &self.curves else { return None };
        let values = forward.values().iter().zip(reverse.values()).map(|(a, b)| a.max(*b)).collect();
        RdpCurve::new(forward.orders().to_vec(), values).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accountant::gaussian_rdp;

    static BOTH: Statement = Statement::for_any_data("both", "test", "test");
    static FORWARD: Statement = Statement::for_these_data("forward", "test", "test").forward();

    fn orders() -> Vec<Order> {
        [2.0, 8.0].map(|order| Order::new(order).unwrap()).to_vec()
    }

    fn theorems(factor: f64) -> Vec<Theorem> {
        let value = move |order: Order, direction| {
            factor * order.get() * if direction == Direction::Reverse { 2.0 } else { 1.0 }
        };
        vec![Theorem::new(&BOTH, value), Theorem::new(&FORWARD, value)]
    }

    #[test]
    fn a_theorem_is_silent_in_a_direction_that_it_does_not_cover() {
        let [both, forward] = theorems(1.0).try_into().unwrap();
        let order = Order::new(2.0).unwrap();
        assert_eq!(both.at(order, Direction::Reverse).unwrap().value, 4.0);
        assert_eq!(forward.at(order, Direction::Forward).unwrap().value, 2.0);
        assert!(forward.at(order, Direction::Reverse).is_none());
        assert!(forward.values(&orders(), Direction::Reverse).is_none());
        // It does not bound groups either.
        assert!(forward.of_group(2).is_none());
    }

    #[test]
    fn sums_are_by_statement_and_direction() {
        let composed = ComposedTheorem::all(&[theorems(1.0), theorems(3.0)], &orders());
        assert_eq!(composed.len(), 2);
        assert_eq!(composed[0].curve(Direction::Forward).unwrap().values(), [8.0, 32.0]);
        assert_eq!(composed[0].both_directions().unwrap().values(), [16.0, 64.0]);
        assert_eq!(composed[1].curve(Direction::Forward).unwrap().values(), [8.0, 32.0]);
        assert!(composed[1].curve(Direction::Reverse).is_none() && composed[1].both_directions().is_none());
        // A theorem missing for one answer does not hold for both.
        let composed = ComposedTheorem::all(&[theorems(1.0), theorems(3.0)[..1].to_vec()], &orders());
        assert_eq!(composed.iter().map(|theorem| theorem.statement().name).collect::<Vec<_>>(), ["both"]);
        assert!(ComposedTheorem::all(&[], &orders()).is_empty());
    }

    #[test]
    fn groups_and_worst_cases_are_theorems() {
        let sigma = NoiseScale::new(40.0).unwrap();
        let order = Order::new(2.0).unwrap();
        let gaussian = Theorem::alike(&BOTH, move |order| gaussian_rdp(order, sigma, 1.0));
        let group = gaussian.of_group(2).unwrap();
        assert_eq!(group.name(), "mironov-group");
        let expected = group_rdp(order, 2, |order| gaussian_rdp(order, sigma, 1.0));
        assert_eq!(group.at(order, Direction::Forward).unwrap().value, expected);
        let known = WorstCases::default();
        let worst = known.theorem(sigma, VoteChange::Moved);
        let value = worst.at(order, Direction::Reverse).unwrap();
        assert_eq!(value.value, crate::accountant::gnmax_worst_case(order, sigma, VoteChange::Moved).upper);
        assert_eq!(value.validity, Validity::NumericallyCertified);
        // The second time, it is looked up.
        assert_eq!(known.0.lock().unwrap().len(), 1);
        assert_eq!(worst.at(order, Direction::Forward), Some(value));
        assert_eq!(known.0.lock().unwrap().len(), 1);
    }
}
