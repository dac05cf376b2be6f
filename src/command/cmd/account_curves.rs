//! RDP curves of a sequence of answers, by name. A new accountant is one more entry of [`recorded`] or
//! [`scenario`].

use super::upper::Upper;
use crate::record::{RecordedQuery, ScenarioQuery};
use crate::report::CostMeaning;
use crate::{
    Adjacency, ConfidentCost, Conversion, Delta, Noise, NoiseScale, Order, OutcomeLaw, RdpCurve, Result, ThresholdTest,
    Validity, VoteHistogram, confident_argmax_law, gnmax_data_dependent, gnmax_data_independent,
    gnmax_worst_case_curve, lnmax_data_dependent, lnmax_data_independent, log_flip_probability,
    log_flip_probability_laplace, noisy_argmax_law, order_grid, renyi_divergence, threshold_data_dependent,
    threshold_data_independent, worst_neighbors_of,
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

/// The data-dependent cost of one recorded query, with what does not depend on the order computed once.
pub struct QueryCost {
    noise: Noise,
    /// ln q of the argmax.
    log_q: f64,
    /// σ₁ and ln q of the test.
    test: Option<(NoiseScale, f64)>,
    /// The probability of an answer.
    pass: f64,
}

impl QueryCost {
    pub fn new(mechanism: Mechanism, votes: &VoteHistogram) -> Self {
        let odds = mechanism.test.map(|test| (test.sigma(), test.odds(votes)));
        Self {
            noise: mechanism.noise,
            log_q: match mechanism.noise {
                Noise::Gaussian(sigma) => log_flip_probability(votes, sigma),
                Noise::Laplace(b) => log_flip_probability_laplace(votes, b),
            },
            test: odds.map(|(sigma, odds)| (sigma, odds.log_q())),
            pass: odds.map_or(1.0, |(_, odds)| odds.pass()),
        }
    }

    pub fn at(&self, order: Order) -> ConfidentCost {
        ConfidentCost {
            threshold: self.test.map_or(0.0, |(sigma, log_q)| threshold_data_dependent(order, sigma, log_q)),
            answer: match self.noise {
                Noise::Gaussian(sigma) => gnmax_data_dependent(order, sigma, self.log_q),
                Noise::Laplace(b) => lnmax_data_dependent(order, b, self.log_q),
            },
            pass: self.pass,
        }
    }
}

/// Costs of one answer per recorded query, when one vote of each may move, without the exact ones.
pub fn recorded(mechanism: Mechanism, queries: &[RecordedQuery], asked: &[Order]) -> Result<Vec<NamedCurve>> {
    let Mechanism { noise, test } = mechanism;
    let orders = all_orders(asked);
    let costs: Vec<QueryCost> = queries.iter().map(|query| QueryCost::new(mechanism, &query.histogram)).collect();
    let independent = |order| {
        let threshold = test.map_or(0.0, |test| threshold_data_independent(order, test.sigma()));
        let answer = match noise {
            Noise::Gaussian(sigma) => gnmax_data_independent(order, sigma),
            Noise::Laplace(b) => lnmax_data_independent(order, b),
        };
        costs.len() as f64 * (threshold + answer)
    };
    let sum = |order, cost: fn(ConfidentCost) -> f64| costs.iter().map(|query| cost(query.at(order))).sum();
    let curve = |name, meaning, value: &(dyn Fn(Order) -> f64 + Sync)| -> Result<NamedCurve> {
        let values = orders.par_iter().map(|&order| value(order)).collect();
        Ok(NamedCurve { name, meaning, validity: Validity::Exact, curve: RdpCurve::new(orders.clone(), values)? })
    };
    let [first, second, expected] = match (noise, test) {
        (Noise::Gaussian(_), None) => ["gnmax-data-independent", "gnmax-data-dependent", ""],
        (Noise::Laplace(_), None) => ["lnmax-data-independent", "lnmax-data-dependent", ""],
        (Noise::Gaussian(_), Some(_)) => {
            ["confident-gnmax-data-independent", "confident-gnmax-data-dependent", "confident-gnmax-expected"]
        }
        (Noise::Laplace(_), Some(_)) => {
            ["confident-lnmax-data-independent", "confident-lnmax-data-dependent", "confident-lnmax-expected"]
        }
    };
    let mut curves = vec![
        curve(first, CostMeaning::DataIndependent, &independent)?,
        curve(second, CostMeaning::DataDependent, &|order| sum(order, ConfidentCost::whole))?,
    ];
    if let Noise::Gaussian(sigma) = noise {
        let name = if test.is_some() { "confident-gnmax-worst-case" } else { "gnmax-worst-case" };
        let worst = gnmax_worst_case_curve(&orders, sigma, Adjacency::Moved);
        let values = worst.iter().map(|worst| {
            let threshold = test.map_or(0.0, |test| threshold_data_independent(worst.order, test.sigma()));
            costs.len() as f64 * (threshold + worst.upper)
        });
        let curve = RdpCurve::new(orders.clone(), values.collect())?;
        let (meaning, validity) = (CostMeaning::DataIndependent, Validity::NumericallyCertified);
        curves.insert(1, NamedCurve { name, meaning, validity, curve });
    }
    if test.is_some() {
        curves.push(curve(expected, CostMeaning::Expected, &|order| sum(order, ConfidentCost::expected))?);
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

/// Costs of one answer per query of a scenario.
pub fn scenario(queries: &[ScenarioQuery], asked: &[Order]) -> Result<Vec<NamedCurve>> {
    let orders = all_orders(asked);
    let laws: Vec<[OutcomeLaw; 2]> =
        queries.par_iter().map(|query| query.model.laws(query.noise)).collect::<Result<_>>()?;
    let mut uppers: Vec<Upper> =
        queries.iter().zip(&laws).map(|(query, [law, _])| Upper::new(&query.model, query.noise, None, law)).collect();
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
            meaning: if name.ends_with("data-dependent") {
                CostMeaning::DataDependent
            } else {
                CostMeaning::DataIndependent
            },
            validity: uppers[0].bound(name, orders[0]).validity,
            curve: RdpCurve::from_fn(&orders, |order| uppers.iter().map(|upper| upper.rdp(name, order)).sum()),
        })
        .collect();
    let sums: Vec<f64> = orders
        .par_iter()
        .map(|&order| {
            laws.iter()
                .map(|[p, q]| Ok(renyi_divergence(p, q, order)?.max(renyi_divergence(q, p, order)?)))
                .sum::<Result<f64>>()
        })
        .collect::<Result<_>>()?;
    curves.push(NamedCurve {
        name: "exact-sum",
        meaning: CostMeaning::ExactOfScenario,
        validity: Validity::Exact,
        curve: RdpCurve::new(orders, sums)?,
    });
    Ok(curves)
}
