//! Audits of one training run, planned before it.

use super::claim::{claimed_bounds, score_model};
use super::reach::{ForecastRanges, forecast, warnings};
use crate::audit::{
    GuessSelection, GuessedSides, MembersScore, OneRunPlan, best_declared_guesses, best_guessed_sides, most_shown,
};
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability};
use crate::record::{CanaryPlan, RecordedCanaryPlan, TrainingClaim};
use crate::study::bounds::{usual_delta, usual_failure};
use crate::study::number::Number;
use crate::study::progress::Progress;
use crate::study::{Study, Warning};
use serde::Serialize;

/// Where the numbers of guesses of a plan come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedGuesses {
    /// As in an audit of scores.
    Selection(GuessSelection),
    /// Those with the largest forecast among numbers that can refute the claim, which are then declared; only with a
    /// claim.
    BestForecast,
    /// Nested guesses on the sides with the larger forecast; on both sides without a claim.
    Nested,
}

/// How can a training run be audited, and what can the audit show?
///
/// ```
/// # use leakbound::quantity::Epsilon;
/// # use leakbound::record::TrainingClaim;
/// # use leakbound::study::{CanaryPlanStudy, Study, unwatched};
/// let claim = Some(TrainingClaim::Epsilon(Epsilon::new(2.0)?));
/// let study = CanaryPlanStudy { claim, repetitions: 20, ..CanaryPlanStudy::new(500, 7) };
/// let answer = study.run(&unwatched)?;
/// assert_eq!(answer.plan.coins.len(), 500);
/// // Half of 500 canaries and a claim of 2: less than 2 can be expected.
/// assert!(answer.forecast.unwrap().epsilon.median.0 < 2.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CanaryPlanStudy {
    /// Number of canaries.
    pub canaries: u64,
    /// The seed of the coins, ties and splits, and of the simulated audits.
    pub seed: u64,
    /// How many canaries are guessed at.
    pub guesses: PlannedGuesses,
    /// On which side of the others the scores of members are expected.
    pub members_score: MembersScore,
    /// Number of sets of scores: each has an equal share of the failure probability, and the largest of their bounds
    /// holds.
    pub attacks: usize,
    /// δ of the bound.
    pub delta: Delta,
    /// The probability that a bound is wrong.
    pub failure_probability: FailureProbability,
    /// The claim about the training.
    pub claim: Option<TrainingClaim>,
    /// Simulated audits behind the forecast.
    pub repetitions: u64,
}

impl CanaryPlanStudy {
    /// One set of scores in which members score high, nested guesses, δ = 1e-5, a failure probability of 0.05, and no
    /// claim.
    #[must_use]
    pub fn new(canaries: u64, seed: u64) -> Self {
        Self {
            canaries,
            seed,
            guesses: PlannedGuesses::Nested,
            members_score: MembersScore::High,
            attacks: 1,
            delta: usual_delta(),
            failure_probability: usual_failure(),
            claim: None,
            repetitions: 200,
        }
    }
}

/// The answer of a [`CanaryPlanStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryPlanAnswer {
    /// The plan, which the audit reads.
    pub plan: RecordedCanaryPlan,
    /// Canaries that the run is to be trained on.
    pub members: u64,
    /// ε at the plan's δ that the claim implies.
    pub claimed_epsilon: Option<Number>,
    /// The largest bound of ε that this plan can give, whatever the training shows.
    pub most_shown: Number,
    /// What audits find if each canary is as visible as the claim allows; absent without a claim.
    pub forecast: Option<ForecastRanges>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(CanaryPlanAnswer, "leakbound.canary-plan/1", |self| warnings: self.warnings, seed: self.plan.seed);

impl Study for CanaryPlanStudy {
    type Answer = CanaryPlanAnswer;

    /// # Errors
    /// Those of [`OneRunPlan::new`]; [`Error::Rejected`] for a mechanism that is not about a record, and for guesses by
    /// a forecast without a claim.
    fn run(&self, _: &Progress<'_>) -> Result<CanaryPlanAnswer> {
        let plan = |selection| {
            OneRunPlan::new(self.canaries, self.seed, selection, self.delta, self.failure_probability)?
                .with_members_score(self.members_score)
                .with_attacks(self.attacks)
        };
        let model = self.claim.as_ref().map(|claim| score_model(claim, self.delta)).transpose()?;
        let claimed = self.claim.as_ref().map(|claim| claimed_bounds(claim, self.delta)).transpose()?;
        let audit = match self.guesses {
            PlannedGuesses::Selection(selection) => plan(selection)?,
            PlannedGuesses::Nested => {
                let selection = |sides| plan(GuessSelection::Nested(sides));
                let both = selection(GuessedSides::Both)?;
                let sides =
                    model.as_ref().map(|model| best_guessed_sides(&both, model, self.repetitions)).transpose()?;
                selection(sides.unwrap_or(GuessedSides::Both))?
            }
            PlannedGuesses::BestForecast => {
                let (Some(model), Some(claimed)) = (&model, claimed) else {
                    let reason = "the best numbers of guesses are those of a claim, and none is given".into();
                    return Err(Error::Rejected { operation: "plan of a one-run audit", reason });
                };
                let guesses = best_declared_guesses(&plan(GuessSelection::PaidFor)?, model, claimed, self.repetitions)?;
                plan(GuessSelection::Declared(guesses))?
            }
        };
        let plan = CanaryPlan { audit, claim: self.claim.clone() };
        let most = most_shown(&audit)?;
        let members = audit.coins().into_iter().filter(|&coin| coin).count() as u64;
        Ok(CanaryPlanAnswer {
            warnings: warnings(&audit, claimed, most, members),
            plan: plan.recorded(),
            members,
            claimed_epsilon: claimed.map(|claimed| Number(claimed.epsilon.get())),
            most_shown: Number(most.epsilon),
            forecast: model.map(|model| forecast(&audit, &model, self.repetitions)).transpose()?,
        })
    }
}
