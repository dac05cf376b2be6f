//! How many samples would certify half and nine tenths of the apparent leakage.

use super::request::CountedQuery;
use crate::audit::{
    AuditPlan, Bounded, Guide, Method, SetSource, audit_counts, samples_to_reach, shrunken_pair, typical_bound,
};
use crate::bound::Validity;
use crate::counts::PairedCounts;
use crate::distribution::OutputPair;
use crate::error::{Error, Result};
use crate::study::number::Number;
use crate::study::rows::ForecastRow;

/// Samples per world for which the share of the divergence is forecast.
const SIZES: [u64; 8] = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Methods whose need is forecast: those of the audit that hold at every sample size and take no random order.
fn forecast_of(method: Method) -> bool {
    method.bounds() == Bounded::Renyi && method.validity() == Validity::FiniteSample && !method.is_randomized()
}

/// One row for each method, at the first order and direction.
///
/// The divergence is an estimate from all counts, shrunk as far as their noise suggests; if nothing is left of it, or
/// it is infinite, there is nothing to forecast.
pub(super) fn rows(query: &CountedQuery, plan: &AuditPlan) -> Result<Vec<ForecastRow>> {
    let (Some(&order), Some(&direction)) = (plan.orders.first(), plan.directions.first()) else {
        return Ok(Vec::new());
    };
    let pair = estimate(query)?;
    let (p, q) = (pair.dataset(), pair.neighbor());
    let divergence = pair.renyi(direction, order);
    if !(divergence > 0.0 && divergence < f64::INFINITY) {
        return Ok(Vec::new());
    }
    let guide = if query.guide.pair().is_some() {
        Guide::from_distributions(p, q, &[order], &[direction], SetSource::Pilot)?
    } else {
        query.guide.clone()
    };
    let forecast = |method: Method| {
        let plan =
            AuditPlan { orders: vec![order], directions: vec![direction], methods: vec![method], ..plan.clone() };
        let bound = |counts: &PairedCounts| {
            let audit = audit_counts(counts, &guide, &plan)?;
            audit
                .rdp_bound(method, direction, order)
                .map(|bound| bound.value)
                .ok_or(Error::Rejected { operation: "forecast", reason: format!("{method} does not apply") })
        };
        let samples = |share: f64| samples_to_reach(p, q, share * divergence, bound);
        // No valid bound is expected to exceed the quantity it bounds, so no forecast of one does.
        let at = |&samples: &u64| Ok([samples as f64, (typical_bound(p, q, samples, bound)? / divergence).min(1.0)]);
        Ok(ForecastRow {
            query: query.name.clone(),
            method: method.name(),
            direction,
            order: order.get(),
            divergence: Number(divergence),
            samples_half: samples(0.5)?,
            samples_nine_tenths: samples(0.9)?,
            tightness: SIZES.iter().map(at).collect::<Result<_>>()?,
        })
    };
    let methods = plan.methods.iter().copied().filter(|&method| forecast_of(method) && guide.lacks(method).is_none());
    methods.map(forecast).collect()
}

/// Estimates of both distributions: the distribution that was given, or the shrunken frequencies of all outputs.
fn estimate(query: &CountedQuery) -> Result<OutputPair> {
    match query.guide.pair() {
        Some(pair) if query.guide.sets.source == SetSource::ExactDistribution => Ok(pair.clone()),
        _ => shrunken_pair(&query.counts),
    }
}
