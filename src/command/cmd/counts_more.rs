//! What an audit of counts says beside its bounds per query: μ, δ and the trade-off, the divergences of a given law, and
//! all queries together.

use super::audit_counts::AuditedQuery;
use super::lower_curves::{Answer, LowerCurves, curves, meaning, orders};
use crate::command::args::{BoundOptions, FurtherOptions};
use crate::report::{
    ComposedCurve, ComposedSection, CurveKind, DeltaRow, LawDivergenceRow, Meaning, TradeOffPoint, TradeOffRow,
};
use crate::study::Number;
use crate::{
    BoundEvent, Composition, Epsilon, Error, FailureBudget, FailureProbability, LowerBound, Order, OutputPair,
    OutputSet, Rectangle, Result, SetSource, Validity, outcome_rectangles, rectangles, trade_off_band,
};
use rayon::prelude::*;

/// Output sets with their limits, all of which hold at once.
struct Limits {
    method: &'static str,
    sets: Vec<OutputSet>,
    rectangles: Vec<Rectangle>,
}

impl Limits {
    /// The band of all thresholds of the ratio that the guide leads to expect, or the sets of the audit; without
    /// either each outcome alone, at a price that does not depend on which outcomes were seen.
    fn new(query: &AuditedQuery, failure: FailureProbability) -> Result<Self> {
        if let Some(score) = query.guide.score() {
            let band = trade_off_band(&query.counts, score, failure)?;
            return Ok(Self { method: "trade-off-band", sets: band.sets, rectangles: band.rectangles });
        }
        let sets = &query.guide.sets;
        let (sets, rectangles) = if query.guide.trade_off_event() == BoundEvent::SingleOutcomes {
            let outcomes = query.counts.outcomes();
            let alone = |member| OutputSet::new((0..outcomes).map(|outcome| outcome == member).collect());
            ((0..outcomes).map(alone).collect(), outcome_rectangles(&query.counts, failure)?)
        } else {
            (sets.sets.clone(), rectangles(&query.counts, sets, failure)?)
        };
        Ok(Self { method: "clopper-pearson", sets, rectangles })
    }

    fn largest(&self, bound: impl Fn(&Rectangle) -> LowerBound) -> Number {
        Number(self.rectangles.iter().map(|rectangle| bound(rectangle).value).fold(0.0, f64::max))
    }
}

/// Whether bounds of μ and δ are asked for.
pub fn wants_trade_off(further: &FurtherOptions) -> bool {
    further.trade_off || !further.epsilons.is_empty()
}

/// Bounds of μ and δ for every query; none unless asked for.
pub fn trade_offs(
    queries: &[AuditedQuery],
    bound: &BoundOptions,
    further: &FurtherOptions,
    budget: &FailureBudget,
) -> Result<Vec<TradeOffRow>> {
    if !wants_trade_off(further) {
        return Ok(Vec::new());
    }
    let row = |query: &AuditedQuery| {
        let limits = Limits::new(query, budget.share())?;
        let delta = |&epsilon: &Epsilon, direction| DeltaRow {
            direction,
            epsilon: epsilon.get(),
            delta_lower: limits.largest(|rectangle| rectangle.delta(epsilon, direction)),
        };
        let labels = query.counts.labels();
        let point = |(set, rectangle): (&OutputSet, &Rectangle)| TradeOffPoint {
            outcomes: set.members().into_iter().map(|member| labels[member].clone()).collect(),
            p: rectangle.inside().map(|limit| Number(limit.value)),
            q: rectangle.inside_neighbor().map(|limit| Number(limit.value)),
        };
        Ok(TradeOffRow {
            query: query.name.clone(),
            method: limits.method,
            failure_probability: budget.share().get(),
            validity: Validity::FiniteSample,
            mu_lower: limits.largest(Rectangle::gdp),
            delta: further
                .epsilons
                .iter()
                .flat_map(|epsilon| bound.direction.list().into_iter().map(move |direction| (epsilon, direction)))
                .map(|(epsilon, direction)| delta(epsilon, direction))
                .collect(),
            points: limits.sets.iter().zip(&limits.rectangles).map(point).collect(),
        })
    };
    queries.par_iter().map(row).collect()
}

/// The laws of `--law`, which alone are guides with this source.
fn law(query: &AuditedQuery) -> Option<&OutputPair> {
    query.guide.pair().filter(|_| query.guide.sets.source == SetSource::ExactLaw)
}

/// The divergences of the given laws at the orders and directions of the bounds.
pub fn law_rows(queries: &[AuditedQuery], bound: &BoundOptions) -> Result<Vec<LawDivergenceRow>> {
    let mut rows = Vec::new();
    for query in queries {
        let Some(pair) = law(query) else { continue };
        for direction in bound.direction.list() {
            for &order in &bound.orders.0 {
                let divergence = Number(pair.renyi(direction, order));
                rows.push(LawDivergenceRow { query: query.name.clone(), direction, order: order.get(), divergence });
            }
        }
    }
    Ok(rows)
}

/// All queries together, where the user says how they compose.
pub fn composed(
    queries: &[AuditedQuery],
    mode: Composition,
    bound: &BoundOptions,
    budget: &FailureBudget,
) -> Result<Option<ComposedSection>> {
    let Some((meaning, reason)) = meaning(mode) else { return Ok(None) };
    if queries.len() < 2 {
        let reason = format!("{mode} needs several queries, in a column `query`; the file has one");
        return Err(Error::Refused { operation: "composition", reason });
    }
    let orders = orders(&bound.orders.0);
    let answers: Vec<Answer> = queries.iter().map(|query| Answer::new(&query.counts, &query.guide)).collect();
    let lower = LowerCurves::new(&answers, 1.0, bound, budget)?;
    let mut curves = lower.curves(meaning, &orders)?;
    curves.extend(law_sum(queries, &orders, meaning, bound)?);
    Ok(Some(ComposedSection {
        composition: mode.to_string(),
        sequence: format!("one answer to each of {} queries", queries.len()),
        queries: queries.len() as u64,
        meaning,
        reason,
        orders: orders.iter().map(|order| order.get()).collect(),
        curves,
        failure_probability: bound.failure_probability.get(),
    }))
}

/// The sum of the divergences of the given laws.
fn law_sum(
    queries: &[AuditedQuery],
    orders: &[Order],
    meaning: Meaning,
    bound: &BoundOptions,
) -> Result<Vec<ComposedCurve>> {
    let Some(laws) = queries.iter().map(law).collect::<Option<Vec<_>>>() else { return Ok(Vec::new()) };
    let sum = |order, direction| laws.iter().map(|pair| pair.renyi(direction, order)).sum();
    curves(("exact-sum", CurveKind::Exact), orders, [meaning, meaning], bound, sum)
}
