//! What an audit of counts reports besides its bounds per query: μ, δ and the trade-off, the divergences of given
//! distributions, and all queries together.

use super::request::{CountedQuery, CountsStudy};
use crate::audit::{
    BoundEvent, FailureBudget, OutputSet, Rectangle, SetSource, outcome_rectangles, rectangles, trade_off_band,
};
use crate::bound::{Direction, LowerBound, Validity};
use crate::distribution::OutputPair;
use crate::error::{Error, Result};
use crate::parallel;
use crate::quantity::{Epsilon, FailureProbability, Order};
use crate::study::bounds::Bounds;
use crate::study::composed::{
    ComposedCurve, ComposedSection, CurveKind, LowerCurves, Meaning, Observed, curves, meaning, orders,
};
use crate::study::number::Number;
use crate::study::rows::DistributionDivergenceRow;
use serde::Serialize;

/// A bound of δ at ε.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeltaRow {
    /// Which inequality.
    pub direction: Direction,
    /// ε.
    pub epsilon: f64,
    /// The lower bound of δ.
    pub delta_lower: Number,
}

/// Limits of both probabilities of one output set.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeOffPoint {
    /// Labels of the outcomes in the set.
    pub outcomes: Vec<String>,
    /// Lower and upper limit of P(O).
    pub p: [Number; 2],
    /// Lower and upper limit of Q(O).
    pub q: [Number; 2],
}

/// What one event shows about the trade-off of both worlds: everything in the row holds simultaneously.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TradeOffRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// `trade-off-band` for all thresholds of the guessed ratio, `clopper-pearson` for the output sets.
    pub method: &'static str,
    /// The probability that anything of this row is wrong.
    pub failure_probability: f64,
    /// What is guaranteed.
    pub validity: Validity,
    /// The lower bound of μ.
    pub mu_lower: Number,
    /// Lower bounds of δ.
    pub delta: Vec<DeltaRow>,
    /// The limits.
    pub points: Vec<TradeOffPoint>,
}

/// Output sets with their limits, which hold simultaneously.
struct Limits {
    method: &'static str,
    sets: Vec<OutputSet>,
    rectangles: Vec<Rectangle>,
}

impl Limits {
    /// The band of all thresholds of the ratio that the guide predicts, or the sets of the audit; without either, each
    /// outcome alone, at a price that does not depend on which outcomes were seen.
    fn new(query: &CountedQuery, failure: FailureProbability) -> Result<Self> {
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

impl CountsStudy {
    /// Whether μ and δ are bounded.
    pub(super) const fn wants_trade_off(&self) -> bool {
        self.trade_off || !self.epsilons.is_empty()
    }

    /// Bounds of μ and δ for every query, if they are requested.
    pub(super) fn trade_offs(&self, budget: &FailureBudget) -> Result<Vec<TradeOffRow>> {
        if !self.wants_trade_off() {
            return Ok(Vec::new());
        }
        let row = |query: &CountedQuery| {
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
            let directions = &self.bounds.directions;
            Ok(TradeOffRow {
                query: query.name.clone(),
                method: limits.method,
                failure_probability: budget.share().get(),
                validity: Validity::FiniteSample,
                mu_lower: limits.largest(Rectangle::gdp),
                delta: self
                    .epsilons
                    .iter()
                    .flat_map(|epsilon| directions.iter().map(move |&direction| (epsilon, direction)))
                    .map(|(epsilon, direction)| delta(epsilon, direction))
                    .collect(),
                points: limits.sets.iter().zip(&limits.rectangles).map(point).collect(),
            })
        };
        parallel::try_map(&self.queries, row)
    }

    /// The divergences of the given distributions at the orders and directions of the bounds.
    pub(super) fn distribution_rows(&self) -> Vec<DistributionDivergenceRow> {
        let mut rows = Vec::new();
        for query in &self.queries {
            let Some(pair) = distribution(query) else { continue };
            for &direction in &self.bounds.directions {
                for &order in &self.bounds.orders {
                    let divergence = Number(pair.renyi(direction, order));
                    rows.push(DistributionDivergenceRow {
                        query: query.name.clone(),
                        direction,
                        order: order.get(),
                        divergence,
                    });
                }
            }
        }
        rows
    }

    /// All queries together, if the request states how they compose.
    pub(super) fn composed(&self, budget: &FailureBudget) -> Result<Option<ComposedSection>> {
        let (queries, mode, bounds) = (&self.queries, self.composition, &self.bounds);
        let Some((meaning, reason)) = meaning(mode) else { return Ok(None) };
        let several = format_args!("{mode} needs several queries, in a column `query`; the file has one");
        Error::check_possible(queries.len() >= 2, "composition", several)?;
        let orders = orders(&bounds.orders);
        let answers: Vec<Observed> = queries.iter().map(|query| Observed::new(&query.counts, &query.guide)).collect();
        let lower = LowerCurves::new(&answers, 1.0, bounds, budget)?;
        let mut curves = lower.curves(meaning, &orders)?;
        curves.extend(distribution_sum(queries, &orders, meaning, bounds)?);
        Ok(Some(ComposedSection {
            composition: mode.to_string(),
            sequence: format!("one answer to each of {} queries", queries.len()),
            queries: queries.len() as u64,
            meaning,
            reason,
            orders: orders.iter().map(|order| order.get()).collect(),
            curves,
            failure_probability: bounds.failure_probability.get(),
        }))
    }
}

/// Given distributions, which alone are guides with this source.
fn distribution(query: &CountedQuery) -> Option<&OutputPair> {
    query.guide.pair().filter(|_| query.guide.sets.source == SetSource::ExactDistribution)
}

/// The sum of the divergences of the given distributions.
fn distribution_sum(
    queries: &[CountedQuery],
    orders: &[Order],
    meaning: Meaning,
    bounds: &Bounds,
) -> Result<Vec<ComposedCurve>> {
    let Some(distributions) = queries.iter().map(distribution).collect::<Option<Vec<_>>>() else {
        return Ok(Vec::new());
    };
    let sum = |order, direction| distributions.iter().map(|pair| pair.renyi(direction, order)).sum();
    curves(("exact-sum", CurveKind::Exact), orders, [meaning, meaning], bounds, sum)
}
