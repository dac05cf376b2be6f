//! What the sequence of all answers leaks: which sums are bounds, and which only illustrate.

use super::{AuditedVotes, DistributionKind, VotesStudy};
use crate::accountant::{ComposedTheorem, Scope, Theorem};
use crate::audit::FailureBudget;
use crate::bound::Direction;
use crate::distribution::{Noise, OutcomeDistribution, OutputPair};
use crate::divergence::SharedTeachers;
use crate::error::Result;
use crate::model::{Composition, VoteModel};
use crate::order;
use crate::parallel;
use crate::quantity::Order;
use crate::study::composed::{ComposedSection, CurveKind, LowerCurves, Meaning, Observed, curves, meaning, orders};

/// The sequence: which queries, and how often each is answered.
struct Sequence<'a> {
    queries: Vec<&'a AuditedVotes>,
    times: f64,
    words: String,
    length: u64,
}

impl VotesStudy {
    /// The composed figures; None if queries are not composed.
    pub(super) fn together(
        &self,
        audited: &[AuditedVotes],
        distribution: DistributionKind,
        budget: &FailureBudget,
    ) -> Result<Option<ComposedSection>> {
        let (mode, bounds) = (self.composition, &self.bounds);
        let Some((meaning, reason)) = meaning(mode) else { return Ok(None) };
        let sequence = self.sequence(audited, distribution);
        let orders = orders(&bounds.orders);
        let answers: Vec<Observed> =
            sequence.queries.iter().map(|query| Observed::new(&query.counts, &query.guide)).collect();
        let lower = LowerCurves::new(&answers, sequence.times, bounds, budget)?;
        let mut found = lower.curves(meaning, &orders)?;
        let exact = |order, direction| {
            sequence.times * sequence.queries.iter().map(|query| query.pair.renyi(direction, order)).sum::<f64>()
        };
        let exact_meaning = if distribution == DistributionKind::Exact { meaning } else { Meaning::Illustrative };
        found.extend(curves((distribution.sum(), CurveKind::Exact), &orders, [exact_meaning; 2], bounds, exact)?);
        if mode == Composition::SharedTeachers && self.repeated.is_some() {
            let query = sequence.queries[0];
            for (name, kind, values) in shared(&query.model, sequence.length, &orders, self.noise)? {
                let value = |order: Order, direction: Direction| {
                    let place = orders.iter().position(|other| *other == order);
                    place.map_or(f64::INFINITY, |place| values[direction as usize][place])
                };
                found.extend(curves((name, kind), &orders, [Meaning::Bound; 2], bounds, value)?);
            }
        }
        let theorems: Vec<Vec<Theorem>> = sequence.queries.iter().map(|query| query.theorems.clone()).collect();
        for theorem in ComposedTheorem::all(&theorems, &orders) {
            let statement = theorem.statement();
            let curve =
                Direction::BOTH.map(|direction| theorem.curve(direction).map(|curve| curve.repeated(sequence.times)));
            let upper = |order: Order, direction: Direction| {
                let place = orders.iter().position(|other| *other == order);
                curve[direction as usize]
                    .as_ref()
                    .zip(place)
                    .map_or(f64::INFINITY, |(curve, place)| curve.values()[place])
            };
            // What depends on these data does not add up over answers of teachers that are trained once.
            let upper_meaning = if statement.scope == Scope::AnyData { Meaning::Bound } else { meaning };
            found.extend(curves((statement.name, CurveKind::Upper), &orders, [upper_meaning; 2], bounds, upper)?);
        }
        // Direction by direction, as they are read.
        order::sort(&mut found, |a, b| (a.direction as usize).cmp(&(b.direction as usize)));
        Ok(Some(ComposedSection {
            composition: mode.to_string(),
            sequence: sequence.words,
            queries: sequence.length,
            meaning,
            reason,
            orders: orders.iter().map(|order| order.get()).collect(),
            curves: found,
            failure_probability: bounds.failure_probability.get(),
        }))
    }

    /// One answer to each query, or N answers to the query that leaks most by the exact distribution: chosen before any
    /// count.
    fn sequence<'a>(&self, audited: &'a [AuditedVotes], distribution: DistributionKind) -> Sequence<'a> {
        let Some(times) = self.repeated else {
            let length = audited.len() as u64;
            let words = format!("one answer to each of {length} queries");
            return Sequence { queries: audited.iter().collect(), times: 1.0, words, length };
        };
        let order = self.bounds.orders[0];
        let mut worst = &audited[0];
        let mut largest = -1.0;
        for query in audited {
            let divergence = query.pair.largest_renyi(order);
            if divergence > largest {
                (worst, largest) = (query, divergence);
            }
        }
        let words = format!(
            "{times} answers to query {}, which leaks most by the {}",
            worst.name,
            if distribution == DistributionKind::Exact { "exact distribution" } else { "distribution" }
        );
        Sequence { queries: vec![worst], times: times as f64, words, length: times }
    }
}

/// A curve in both directions.
type BothDirections = [Vec<f64>; 2];

/// What all answers to one query leak together when the teachers are trained once, in both directions: exactly for two
/// classes, and at most, however many answers there are.
fn shared(
    model: &VoteModel,
    answers: u64,
    orders: &[Order],
    noise: Noise,
) -> Result<Vec<(&'static str, CurveKind, BothDirections)>> {
    let curves_of = |pair: &OutputPair| -> BothDirections {
        Direction::BOTH.map(|direction| parallel::map(orders, |&order| pair.renyi(direction, order)))
    };
    let mut curves = Vec::new();
    let cap = match model {
        VoteModel::Pate(model) => {
            let (k, m) = (model.teachers(), model.changed_teachers());
            let teachers = SharedTeachers::new(k, model.probabilities(), model.probabilities_marked(), m)?;
            // Rejected for more classes, and for very long sequences, for which the cap is nearly as good.
            if let Ok(pair) = teachers.joint_pair(noise, answers) {
                curves.push(("joint-exact", CurveKind::Exact, curves_of(&pair)));
            }
            let cap = |direction| parallel::try_map(orders, |&order| Ok(teachers.cap(order, direction)?.value));
            [cap(Direction::Forward)?, cap(Direction::Reverse)?]
        }
        VoteModel::Capc(model) => {
            // All answers are a function of the votes, and only the vote of the first party has another distribution.
            curves_of(&OutputPair::new(
                OutcomeDistribution::from_probabilities(&model.probabilities()[0])?,
                OutcomeDistribution::from_probabilities(model.probabilities_marked())?,
            )?)
        }
        VoteModel::PromptPate(_) | VoteModel::PrivateKnn(_) => return Ok(curves),
    };
    curves.push(("shared-teachers-cap", CurveKind::Upper, cap));
    Ok(curves)
}
