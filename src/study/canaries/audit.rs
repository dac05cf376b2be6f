//! What the scores of planned canaries prove.

use super::claim::{claimed_bounds, score_model};
use super::reach::{ForecastRanges, forecast, warnings};
use crate::audit::{GuessSelection, most_shown};
use crate::bound::Claimed;
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;
use crate::record::{CanaryPlan, RecordedCanaryPlan, TrainingClaim};
use crate::study::number::{Number, short, significant};
use crate::study::progress::Progress;
use crate::study::score_bounds::ScoreBoundRow;
use crate::study::scores::{ScoreAnswers, ScoresAnswer, ScoresStudy};
use crate::study::{Study, Warning};
use serde::Serialize;

/// What do the scores of planned canaries prove about the run?
///
/// Each set of scores is audited with an equal share of the plan's failure probability. All bounds hold simultaneously
/// except with that probability, so the largest one is itself a bound.
#[derive(Debug, Clone)]
pub struct CanaryAuditStudy {
    /// The plan, made before training.
    pub plan: CanaryPlan,
    /// The scores of the attacks; no more attacks than were planned.
    pub attacks: Vec<CanaryAttackScores>,
    /// Simulated audits behind the forecast.
    pub repetitions: u64,
}

impl CanaryAuditStudy {
    /// With a forecast from 200 simulated audits.
    #[must_use]
    pub const fn new(plan: CanaryPlan, attacks: Vec<CanaryAttackScores>) -> Self {
        Self { plan, attacks, repetitions: 200 }
    }
}

/// What one attack on the canaries found.
#[derive(Debug, Clone, PartialEq)]
pub struct CanaryAttackScores {
    /// What the attack is called, such as the name of its file.
    pub name: String,
    /// \[canary\]: a score for each, trained on or not.
    pub scores: Vec<f64>,
}

/// What one of several sets of scores proves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryAttackRow {
    /// What the attack is called, such as the name of its file.
    pub scores: String,
    /// The lower bound of ε at the plan's δ; the bounds of all sets hold simultaneously.
    pub epsilon: Number,
    /// The lower bound of μ, if the plan has one.
    pub mu: Option<Number>,
    /// Guesses that count.
    pub guesses: u64,
    /// Correct ones among them.
    pub right: u64,
}

/// The answer of a [`CanaryAuditStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryAuditAnswer {
    /// The plan, as pages and tables show it.
    #[serde(skip)]
    pub plan: RecordedCanaryPlan,
    /// The SHA-256 of the plan.
    pub plan_sha256: String,
    /// ε at the plan's δ that the claim implies.
    pub claimed_epsilon: Option<Number>,
    /// The largest bound of ε that the plan can give.
    pub most_shown: Number,
    /// What audits find if each canary is as visible as the claim allows; absent without a claim.
    pub forecast: Option<ForecastRanges>,
    /// What each set of scores proves.
    pub attacks: Vec<CanaryAttackRow>,
    /// What the scores prove: the largest bound of each quantity over all sets.
    #[serde(flatten)]
    pub audit: ScoresAnswer,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(CanaryAuditAnswer, "leakbound.canary-audit/1", |self| claims: self.audit.claims, warnings: self.warnings);

impl Study for CanaryAuditStudy {
    type Answer = CanaryAuditAnswer;

    /// # Errors
    /// [`Error::Rejected`] without scores and for more sets of scores than planned; [`Error::Length`] if the numbers of
    /// scores and canaries differ; those of [`ScoresStudy`].
    fn run(&self, progress: &Progress<'_>) -> Result<CanaryAuditAnswer> {
        let plan = &self.plan.audit;
        let (found, planned) = (self.attacks.len(), plan.attacks());
        let miscounted = || {
            let reason = format!(
                "{found} sets of scores, expected 1 to {planned}, as planned: the best of more is not covered by the \
                 failure probability"
            );
            Error::Rejected { operation: "audit of a planned run", reason }
        };
        if found > planned {
            return Err(miscounted());
        }
        let delta = plan.delta();
        let claim = self.plan.claim.as_ref();
        let claimed = claim.map(|claim| claimed_bounds(claim, delta)).transpose()?;
        let study = |attack: &CanaryAttackScores| -> Result<ScoresStudy> {
            Ok(ScoresStudy {
                scores: plan.scores(&attack.scores)?,
                answers: ScoreAnswers::OneRun(plan.selection()),
                delta,
                failure_probability: plan.failure_of_each(),
                epsilons: Vec::new(),
                orders: Vec::new(),
                claim_epsilon: claimed.map(|claimed| claimed.epsilon),
                claim_mu: if matches!(plan.selection(), GuessSelection::Nested(_)) {
                    // The ε that μ comes to is tested.
                    None
                } else if let Some(TrainingClaim::Mu(mu)) = claim {
                    Some(Claimed::new(*mu)?)
                } else {
                    claimed.and_then(|claimed| claimed.mu).map(Claimed::new).transpose()?
                },
                seed: plan.seed(),
            })
        };
        let audits = self.attacks.iter().map(|attack| study(attack)?.run(progress)).collect::<Result<Vec<_>>>()?;
        let attacks = self.attacks.iter().zip(&audits).map(|(attack, audit)| attack_row(attack, audit)).collect();
        let Some(audit) = largest(audits, plan.failure_probability()) else { return Err(miscounted()) };
        let most = most_shown(plan)?;
        let model = claim.map(|claim| score_model(claim, delta)).transpose()?;
        let forecast = model.map(|model| forecast(plan, &model, self.repetitions)).transpose()?;
        let mut warnings = warnings(plan, claimed, most, audit.members);
        warnings.extend_from_slice(&audit.warnings);
        let found = audit.epsilon.first().map_or(0.0, |row| row.lower.0);
        if let Some(forecast) = forecast.filter(|forecast| found < forecast.epsilon.low.0) {
            warnings.push(Warning {
                code: "weak-attack",
                message: format!(
                    "ε of at least {} is below what the best attack finds if training leaks all that is claimed \
                     (median {})",
                    short((1e3 * found).floor() / 1e3),
                    significant(forecast.epsilon.median.0, 3)
                ),
                hint: "scores of the final model reveal little of the training; a small bound does not show \
                       privacy"
                    .into(),
            });
        }
        let plan = self.plan.recorded();
        Ok(CanaryAuditAnswer {
            plan_sha256: plan.sha256.clone(),
            plan,
            claimed_epsilon: claimed.map(|claimed| Number(claimed.epsilon.get())),
            most_shown: Number(most.epsilon),
            forecast,
            attacks,
            audit,
            warnings,
        })
    }
}

fn attack_row(attack: &CanaryAttackScores, audit: &ScoresAnswer) -> CanaryAttackRow {
    let lower = |rows: &[ScoreBoundRow]| rows.iter().map(|row| row.lower).next();
    let one_run = audit.one_run.as_ref();
    CanaryAttackRow {
        scores: attack.name.clone(),
        epsilon: lower(&audit.epsilon).unwrap_or(Number(0.0)),
        mu: lower(&audit.mu),
        guesses: one_run.map_or(0, |row| row.guessed_members + row.guessed_non_members),
        right: one_run.map_or(0, |row| row.right),
    }
}

/// The largest bounds of several audits; any of them is wrong with at most this probability. Guesses are those of the
/// largest bound of ε. None without an audit.
fn largest(audits: Vec<ScoresAnswer>, failure: FailureProbability) -> Option<ScoresAnswer> {
    let lower = |rows: &[ScoreBoundRow]| rows.iter().map(|row| row.lower.0).fold(0.0, f64::max);
    let mut audits = audits.into_iter();
    let mut best = audits.next()?;
    for other in audits {
        if lower(&other.mu) > lower(&best.mu) {
            (best.mu, best.epsilon_of_mu) = (other.mu, other.epsilon_of_mu);
        }
        if lower(&other.epsilon) > lower(&best.epsilon) {
            (best.epsilon, best.one_run) = (other.epsilon, other.one_run);
        }
        for (claim, more) in best.claims.iter_mut().zip(other.claims) {
            if more.lower.0 > claim.lower.0 {
                *claim = more;
            }
        }
    }
    for row in best.epsilon.iter_mut().chain(&mut best.mu).chain(&mut best.epsilon_of_mu) {
        row.failure_probability = failure.get();
    }
    for claim in &mut best.claims {
        claim.failure_probability = failure.get();
    }
    Some(best)
}
