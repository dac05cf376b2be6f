//! What the sequence of all answers leaks: which sums are bounds, and which only illustrate.

use super::audit_votes::AuditedVotes;
use crate::args::VotesOptions;
use crate::claims::{Evidence, Wanted};
use leakbound::report::{ComposedCurve, ComposedEpsilon, ComposedSection, LawKind, Meaning, Number};
use leakbound::{
    Composition, Direction, Epsilon, JointQuery, Order, OutcomeLaw, RdpCurve, Result, SharedTeachers, VoteModel,
    joint_bound, order_grid, renyi_divergence,
};
use rayon::prelude::*;

const PRODUCT: &str = "the outputs are independent under both datasets, so divergences add";
const DEPENDENT: &str = "teachers trained once make the answers dependent, and a sum can overstate what they leak \
                         together; the largest single query bounds it";

/// The sequence: which queries, and how often each is answered.
struct Sequence<'a> {
    queries: Vec<&'a AuditedVotes>,
    times: f64,
    words: String,
    length: u64,
}

/// The composed figures; None with `per-query`.
pub fn section(
    audited: &[AuditedVotes],
    mode: Composition,
    law: LawKind,
    options: &VotesOptions,
) -> Result<Option<ComposedSection>> {
    let (meaning, reason) = match mode {
        Composition::Independent => (Meaning::Bound, PRODUCT),
        Composition::SharedTeachers => (Meaning::Illustrative, DEPENDENT),
        Composition::PerQuery => return Ok(None),
    };
    let sequence = sequence(audited, law, options)?;
    let orders = orders(&options.bound.orders.0);
    // All queries of the sequence at once: the failure probability is divided among them.
    let share = options.bound.failure_probability.split(sequence.queries.len());
    let evidence: Vec<Evidence> = sequence
        .queries
        .par_iter()
        .map(|query| Evidence::new(&query.counts, &query.guide, share, Wanted::Renyi))
        .collect::<Result<_>>()?;
    // Lower bounds are computed at some orders only: D_α never falls in α, so each serves the orders above it.
    let few = lower_orders(&options.bound.orders.0);
    let mut curves = Vec::new();
    for direction in options.bound.direction.list() {
        let lower: Vec<Vec<f64>> = evidence
            .par_iter()
            .map(|evidence| few.iter().map(|&order| evidence.renyi(order, direction)).collect())
            .collect();
        let sums: Vec<f64> = (0..few.len())
            .map(|place| sequence.times * lower.iter().map(|values| values[place]).sum::<f64>())
            .collect();
        let sum = |order| rising(&few, &sums, order);
        curves.push(curve("lower-sum", direction, &orders, meaning, Meaning::Illustrative, options, sum)?);
        if meaning == Meaning::Illustrative {
            let largest: Vec<f64> =
                (0..few.len()).map(|place| lower.iter().map(|values| values[place]).fold(0.0, f64::max)).collect();
            let (name, bound) = ("lower-largest-query", Meaning::Bound);
            let largest = |order| rising(&few, &largest, order);
            curves.push(curve(name, direction, &orders, bound, Meaning::Illustrative, options, largest)?);
        } else if sequence.queries.len() > 1 {
            let joint = joint(&sequence, direction, options)?;
            let joint = |order| rising(&options.bound.orders.0, &joint, order);
            curves.push(curve("lower-joint", direction, &orders, meaning, Meaning::Illustrative, options, joint)?);
        }
        let exact = |order| {
            let one = |query: &&AuditedVotes| {
                let (p, q) = if direction == Direction::Forward { (&query.p, &query.q) } else { (&query.q, &query.p) };
                // Both laws come from one model, so they have the same outcomes.
                renyi_divergence(p, q, order).unwrap_or(f64::INFINITY)
            };
            sequence.times * sequence.queries.iter().map(one).sum::<f64>()
        };
        let exact_meaning = if law == LawKind::Exact { meaning } else { Meaning::Illustrative };
        curves.push(curve(law.sum(), direction, &orders, exact_meaning, exact_meaning, options, exact)?);
        if mode == Composition::SharedTeachers && options.n_queries.is_some() {
            let query = sequence.queries[0];
            for (name, values) in together(&query.model, sequence.length, direction, &orders, options)? {
                let value = |order: Order| {
                    orders.iter().position(|other| *other == order).map_or(f64::INFINITY, |place| values[place])
                };
                curves.push(curve(name, direction, &orders, Meaning::Bound, Meaning::Bound, options, value)?);
            }
        }
        for name in upper_names(&sequence.queries) {
            let upper =
                |order| sequence.times * sequence.queries.iter().map(|query| query.upper.rdp(name, order)).sum::<f64>();
            // A data-dependent cost of the mixture over trainings is a cost of one answer; costs for all votes add.
            let upper_meaning = if name == "gnmax-data-dependent" { meaning } else { Meaning::Bound };
            if name != "gnmax-data-dependent" || direction == Direction::Forward {
                curves.push(curve(name, direction, &orders, upper_meaning, upper_meaning, options, upper)?);
            }
        }
    }
    Ok(Some(ComposedSection {
        composition: mode.to_string(),
        sequence: sequence.words,
        queries: sequence.length,
        meaning,
        reason,
        orders: orders.iter().map(|order| order.get()).collect(),
        curves,
        failure_probability: options.bound.failure_probability.get(),
    }))
}

/// The joint bound of all queries at the orders asked for, among which and the directions the failure probability is
/// divided.
fn joint(sequence: &Sequence, direction: Direction, options: &VotesOptions) -> Result<Vec<f64>> {
    let (orders, directions) = (&options.bound.orders.0, options.bound.direction.list().len());
    let share = options.bound.failure_probability.split(orders.len() * directions);
    let queries: Vec<JointQuery> =
        sequence.queries.iter().map(|query| JointQuery { counts: &query.counts, p: &query.p, q: &query.q }).collect();
    orders.iter().map(|&order| Ok(joint_bound(&queries, order, direction, share)?.value)).collect()
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

/// What all answers to one query leak together when the teachers are trained once: exactly for two classes, and at
/// most, however many answers there are.
fn together(
    model: &VoteModel,
    answers: u64,
    direction: Direction,
    orders: &[Order],
    options: &VotesOptions,
) -> Result<Vec<(&'static str, Vec<f64>)>> {
    let divergence = |[p, q]: &[OutcomeLaw; 2], order| {
        let (p, q) = if direction == Direction::Forward { (p, q) } else { (q, p) };
        renyi_divergence(p, q, order)
    };
    let mut curves = Vec::new();
    let cap = match model {
        VoteModel::Pate(model) => {
            let (k, m) = (model.teachers(), model.changed_teachers());
            let teachers = SharedTeachers::new(k, model.probabilities(), model.probabilities_marked(), m)?;
            // Refused for more classes and for very long sequences, where the cap says nearly as much.
            if let Ok(laws) = teachers.joint_laws(options.noise, answers) {
                let joint = orders.par_iter().map(|&order| divergence(&laws, order)).collect::<Result<_>>()?;
                curves.push(("joint-exact", joint));
            }
            orders.par_iter().map(|&order| Ok(teachers.cap(order, direction)?.value)).collect::<Result<_>>()?
        }
        VoteModel::Capc(model) => {
            // All answers are a function of the votes, of which only that of the first party has another law.
            let laws = [
                OutcomeLaw::from_probabilities(&model.probabilities()[0])?,
                OutcomeLaw::from_probabilities(model.probabilities_marked())?,
            ];
            orders.iter().map(|&order| divergence(&laws, order)).collect::<Result<_>>()?
        }
        _ => return Ok(curves),
    };
    curves.push(("shared-teachers-cap", cap));
    Ok(curves)
}

/// Names of the accountants of all queries, each once.
fn upper_names(queries: &[&AuditedVotes]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for name in queries.iter().flat_map(|query| query.upper.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One answer to each query, or N answers to the query that leaks most by the exact law: chosen before any count.
fn sequence<'a>(audited: &'a [AuditedVotes], law: LawKind, options: &VotesOptions) -> Result<Sequence<'a>> {
    let Some(times) = options.n_queries else {
        let length = audited.len() as u64;
        let words = format!("one answer to each of {length} queries");
        return Ok(Sequence { queries: audited.iter().collect(), times: 1.0, words, length });
    };
    let order = options.bound.orders.0[0];
    let mut worst = &audited[0];
    let mut largest = -1.0;
    for query in audited {
        let divergence = renyi_divergence(&query.p, &query.q, order)?.max(renyi_divergence(&query.q, &query.p, order)?);
        if divergence > largest {
            (worst, largest) = (query, divergence);
        }
    }
    let words = format!(
        "{times} answers to query {}, which leaks most by the {}",
        worst.name,
        if law == LawKind::Exact { "exact law" } else { "law" }
    );
    Ok(Sequence { queries: vec![worst], times: times as f64, words, length: times })
}

/// The grid for conversions with the orders asked for among it.
fn orders(asked: &[Order]) -> Vec<Order> {
    let mut orders = order_grid();
    orders.extend(asked.iter().filter(|order| order.get() < 1e6));
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    orders
}

fn curve(
    name: &'static str,
    direction: Direction,
    orders: &[Order],
    meaning: Meaning,
    epsilon_meaning: Meaning,
    options: &VotesOptions,
    value: impl Fn(Order) -> f64,
) -> Result<ComposedCurve> {
    let curve = RdpCurve::from_fn(orders, value);
    let delta = options.bound.claims.delta;
    let (mut epsilon, order) = curve.epsilon(delta);
    if curve.values().iter().all(|value| *value == 0.0) {
        // Equal laws, or nothing proved: a conversion would only add its own slack.
        epsilon = Epsilon::new(0.0)?;
    }
    Ok(ComposedCurve {
        name,
        direction,
        values: curve.values().iter().map(|&value| Number(value)).collect(),
        meaning,
        epsilon: ComposedEpsilon {
            delta: delta.get(),
            epsilon: Number(epsilon.get()),
            order: order.get(),
            meaning: epsilon_meaning,
        },
    })
}
