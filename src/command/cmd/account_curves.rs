//! RDP curves of a sequence of answers, by name. A new accountant is one more entry of [`recorded`] or
//! [`scenario`].

use super::upper::Upper;
use super::voter_moves::VoterMoves;
use crate::bound::outward::{product_up, sum_up};
use crate::record::{RecordedQuery, ScenarioQuery};
use crate::report::{CostMeaning, LossComposition};
use crate::{
    Adjacency, ConfidentCost, Conversion, Delta, Direction, Directions, Figures, Noise, Order, OutcomeLaw, RdpCurve,
    Result, ThresholdTest, Validity, VoteCost, VoteHistogram, argmax_data_independent, confident_argmax_law,
    gnmax_worst_case_curve, noisy_argmax_law, order_grid, renyi_divergence, threshold_data_independent,
    worst_neighbors_of,
};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The mechanism that answers recorded votes.
#[derive(Clone, Copy)]
pub struct Mechanism {
    pub noise: Noise,
    pub test: Option<ThresholdTest>,
}

/// The cost of a sequence of answers.
pub struct NamedCurve {
    pub name: &'static str,
    pub meaning: CostMeaning,
    /// The directions that the curve and its ε cover.
    pub directions: Directions,
    pub validity: Validity,
    pub curve: RdpCurve,
}

impl NamedCurve {
    /// ε at δ and its order; 0 for a curve of zeros, to which a conversion would only add its own slack.
    pub fn epsilon(&self, delta: Delta, conversion: Conversion) -> (f64, f64) {
        let (epsilon, order) = match conversion {
            Conversion::Improved => self.curve.epsilon(delta),
            Conversion::Classic => self.curve.classic_epsilon(delta),
        };
        let nothing = self.curve.values().iter().all(|value| *value == 0.0);
        (if nothing { 0.0 } else { epsilon.get() }, order.get())
    }
}

/// Every n-th order of the grid is used for exact costs, which are slower: that raises ε by less than 1 %.
const EXACT_STEP: usize = 5;

/// The orders of all curves but the exact ones.
pub fn all_orders(asked: &[Order]) -> Vec<Order> {
    with(order_grid(), asked)
}

/// The orders of the exact curves.
fn exact_orders(asked: &[Order]) -> Vec<Order> {
    with(order_grid().into_iter().filter(|order| order.get() < 2000.0).step_by(EXACT_STEP).collect(), asked)
}

fn with(mut orders: Vec<Order>, asked: &[Order]) -> Vec<Order> {
    orders.extend(asked);
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    orders
}

/// The names of the accountants of recorded votes: for any votes, for these votes, for these votes in one direction, and
/// the expected charge.
const fn names(mechanism: Mechanism) -> [&'static str; 4] {
    match (mechanism.noise, mechanism.test) {
        (Noise::Gaussian(_), None) => {
            ["gnmax-data-independent", "gnmax-data-dependent", "gnmax-data-dependent-forward", ""]
        }
        (Noise::Laplace(_), None) => {
            ["lnmax-data-independent", "lnmax-data-dependent", "lnmax-data-dependent-forward", ""]
        }
        (Noise::Gaussian(_), Some(_)) => [
            "confident-gnmax-data-independent",
            "confident-gnmax-data-dependent",
            "confident-gnmax-data-dependent-forward",
            "confident-gnmax-expected",
        ],
        (Noise::Laplace(_), Some(_)) => [
            "confident-lnmax-data-independent",
            "confident-lnmax-data-dependent",
            "confident-lnmax-data-dependent-forward",
            "confident-lnmax-expected",
        ],
    }
}

/// Costs of one answer per recorded query, when one vote of each may move, without the exact ones.
pub fn recorded(mechanism: Mechanism, queries: &[RecordedQuery], asked: &[Order]) -> Result<Vec<NamedCurve>> {
    let Mechanism { noise, test } = mechanism;
    let orders = all_orders(asked);
    let costs: Vec<VoteCost> =
        queries.par_iter().map(|query| VoteCost::of_moved_vote(noise, test.as_ref(), &query.histogram)).collect();
    let sum = |cost: &(dyn Fn(&VoteCost) -> f64 + Sync)| -> f64 { costs.iter().map(cost).fold(0.0, sum_up) };
    // All answers are about the same neighbor, so all have the same direction.
    let whole = |order, direction| sum(&|query| query.at(order, direction).whole());
    let curve = |name, meaning, directions, value: &(dyn Fn(Order) -> f64 + Sync)| -> Result<NamedCurve> {
        let values = orders.par_iter().map(|&order| value(order)).collect();
        let curve = RdpCurve::new(orders.clone(), values)?;
        Ok(NamedCurve { name, meaning, directions, validity: Validity::Exact, curve })
    };
    let [any, these, forward, expected] = names(mechanism);
    let mut curves = vec![
        curve(any, CostMeaning::DataIndependent, Directions::Both, &|order| {
            product_up(costs.len() as f64, argmax_data_independent(noise, test.as_ref(), order))
        })?,
        curve(these, CostMeaning::DataDependent, Directions::Both, &|order| {
            whole(order, Direction::Forward).max(whole(order, Direction::Reverse))
        })?,
        curve(forward, CostMeaning::DataDependent, Directions::Forward, &|order| whole(order, Direction::Forward))?,
    ];
    if let Noise::Gaussian(sigma) = noise {
        let name = if test.is_some() { "confident-gnmax-worst-case" } else { "gnmax-worst-case" };
        let worst = gnmax_worst_case_curve(&orders, sigma, Adjacency::Moved);
        let values = worst.iter().map(|worst| {
            let threshold = test.map_or(0.0, |test| threshold_data_independent(worst.order, test.sigma()));
            product_up(costs.len() as f64, sum_up(threshold, worst.upper))
        });
        let curve = RdpCurve::new(orders.clone(), values.collect())?;
        let (meaning, validity) = (CostMeaning::DataIndependent, Validity::NumericallyCertified);
        curves.insert(1, NamedCurve { name, meaning, directions: Directions::Both, validity, curve });
    }
    if test.is_some() {
        curves.push(curve(expected, CostMeaning::Expected, Directions::Both, &|order| {
            sum(&|query| ConfidentCost::expected(query.in_both_directions(order)))
        })?);
    }
    Ok(curves)
}

/// The exact cost of one answer per recorded query, conditional on the votes; `done` hears of every finished query.
///
/// # Errors
/// [`Error::Refused`](crate::Error::Refused) when a histogram has too many neighbours to be searched.
pub fn exact(
    mechanism: Mechanism,
    queries: &[RecordedQuery],
    asked: &[Order],
    done: impl Fn(u64) + Sync,
) -> Result<NamedCurve> {
    Ok(NamedCurve {
        name: "exact-per-query",
        meaning: CostMeaning::ExactGivenVotes,
        directions: Directions::Both,
        validity: Validity::Exact,
        curve: exact_curve(mechanism, queries, &exact_orders(asked), done)?,
    })
}

/// The law of one answer.
pub fn law(mechanism: Mechanism, votes: &VoteHistogram) -> Result<OutcomeLaw> {
    match mechanism.test {
        Some(test) => confident_argmax_law(votes, &test, mechanism.noise),
        None => noisy_argmax_law(votes, mechanism.noise),
    }
}

/// Σ over the queries of the largest divergence, in either direction, from any histogram one moved vote away.
fn exact_curve(
    mechanism: Mechanism,
    queries: &[RecordedQuery],
    orders: &[Order],
    done: impl Fn(u64) + Sync,
) -> Result<RdpCurve> {
    // Classes are alike: histograms that are permutations of each other cost the same.
    let mut different: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
    for query in queries {
        let mut counts = query.histogram.counts().to_vec();
        counts.sort_unstable();
        *different.entry(counts).or_default() += 1.0;
    }
    let different: Vec<(Vec<u64>, f64)> = different.into_iter().collect();
    let costs: Vec<Vec<f64>> = different
        .par_iter()
        .map(|(counts, times)| {
            let votes = VoteHistogram::new(counts.clone())?;
            // Without a vote to move, or a class to move it to, nothing changes.
            let costs = if votes.neighbors(Adjacency::Moved).is_empty() {
                vec![0.0; orders.len()]
            } else {
                let worst = worst_neighbors_of(&votes, Adjacency::Moved, |votes| law(mechanism, votes), orders, &[])?;
                worst.renyi.iter().map(|[forward, reverse]| times * forward.value.max(reverse.value)).collect()
            };
            done(*times as u64);
            Ok(costs)
        })
        .collect::<Result<_>>()?;
    let sums = (0..orders.len()).map(|index| costs.iter().map(|cost| cost[index]).sum()).collect();
    RdpCurve::new(orders.to_vec(), sums)
}

/// The exact cost of all answers when one teacher, or one party, changes any of its votes; None where the recording does
/// not say who voted for what.
///
/// # Errors
/// Those of the distributions.
pub fn one_voter(mechanism: Mechanism, queries: &[RecordedQuery], asked: &[Order]) -> Result<Option<NamedCurve>> {
    let orders = exact_orders(asked);
    let Some(moves) = VoterMoves::new(mechanism, queries, &orders)? else { return Ok(None) };
    let values = (0..orders.len()).map(|place| {
        let largest = |direction| moves.sums(place, direction).into_iter().fold(0.0, f64::max);
        largest(Direction::Forward).max(largest(Direction::Reverse))
    });
    let curve = RdpCurve::new(orders.clone(), values.collect())?;
    Ok(Some(NamedCurve {
        name: "exact-one-voter",
        meaning: CostMeaning::ExactOfOneVoter,
        directions: Directions::Both,
        validity: Validity::Exact,
        curve,
    }))
}

/// Costs of one answer per query of a scenario.
pub fn scenario(queries: &[ScenarioQuery], asked: &[Order]) -> Result<Vec<NamedCurve>> {
    let orders = all_orders(asked);
    let laws: Vec<[OutcomeLaw; 2]> =
        queries.par_iter().map(|query| query.model.laws(query.noise)).collect::<Result<_>>()?;
    let mut uppers: Vec<Upper> =
        queries.iter().zip(&laws).map(|(query, [p, q])| Upper::new(&query.model, query.noise, None, [p, q])).collect();
    uppers.iter_mut().for_each(|upper| upper.prepare(&orders));
    let mut names: Vec<&'static str> = Vec::new();
    for name in uppers.iter().flat_map(Upper::names) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // An accountant that some query lacks promises nothing about the sequence.
    names.retain(|name| uppers.iter().all(|upper| upper.names().contains(name)));
    let mut curves: Vec<NamedCurve> = names
        .into_iter()
        .map(|name| NamedCurve {
            name,
            // What does not add up over dependent answers depends on the distribution of the answer.
            meaning: if uppers[0].adds_up(name) { CostMeaning::DataIndependent } else { CostMeaning::DataDependent },
            directions: Directions::Both,
            validity: uppers[0].validity(name),
            curve: RdpCurve::from_fn(&orders, |order| {
                let sum = |direction| uppers.iter().map(|upper| upper.rdp(name, order, direction)).fold(0.0, sum_up);
                sum(Direction::Forward).max(sum(Direction::Reverse))
            }),
        })
        .collect();
    // The neighbor is one dataset, so all answers have the same direction.
    let sum = |order, pick: fn(&[OutcomeLaw; 2]) -> [&OutcomeLaw; 2]| -> Result<f64> {
        laws.iter().map(|laws| renyi_divergence(pick(laws)[0], pick(laws)[1], order)).sum()
    };
    let sums: Vec<f64> = orders
        .par_iter()
        .map(|&order| Ok(sum(order, |[p, q]| [p, q])?.max(sum(order, |[p, q]| [q, p])?)))
        .collect::<Result<_>>()?;
    curves.push(NamedCurve {
        name: "exact-sum",
        meaning: CostMeaning::ExactOfScenario,
        directions: Directions::Both,
        validity: Validity::Exact,
        curve: RdpCurve::new(orders, sums)?,
    });
    Ok(curves)
}

/// No exact cost is above a bound of both directions, at any order that both are on.
///
/// # Errors
/// [`Error::Contradiction`](crate::Error::Contradiction).
pub fn consistent(curves: &[NamedCurve]) -> Result<()> {
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
    }
    Ok(())
}

/// No lower end of a composition is above an ε by Rényi orders that covers both directions, or above its own upper end.
///
/// # Errors
/// [`Error::Contradiction`](crate::Error::Contradiction).
pub fn consistent_losses(curves: &[NamedCurve], losses: &LossComposition, conversion: Conversion) -> Result<()> {
    for at in &losses.profile {
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
