//! RDP curves of a sequence of answers: the bounds of theorems, and the exact costs.

use super::meaning::{CostMeaning, LossComposition};
use super::voter_moves::VoterMoves;
use crate::accountant::{ComposedTheorem, ConfidentCost, Scope, Theorem, VoteCost, WorstCases};
use crate::bound::outward::sum_up;
use crate::bound::{AtMost, Direction, Directions, Figures, Validity};
use crate::distribution::{Noise, OutputPair};
use crate::divergence::{Conversion, RdpCurve, order_grid};
use crate::error::Result;
use crate::mechanism::{Mechanism, NoisyArgmax, RandomVotes};
use crate::parallel;
use crate::quantity::{Delta, Order};
use crate::record::{RecordedQuery, ScenarioQuery};
use crate::study::claim::with_requested;
use crate::study::progress::Meter;

/// The cost of a sequence of answers.
pub struct NamedCurve {
    pub name: &'static str,
    pub meaning: CostMeaning,
    /// The directions that the curve and its ε cover.
    pub directions: Directions,
    pub validity: Validity,
    pub curve: RdpCurve,
    /// The largest privacy loss, which is ε at δ = 0.
    pub largest_loss: AtMost,
}

impl NamedCurve {
    /// A theorem's bound for `times` such sequences: in both directions if it covers both, else in the forward
    /// direction.
    fn of_theorem(theorem: &ComposedTheorem, times: f64) -> Option<Self> {
        let statement = theorem.statement();
        let curve = match statement.directions {
            Directions::Both => theorem.both_directions(),
            Directions::Forward => theorem.curve(Direction::Forward).cloned(),
        }?;
        let meaning = match statement.scope {
            Scope::AnyData => CostMeaning::DataIndependent,
            Scope::TheseData => CostMeaning::DataDependent,
        };
        let (name, directions, validity) = (statement.name, statement.directions, statement.validity);
        let largest_loss = AtMost::NOTHING;
        Some(Self { name, meaning, directions, validity, curve: curve.repeated(times), largest_loss })
    }

    /// Costs that are computed, not bounded, in both directions.
    fn computed(name: &'static str, meaning: CostMeaning, orders: &[Order], values: Vec<f64>) -> Result<Self> {
        let (directions, validity, largest_loss) = (Directions::Both, Validity::Exact, AtMost::NOTHING);
        let curve = RdpCurve::new(orders.to_vec(), values)?;
        Ok(Self { name, meaning, directions, validity, curve, largest_loss })
    }

    /// ε at δ and its order; 0 for a curve of zeros, to which a conversion would only add its own slack.
    pub fn epsilon(&self, delta: Delta, conversion: Conversion) -> (f64, f64) {
        let (epsilon, order) = match conversion {
            Conversion::Improved => self.curve.epsilon(delta),
            Conversion::Classic => self.curve.classic_epsilon(delta),
        };
        let nothing = self.curve.values().iter().all(|value| *value == 0.0);
        // Without a δ, no order gives an ε.
        let without_delta = if delta.get() == 0.0 { self.largest_loss } else { AtMost::NOTHING };
        (if nothing { 0.0 } else { AtMost::new(epsilon.get()).min(without_delta).get() }, order.get())
    }
}

/// Every n-th order of the grid is used for exact costs and many different releases, which raises ε by less than 1%.
const FEW_STEP: usize = 5;

/// The orders of all curves but the exact ones.
pub fn all_orders(requested: &[Order]) -> Vec<Order> {
    with_requested(order_grid(), requested)
}

/// Fewer orders, of many different releases.
pub fn some_orders(requested: &[Order]) -> Vec<Order> {
    with_requested(order_grid().into_iter().filter(|order| order.get() < 2000.0).step_by(FEW_STEP).collect(), requested)
}

/// The expected charge of answers that may be withheld. It is a mean and not a bound, so it is not a theorem.
const fn expected_charge(noise: Noise) -> &'static str {
    match noise {
        Noise::Gaussian(_) => "confident-gnmax-expected",
        Noise::Laplace(_) => "confident-lnmax-expected",
    }
}

/// Costs of one answer per recorded query when one vote of each may move, without the exact costs.
pub fn recorded(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    requested: &[Order],
    known: &WorstCases,
) -> Result<Vec<NamedCurve>> {
    let orders = all_orders(requested);
    let answers: Vec<Vec<Theorem>> = parallel::map(queries, |query| {
        let theorems = mechanism.theorems_for_votes(&query.histogram, known);
        theorems.into_iter().filter(|theorem| theorem.statement().scope == Scope::TheseData).collect()
    });
    let times = queries.len() as f64;
    // What holds for any votes is the same at every answer.
    let one = ComposedTheorem::all(&[mechanism.theorems_for_any_votes(known)], &orders);
    let mut curves: Vec<NamedCurve> = one.iter().filter_map(|theorem| NamedCurve::of_theorem(theorem, times)).collect();
    if let Some(query) = queries.first() {
        let largest_loss = mechanism.largest_loss(&query.histogram).times(times);
        curves.iter_mut().for_each(|curve| curve.largest_loss = largest_loss);
    }
    let these = ComposedTheorem::all(&answers, &orders);
    curves.extend(these.iter().filter_map(|theorem| NamedCurve::of_theorem(theorem, 1.0)));
    if mechanism.test.is_some() {
        let cost =
            |query: &RecordedQuery| VoteCost::of_moved_vote(mechanism.noise, mechanism.test.as_ref(), &query.histogram);
        let costs = parallel::map(queries, cost);
        let expected = |order: &Order| {
            costs.iter().map(|cost| ConfidentCost::expected(cost.in_both_directions(*order))).fold(0.0, sum_up)
        };
        let (name, values) = (expected_charge(mechanism.noise), parallel::map(&orders, expected));
        curves.push(NamedCurve::computed(name, CostMeaning::Expected, &orders, values)?);
    }
    Ok(curves)
}

/// The orders of exact costs, which take longer: a few, and those at which some bound has its least ε, so that no exact
/// ε exceeds a bound.
pub fn exact_orders(
    requested: &[Order],
    bounds: &[NamedCurve],
    deltas: &[Delta],
    conversion: Conversion,
) -> Vec<Order> {
    let best = bounds.iter().flat_map(|bound| deltas.iter().map(|&delta| bound.epsilon(delta, conversion).1));
    with_requested(some_orders(requested), &best.filter_map(|order| Order::new(order).ok()).collect::<Vec<_>>())
}

/// The exact cost of one answer per recorded query, conditional on the votes, and that of all answers when one teacher,
/// or one party, changes any of its votes. The latter is left out if individual votes are not recorded.
///
/// # Errors
/// [`Error::Rejected`](crate::Error::Rejected) when a histogram has too many neighbors to be searched.
pub fn exact(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    orders: &[Order],
    meter: &Meter<'_>,
) -> Result<Vec<NamedCurve>> {
    let moves = VoterMoves::new(mechanism, queries, orders, meter)?;
    let curve = |name, meaning, values| NamedCurve::computed(name, meaning, orders, values);
    let per_query = curve("exact-per-query", CostMeaning::ExactGivenVotes, moves.per_query());
    let one_voter = moves.one_voter().map(|values| curve("exact-one-voter", CostMeaning::ExactOfOneVoter, values));
    [per_query].into_iter().chain(one_voter).collect()
}

/// Costs of one answer per query of a scenario: the exact ones added up, or the largest of them.
pub fn scenario(queries: &[ScenarioQuery], adds: bool, requested: &[Order]) -> Result<Vec<NamedCurve>> {
    let orders = all_orders(requested);
    let pairs = parallel::try_map(queries, |query| query.model.output_pair(query.noise))?;
    let known = WorstCases::default();
    let theorems = |(query, pair): (&ScenarioQuery, &OutputPair)| {
        let mechanism = RandomVotes { model: &query.model, noise: query.noise, rate: None };
        // Where a theorem holds in one direction only, another one covers both.
        let both = |theorem: &Theorem| theorem.statement().directions == Directions::Both;
        mechanism.theorems(pair, &known).into_iter().filter(both).collect()
    };
    let answers: Vec<Vec<Theorem>> = queries.iter().zip(&pairs).map(theorems).collect();
    let composed = ComposedTheorem::all(&answers, &orders);
    let mut curves: Vec<NamedCurve> =
        composed.iter().filter_map(|theorem| NamedCurve::of_theorem(theorem, 1.0)).collect();
    // The neighbor is one dataset, so all answers have the same direction.
    let exact = |order, direction| {
        let answers = pairs.iter().map(|pair| pair.renyi(direction, order));
        if adds { answers.sum::<f64>() } else { answers.fold(0.0, f64::max) }
    };
    let both = |&order: &Order| exact(order, Direction::Forward).max(exact(order, Direction::Reverse));
    let (name, meaning) = match adds {
        true => ("exact-sum", CostMeaning::ExactOfScenario),
        false => ("exact-largest-answer", CostMeaning::ExactOfOneAnswer),
    };
    curves.push(NamedCurve::computed(name, meaning, &orders, parallel::map(&orders, both))?);
    Ok(curves)
}

/// No exact cost exceeds a bound for both directions at any order they share, and its ε exceeds none at any δ.
///
/// # Errors
/// [`Error::Contradiction`](crate::Error::Contradiction).
pub fn consistent(curves: &[NamedCurve], deltas: &[Delta], conversion: Conversion) -> Result<()> {
    // One voter is fewer changes than another voter at each answer.
    let exact = |curve: &&NamedCurve| curve.meaning.is_exact();
    let bound = |curve: &&NamedCurve| {
        curve.directions == Directions::Both
            && matches!(curve.meaning, CostMeaning::DataIndependent | CostMeaning::DataDependent)
    };
    for exact in curves.iter().filter(exact) {
        for (order, value) in exact.curve.orders().iter().zip(exact.curve.values()) {
            let words = format!("Rényi divergence of order {order} of all answers");
            let mut figures = Figures::of_order(words, order.get());
            figures.at_least(exact.name, *value);
            for curve in curves.iter().filter(bound) {
                if let Some(place) = curve.curve.orders().iter().position(|other| other == order) {
                    figures.at_most(curve.name, curve.curve.values()[place]);
                }
            }
            figures.check()?;
        }
        for &delta in deltas {
            let mut figures = Figures::new(format!("ε at δ = {delta} of all answers by Rényi orders"));
            figures.at_least(exact.name, exact.epsilon(delta, conversion).0);
            for curve in curves.iter().filter(bound) {
                figures.at_most(curve.name, curve.epsilon(delta, conversion).0);
            }
            figures.check()?;
        }
    }
    Ok(())
}

/// No lower end of a composition is above an ε by Rényi orders that covers both directions, or above its own upper end.
///
/// # Errors
/// [`Error::Contradiction`](crate::Error::Contradiction).
pub fn consistent_losses(curves: &[NamedCurve], losses: &LossComposition, conversion: Conversion) -> Result<()> {
    for at in losses.profile.iter().chain([&losses.epsilon]) {
        let mut figures = Figures::new(format!("ε at δ = {} of all answers", at.delta));
        figures.at_least("privacy-loss, at least", at.lower.0);
        figures.at_most("privacy-loss, at most", at.upper.0);
        let delta = Delta::new(at.delta)?;
        // The composition lets any voter change at each answer: the cost of one voter bounds less.
        let less = [CostMeaning::Expected, CostMeaning::ExactOfOneVoter];
        let bound = |curve: &&NamedCurve| curve.directions == Directions::Both && !less.contains(&curve.meaning);
        for curve in curves.iter().filter(bound) {
            figures.at_most(curve.name, curve.epsilon(delta, conversion).0);
        }
        figures.check()?;
    }
    Ok(())
}
