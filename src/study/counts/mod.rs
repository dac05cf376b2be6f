//! Lower bounds from recorded counts of two worlds.

mod beside;
mod forecast;
mod request;

pub use beside::{DeltaRow, TradeOffPoint, TradeOffRow};
pub use request::{CountedQuery, CountsStudy};

use super::claim::Claim;
use super::composed::ComposedSection;
use super::progress::{Meter, Progress};
use super::rows::{
    BoundRow, DistributionDivergenceRow, EpsilonRow, FailureNote, ForecastRow, RecommendationRow, SetRow, bound_rows,
    epsilon_rows,
};
use super::spending::{Applied, Beside, Planned, Target, plan_all};
use super::{Study, Warning};
use crate::audit::{Bootstrap, FailureBudget, Skipped};
use crate::error::Result;
use crate::parallel;
use serde::Serialize;

/// The answer of a [`CountsStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountsAnswer {
    /// What the failure probability is for.
    pub failure: FailureNote,
    /// Rényi bounds.
    pub bounds: Vec<BoundRow>,
    /// ε bounds.
    pub epsilon: Vec<EpsilonRow>,
    /// Output sets.
    pub output_sets: Vec<SetRow>,
    /// What was recommended.
    pub recommendations: Vec<RecommendationRow>,
    /// Divergences of the given distributions.
    pub distribution: Vec<DistributionDivergenceRow>,
    /// Bounds of μ and δ.
    pub trade_off: Vec<TradeOffRow>,
    /// All queries together.
    pub composed: Option<ComposedSection>,
    /// Samples that would certify more.
    pub forecasts: Vec<ForecastRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(CountsAnswer, "leakbound.audit-counts/1", claims, warnings);

impl Study for CountsStudy {
    type Answer = CountsAnswer;

    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for a method without its required input and for a composition of one
    /// query, and those of the methods.
    fn run(&self, progress: &Progress<'_>) -> Result<CountsAnswer> {
        let queries = &self.queries;
        let targets: Vec<Target> =
            queries.iter().map(|query| Target { counts: &query.counts, guide: &query.guide }).collect();
        let beside = Beside {
            composition: self.composition,
            composed: queries.len(),
            trade_off: self.wants_trade_off(),
            whole: queries.len(),
        };
        let meter = Meter::new(progress, queries.len() as u64, "queries");
        let (planned, budget) = plan_all(&targets, &self.bounds, beside, self.seed, &meter)?;
        let failure = FailureNote::new(&budget, planned.iter().any(Planned::has_nominal));
        let audits = parallel::try_map(queries.iter().zip(planned), |(query, planned)| {
            let applied = planned.apply(&query.counts, &query.guide)?;
            meter.add_in_passes(1)?;
            Ok(applied)
        })?;
        let mut answer = CountsAnswer {
            failure,
            bounds: Vec::new(),
            epsilon: Vec::new(),
            output_sets: Vec::new(),
            recommendations: Vec::new(),
            distribution: self.distribution_rows(),
            trade_off: self.trade_offs(&budget)?,
            composed: self.composed(&budget)?,
            forecasts: self.forecasts(&audits)?,
            claims: self.tested(&budget)?,
            warnings: skipped(audits.iter().flat_map(|applied| &applied.audit.skipped)).into_iter().collect(),
        };
        answer.warnings.extend(near_zero(queries, &audits));
        // Rows replace the data that they are made from, since there may be many queries.
        for (query, Applied { audit, recommendation, .. }) in queries.iter().zip(audits) {
            answer.bounds.extend(bound_rows(&query.name, &audit));
            answer.epsilon.extend(epsilon_rows(&query.name, &audit));
            answer.recommendations.extend(recommendation.map(|found| RecommendationRow::new(&query.name, found)));
            answer.output_sets.extend(query.guide.sets.sets.iter().map(|set| SetRow {
                query: query.name.clone(),
                source: query.guide.sets.source.to_string(),
                outcomes: set.members().into_iter().map(|member| query.counts.labels()[member].clone()).collect(),
                directed: query.guide.sets.directed,
            }));
        }
        Ok(answer)
    }
}

impl CountsStudy {
    fn forecasts(&self, audits: &[Applied]) -> Result<Vec<ForecastRow>> {
        let wanted = if self.forecasts { self.queries.len() } else { 0 };
        let rows = |(query, applied): (&CountedQuery, &Applied)| forecast::rows(query, &applied.plan);
        Ok(parallel::try_map(self.queries[..wanted].iter().zip(audits), rows)?.concat())
    }

    /// Claims are tested on evidence that holds for all queries simultaneously.
    fn tested(&self, budget: &FailureBudget) -> Result<Vec<Claim>> {
        let queries = self.queries.iter().map(|query| (query.name.as_str(), &query.counts, &query.guide));
        self.bounds.claims.test_queries(queries, budget, self.bounds.failure_probability)
    }
}

/// One warning for all methods that did not apply, each with its first reason.
pub(super) fn skipped<'a>(skipped: impl Iterator<Item = &'a Skipped>) -> Option<Warning> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for found in skipped {
        let name = found.method.name();
        if reasons.iter().any(|(_, names)| names.contains(&name)) {
            continue;
        }
        match reasons.iter_mut().find(|(reason, _)| *reason == found.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&found.reason, vec![name])),
        }
    }
    let texts: Vec<String> = reasons.iter().map(|(reason, names)| format!("{} ({reason})", names.join(", "))).collect();
    (!texts.is_empty()).then(|| Warning {
        code: "methods-skipped",
        message: format!("left out: {}", texts.join("; ")),
        hint: "give a pilot (a pilot fraction of 0.1, or a recorded pilot) or the distribution, or name other methods"
            .into(),
    })
}

/// The bootstrap claims leakage when there is none: its authors' warning, if it applies.
fn near_zero(queries: &[CountedQuery], audits: &[Applied]) -> Option<Warning> {
    let bootstrapped = |applied: &Applied| applied.plan.methods.iter().any(|method| method.is_bootstrap());
    let due: Vec<&str> = queries
        .iter()
        .zip(audits)
        .filter(|(query, applied)| bootstrapped(applied) && Bootstrap::is_doubtful_for(&query.counts))
        .map(|(query, _)| query.name.as_str())
        .collect();
    (!due.is_empty()).then(|| Warning {
        code: "bootstrap-near-zero",
        message: format!(
            "the bootstrap is above the truth in nearly every audit of equal distributions, and the counts of {} do not exclude them",
            if due == [""] { "this audit".into() } else { format!("{} queries", due.len()) }
        ),
        hint: "trust a method labeled finite-sample".into(),
    })
}
