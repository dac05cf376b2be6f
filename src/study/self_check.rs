//! How often bounds are wrong on simulated data of known leakage and of the user's sizes.

use super::bounds::{Bounds, usual_delta, usual_failure};
use super::counts::CountedQuery;
use super::number::Number;
use super::progress::{Meter, Progress};
use super::rows::FailureNote;
use super::spending::{Beside, Planned, Target, plan_all};
use super::{Study, Verdict, Warning};
use crate::audit::{FailurePer, Guide};
use crate::bound::{Direction, Validity};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::model::Composition;
use crate::quantity::{Delta, FailureProbability};
use crate::self_check::{
    BoundTightness, CheckCase, CheckRuns, CheckSizes, CheckVerdict, CheckedQuantity, MethodCheck, self_check,
    self_check_scores,
};
use serde::Serialize;

/// How close the bounds of one quantity come to it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TightnessRow {
    /// `rdp` or `epsilon`.
    pub quantity: &'static str,
    /// Which divergence or inequality.
    pub direction: Direction,
    /// α, for `rdp`.
    pub order: Option<f64>,
    /// δ, for `epsilon`.
    pub delta: Option<f64>,
    /// The true value.
    pub truth: Number,
    /// Mean of the bound.
    pub mean_bound: Number,
    /// Mean of the bound as a share of the truth, if that is neither 0 nor infinite.
    pub mean_share: Option<f64>,
    /// Audits in which this bound was above the truth.
    pub wrong: u64,
}

impl From<&BoundTightness> for TightnessRow {
    fn from(row: &BoundTightness) -> Self {
        let (quantity, order, delta) = match row.quantity {
            CheckedQuantity::Rdp(order) => ("rdp", Some(order.get()), None),
            CheckedQuantity::Epsilon(delta) => ("epsilon", None, Some(delta.get())),
        };
        Self {
            quantity,
            direction: row.direction,
            order,
            delta,
            truth: Number(row.truth),
            mean_bound: Number(row.mean_bound),
            mean_share: row.share(),
            wrong: row.wrong,
        }
    }
}

/// A method in one case of one query.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// The distributions.
    pub case: CheckCase,
    /// The method.
    pub method: &'static str,
    /// What the method guarantees.
    pub validity: Validity,
    /// The probability with which any of its bounds may be wrong.
    pub failure_probability: f64,
    /// Audits.
    pub repetitions: u64,
    /// Audits in which any of its bounds was above the truth.
    pub wrong: u64,
    /// Their share.
    pub wrong_share: f64,
    /// The largest share that is accepted.
    pub accepted_share: f64,
    /// Whether the method met its guarantee.
    pub verdict: CheckVerdict,
    /// Each of its bounds.
    pub tightness: Vec<TightnessRow>,
}

impl CheckRow {
    /// The row of a check.
    #[must_use]
    pub fn new(query: &str, check: &MethodCheck) -> Self {
        Self {
            query: query.to_owned(),
            case: check.case,
            method: check.method,
            validity: check.validity,
            failure_probability: check.failure_probability,
            repetitions: check.repetitions,
            wrong: check.wrong,
            wrong_share: check.wrong_share(),
            accepted_share: check.accepted_share(),
            verdict: check.verdict(),
            tightness: check.tightness.iter().map(TightnessRow::from).collect(),
        }
    }
}

/// Sizes of the simulated audits of a query.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedQuery {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// Number of outcomes.
    pub outcomes: usize,
    /// Outputs of each world.
    #[serde(flatten)]
    pub sizes: CheckSizes,
}

/// A query whose audit is checked.
#[derive(Debug, Clone)]
pub struct CheckedAudit {
    /// The counts that the audit bounds, and its output sets.
    pub query: CountedQuery,
    /// All recorded counts, pilot included: the simulated data are like them.
    pub recorded: PairedCounts,
    /// Whether the pilot was split off the recorded counts, so that each simulated audit draws its own.
    pub pilot_split: bool,
}

/// How often are the bounds of an audit of counts wrong on data like these?
#[derive(Debug, Clone)]
pub struct SelfCheckStudy {
    /// The queries.
    pub queries: Vec<CheckedAudit>,
    /// What the audit bounds, without claims.
    pub bounds: Bounds,
    /// Simulated audits of each query, of null and of known data.
    pub repetitions: u64,
    /// The seed.
    pub seed: u64,
}

impl SelfCheckStudy {
    /// A thousand simulated audits of each query with the usual bounds.
    #[must_use]
    pub fn new(queries: Vec<CheckedAudit>) -> Self {
        Self { queries, bounds: Bounds::default(), repetitions: 1_000, seed: 0 }
    }
}

/// The answer of a [`SelfCheckStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelfCheckAnswer {
    /// What the failure probability is for.
    pub failure: FailureNote,
    /// What was simulated.
    pub queries: Vec<CheckedQuery>,
    /// Every method in every case.
    pub checks: Vec<CheckRow>,
    /// All finite-sample bounds of all queries together in every case, if they share one failure probability.
    pub together: Vec<CheckRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(
    SelfCheckAnswer, "leakbound.self-check/1",
    |self| warnings: self.warnings,
    verdict: broken(&self.checks).or_else(|| broken(&self.together)).map_or(Verdict::Passed, Verdict::Broken)
);

impl Study for SelfCheckStudy {
    type Answer = SelfCheckAnswer;

    /// # Errors
    /// [`Error::Rejected`] for claims, which are not tested, and those of the audits.
    fn run(&self, progress: &Progress<'_>) -> Result<SelfCheckAnswer> {
        let reason = "it tests the methods and no claims; an audit of counts tests them";
        Error::check_possible(self.bounds.claims.is_empty(), "self-check", reason)?;
        let meter = Meter::new(progress, 2 * self.repetitions * self.queries.len() as u64, "audits");
        // The methods and shares of the audit itself: they depend on its pilot and its sizes.
        let targets: Vec<Target> = self
            .queries
            .iter()
            .map(|CheckedAudit { query, .. }| Target { counts: &query.counts, guide: &query.guide })
            .collect();
        let whole = targets.len();
        let beside = Beside { composition: Composition::PerQuery, composed: 0, trade_off: false, whole };
        let (planned, budget) =
            plan_all(&targets, &self.bounds, beside, self.seed, &Meter::new(progress, whole as u64, "queries"))?;
        let (mut checks, mut checked) = (Vec::new(), Vec::new());
        let mut of_case = CheckCase::ALL.map(|_| Vec::new());
        for (place, (audited, planned)) in self.queries.iter().zip(&planned).enumerate() {
            let query = &audited.query;
            let sizes = audited.sizes();
            // Queries of one file draw from separate streams.
            let runs = CheckRuns { repetitions: self.repetitions, seed: self.seed.wrapping_add(place as u64) };
            for (case, all) in CheckCase::ALL.into_iter().zip(&mut of_case) {
                let found = audited.check(case, sizes, runs, planned, || meter.add(1))?;
                checks.extend(found.iter().map(|check| CheckRow::new(&query.name, check)));
                all.extend(found);
            }
            checked.push(CheckedQuery { query: query.name.clone(), outcomes: query.counts.outcomes(), sizes });
        }
        let together = |checks: &Vec<MethodCheck>| {
            let check = MethodCheck::together(checks, budget.stated())?;
            Some(CheckRow::new(if self.queries.len() > 1 { "all" } else { "" }, &check))
        };
        let together = match budget.per() {
            FailurePer::Answer => of_case.iter().filter_map(together).collect(),
            FailurePer::Query => Vec::new(),
        };
        let warnings = warnings(&checks, &together);
        let failure = FailureNote::new(&budget, planned.iter().any(Planned::has_nominal));
        Ok(SelfCheckAnswer { failure, queries: checked, checks, together, warnings })
    }
}

impl CheckedAudit {
    fn check(
        &self,
        case: CheckCase,
        sizes: CheckSizes,
        runs: CheckRuns,
        planned: &Planned,
        done: impl Fn() -> Result<()> + Sync,
    ) -> Result<Vec<MethodCheck>> {
        let plan = &planned.plan;
        let audit = |drawn: &PairedCounts, pilot: Option<&PairedCounts>| match pilot {
            Some(pilot) => planned.audit(drawn, &Guide::from_pilot(pilot, &plan.orders, &plan.directions)?),
            // A guide that was made without the recorded counts is kept.
            None => planned.audit(drawn, &self.query.guide),
        };
        // The distributions have the outcomes of the audit, which may be more than were recorded.
        let source = if sizes.pilot.is_some() { &self.recorded } else { &self.query.counts };
        self_check(source, case, sizes, runs, audit, done)
    }

    /// Sizes of the recorded audit; with a pilot split off, those of its two parts.
    fn sizes(&self) -> CheckSizes {
        let of = |counts: &PairedCounts| [counts.trials(), counts.trials_neighbor()];
        let (counts, all) = (of(&self.query.counts), of(&self.recorded));
        CheckSizes { counts, pilot: self.pilot_split.then(|| [all[0] - counts[0], all[1] - counts[1]]) }
    }
}

/// How often are the bounds of an audit of scores wrong with this many canaries?
#[derive(Debug, Clone, Copy)]
pub struct ScoreCheckStudy {
    /// Simulated members.
    pub members: usize,
    /// Simulated others.
    pub non_members: usize,
    /// δ of the ε bounds.
    pub delta: Delta,
    /// The probability that any bound of a selection is wrong.
    pub failure_probability: FailureProbability,
    /// Simulated audits, of null and of known scores.
    pub repetitions: u64,
    /// The seed.
    pub seed: u64,
}

impl ScoreCheckStudy {
    /// A thousand simulated audits at δ = 1e-5 with a failure probability of 0.05.
    #[must_use]
    pub fn new(members: usize, non_members: usize) -> Self {
        Self {
            members,
            non_members,
            delta: usual_delta(),
            failure_probability: usual_failure(),
            repetitions: 1_000,
            seed: 0,
        }
    }
}

/// The answer of a [`ScoreCheckStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreCheckAnswer {
    /// Simulated members.
    pub members: u64,
    /// Simulated others.
    pub non_members: u64,
    /// Every selection in every case.
    pub checks: Vec<CheckRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(
    ScoreCheckAnswer, "leakbound.self-check-scores/1",
    |self| warnings: self.warnings, verdict: broken(&self.checks).map_or(Verdict::Passed, Verdict::Broken)
);

impl Study for ScoreCheckStudy {
    type Answer = ScoreCheckAnswer;

    /// # Errors
    /// Those of the audits.
    fn run(&self, progress: &Progress<'_>) -> Result<ScoreCheckAnswer> {
        let meter = Meter::new(progress, 2 * self.repetitions, "audits");
        let runs = CheckRuns { repetitions: self.repetitions, seed: self.seed };
        let (sizes, failure) = ([self.members, self.non_members], self.failure_probability);
        let mut checks = Vec::new();
        for case in CheckCase::ALL {
            let found = self_check_scores(sizes, case, self.delta, failure, runs, || meter.add(1))?;
            checks.extend(found.iter().map(|check| CheckRow::new("", check)));
        }
        let warnings = warnings(&checks, &[]);
        Ok(ScoreCheckAnswer { members: self.members as u64, non_members: self.non_members as u64, checks, warnings })
    }
}

/// The worst finite-sample method that was wrong too often, as one line.
fn broken(checks: &[CheckRow]) -> Option<String> {
    let broken = checks.iter().filter(|row| row.verdict == CheckVerdict::Broken);
    let row = broken.max_by(|a, b| a.wrong_share.total_cmp(&b.wrong_share))?;
    Some(format!(
        "self-check failed: {} was wrong in {} of {} audits of {} data, above its failure probability {} by more than \
         three standard errors",
        row.method,
        row.wrong,
        row.repetitions,
        row.case.name(),
        row.failure_probability
    ))
}

/// A broken guarantee first, then methods without a guarantee that were wrong too often.
fn warnings(checks: &[CheckRow], together: &[CheckRow]) -> Vec<Warning> {
    let broken = broken(checks).or_else(|| broken(together)).map(|message| Warning {
        code: "guarantee-broken",
        message,
        hint: "repeat with another seed; if it happens again, please report it".into(),
    });
    broken.into_iter().chain(above_nominal(checks)).collect()
}

/// Methods without a finite-sample guarantee that were wrong too often.
fn above_nominal(checks: &[CheckRow]) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for row in checks.iter().filter(|row| row.verdict == CheckVerdict::AboveNominal) {
        if named.contains(&row.method) {
            continue;
        }
        named.push(row.method);
        let worst = checks
            .iter()
            .filter(|other| other.method == row.method && other.verdict == CheckVerdict::AboveNominal)
            .fold(row, |worst, other| if other.wrong_share > worst.wrong_share { other } else { worst });
        warnings.push(Warning {
            code: "above-nominal",
            message: format!(
                "{} ({}) was wrong in {:.1}% of {} audits of {} data; its nominal probability is {}",
                worst.method,
                worst.validity,
                100.0 * worst.wrong_share,
                worst.repetitions,
                worst.case.name(),
                worst.failure_probability
            ),
            hint: "use a finite-sample method for data of this size".into(),
        });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(validity: Validity, wrong: u64) -> CheckRow {
        let check = MethodCheck {
            case: CheckCase::Null,
            method: "bootstrap-two-cut",
            validity,
            failure_probability: 0.05,
            repetitions: 1_000,
            wrong,
            wrong_in: (0..wrong).collect(),
            tightness: Vec::new(),
        };
        CheckRow::new("", &check)
    }

    /// 5% and three standard errors of 1,000 audits are 70.7.
    #[test]
    fn a_finite_sample_method_must_keep_its_word_and_a_heuristic_is_warned_about() {
        assert_eq!(broken(&[row(Validity::FiniteSample, 70), row(Validity::Heuristic, 900)]), None);
        assert!(above_nominal(&[row(Validity::FiniteSample, 71)]).is_empty());
        let warned = above_nominal(&[row(Validity::Heuristic, 300), row(Validity::Heuristic, 900)]);
        assert_eq!(warned.len(), 1);
        insta::assert_snapshot!(warned[0].message, @"bootstrap-two-cut (heuristic) was wrong in 90.0% of 1000 audits of null data; its nominal probability is 0.05");
        let line = broken(&[row(Validity::FiniteSample, 71), row(Validity::FiniteSample, 90)]).unwrap();
        insta::assert_snapshot!(line, @"self-check failed: bootstrap-two-cut was wrong in 90 of 1000 audits of null data, above its failure probability 0.05 by more than three standard errors");
    }
}
