//! Audits of one training run: planned before it, and concluded after it.

use super::claim::Claim;
use super::number::{Number, short, significant};
use super::progress::Progress;
use super::score_bounds::ScoreBoundRow;
use super::scores::{ScoreAnswers, ScoresAnswer, ScoresStudy};
use super::{Answer, Study, Warning};
use crate::audit::{
    CanaryScoreModel, ClaimedBounds, ForecastBound, GuessSelection, GuessedSides, MembersScore, MostShown, OneRunPlan,
    best_declared_guesses, best_guessed_sides, forecast_one_run, most_shown,
};
use crate::divergence::{LossQuantiles, compose_enclosed, gdp_epsilon};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{Mechanism, Relation};
use crate::quantity::{Delta, Epsilon, FailureProbability};
use crate::record::{CanaryPlan, RecordedCanaryPlan, TrainingClaim};
use serde::Serialize;

/// Cells of real outputs, and the width of the enclosure of a claimed ε.
const CELLS: usize = 4_000;
const WIDTH: f64 = 1e-3;
/// So few canaries of a kind say next to nothing.
const FEW: u64 = 50;

/// Where the numbers of guesses of a plan come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedGuesses {
    /// As in an audit of scores.
    Selection(GuessSelection),
    /// Those with the largest forecast among numbers that can refute the claim, which are then declared; only with a
    /// claim.
    BestForecast,
    /// Nested guesses, of the sides with the larger forecast; of both without a claim.
    Nested,
}

/// How is a training run to be audited, and what can the audit show?
///
/// ```
/// # use leakbound::audit::{GuessSelection, MembersScore};
/// # use leakbound::quantity::{Delta, Epsilon, FailureProbability};
/// # use leakbound::record::TrainingClaim;
/// # use leakbound::study::{CanaryPlanStudy, PlannedGuesses, Study, unwatched};
/// let study = CanaryPlanStudy {
///     canaries: 500,
///     seed: 7,
///     guesses: PlannedGuesses::Selection(GuessSelection::PaidFor),
///     members_score: MembersScore::High,
///     attacks: 1,
///     delta: Delta::new(1e-5)?,
///     failure_probability: FailureProbability::new(0.05)?,
///     claim: Some(TrainingClaim::Epsilon(Epsilon::new(2.0)?)),
///     repetitions: 20,
/// };
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
    /// Sets of scores that are audited: each has an equal share of the failure probability, and the largest of their
    /// bounds holds.
    pub attacks: usize,
    /// δ of the bound.
    pub delta: Delta,
    /// The probability that a bound is wrong.
    pub failure_probability: FailureProbability,
    /// What is claimed of the training.
    pub claim: Option<TrainingClaim>,
    /// Simulated audits behind the forecast.
    pub repetitions: u64,
}

/// A bound as it comes out of simulated audits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastRange {
    /// A twentieth of the audits find less.
    pub low: Number,
    /// Half of them find less.
    pub median: Number,
    /// A twentieth of them find more.
    pub high: Number,
}

/// What audits find where each canary is shown as well as the claim allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastRanges {
    /// The bound of ε at the plan's δ.
    pub epsilon: ForecastRange,
    /// The bound of μ, where the plan has one.
    pub mu: Option<ForecastRange>,
    /// Simulated audits.
    pub repetitions: u64,
}

/// The answer of a [`CanaryPlanStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryPlanAnswer {
    /// The plan, which the audit reads.
    pub plan: RecordedCanaryPlan,
    /// Canaries that the run is to be trained on.
    pub members: u64,
    /// ε at the plan's δ that the claim comes to.
    pub claimed_epsilon: Option<Number>,
    /// The largest bound of ε that this plan can give, whatever the training shows.
    pub most_shown: Number,
    /// What audits find where each canary is shown as well as the claim allows; absent without a claim.
    pub forecast: Option<ForecastRanges>,
    /// What a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Answer for CanaryPlanAnswer {
    const SCHEMA: &'static str = "leakbound.canary-plan/1";

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn seed(&self) -> Option<u64> {
        Some(self.plan.seed)
    }
}

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

fn warnings(plan: &OneRunPlan, claimed: Option<ClaimedBounds>, most: MostShown, members: u64) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(claimed) = claimed.filter(|&claimed| !most.refutes(claimed)) {
        warnings.push(Warning {
            code: "claim-out-of-reach",
            message: format!(
                "this plan shows ε = {} at most, with every guess right: it cannot refute a claim of {}",
                significant(most.epsilon, 4),
                significant(claimed.epsilon.get(), 4)
            ),
            hint: "take other numbers of guesses, more canaries, or a smaller delta".into(),
        });
    }
    let fewest = members.min(plan.canaries() - members);
    if fewest < FEW {
        warnings.push(Warning {
            code: "few-canaries",
            message: format!("the coins leave {fewest} canaries on one side"),
            hint: "hundreds of canaries show something, thousands show more".into(),
        });
    }
    warnings
}

fn forecast(plan: &OneRunPlan, model: &CanaryScoreModel, repetitions: u64) -> Result<ForecastRanges> {
    let found = forecast_one_run(plan, model, repetitions)?;
    let range = |bound: ForecastBound| {
        let [low, median, high] = [bound.low, bound.median, bound.high].map(Number);
        ForecastRange { low, median, high }
    };
    Ok(ForecastRanges { epsilon: range(found.epsilon), mu: found.mu.map(range), repetitions: found.repetitions })
}

/// The data without a record and with it.
fn worlds() -> Result<[VoteHistogram; 2]> {
    Ok([VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?])
}

fn check_relation(mechanism: &dyn Mechanism) -> Result<()> {
    if mechanism.kind().relation == Relation::OneRecord {
        return Ok(());
    }
    let reason = format!(
        "{} is not about a record that is added or removed, as canaries are; subsampled-gaussian is",
        mechanism.kind()
    );
    Err(Error::Rejected { operation: "claim of a training", reason })
}

/// Scores of canaries of which the claim allows no clearer ones.
fn score_model(claim: &TrainingClaim, delta: Delta) -> Result<CanaryScoreModel> {
    match claim {
        TrainingClaim::Epsilon(epsilon) => Ok(CanaryScoreModel::Approximate { epsilon: *epsilon, delta }),
        TrainingClaim::Mu(mu) => CanaryScoreModel::gaussian(*mu),
        TrainingClaim::Mechanism { mechanism, times } => {
            check_relation(&**mechanism)?;
            if let Some(mu) = claim.mu() {
                return CanaryScoreModel::gaussian(mu);
            }
            let [without, with] = worlds()?;
            let [forward, reverse] = mechanism.enclosed_losses(&without, &with, CELLS)?;
            let losses = LossQuantiles::new([&reverse.at_most, &forward.at_most], *times)?;
            Ok(CanaryScoreModel::Losses(losses))
        }
    }
}

/// ε at δ of a claim, rounded up, and its μ where it has one.
fn claimed_bounds(claim: &TrainingClaim, delta: Delta) -> Result<ClaimedBounds> {
    // Roots are found within 1e-13 of themselves.
    let gaussian = |mu: f64| -> Result<ClaimedBounds> {
        let mu = (mu * (1.0 + 1e-12)).min(f64::MAX);
        Ok(ClaimedBounds { epsilon: gdp_epsilon(mu, delta)?, mu: Some(mu) })
    };
    claim.check()?;
    match claim {
        TrainingClaim::Epsilon(epsilon) => Ok(ClaimedBounds { epsilon: *epsilon, mu: None }),
        TrainingClaim::Mu(mu) => gaussian(*mu),
        TrainingClaim::Mechanism { mechanism, times } => {
            check_relation(&**mechanism)?;
            if let Some(mu) = claim.mu() {
                return gaussian(mu);
            }
            let [without, with] = worlds()?;
            let mut largest = 0f64;
            for losses in mechanism.enclosed_losses(&without, &with, CELLS)? {
                largest = largest.max(compose_enclosed(&[(&losses, *times)], delta, WIDTH)?.epsilon(delta).upper);
            }
            Ok(ClaimedBounds { epsilon: Epsilon::new(largest)?, mu: None })
        }
    }
}

/// What do the scores of planned canaries prove of the run?
///
/// Each set of scores is audited with an equal share of the plan's failure probability, so that all bounds hold at once
/// but for that probability: the largest one is a bound.
#[derive(Debug, Clone)]
pub struct CanaryAuditStudy {
    /// The plan, made before training.
    pub plan: CanaryPlan,
    /// The scores of the attacks, at most as many as were planned.
    pub attacks: Vec<AttackScores>,
    /// Simulated audits behind the forecast.
    pub repetitions: u64,
}

/// What one attack on the canaries found.
#[derive(Debug, Clone, PartialEq)]
pub struct AttackScores {
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
    /// The lower bound of ε at the plan's δ; those of all sets hold at once.
    pub epsilon: Number,
    /// The lower bound of μ, where the plan has one.
    pub mu: Option<Number>,
    /// Guesses that count.
    pub guesses: u64,
    /// Right ones among them.
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
    /// ε at the plan's δ that the claim comes to.
    pub claimed_epsilon: Option<Number>,
    /// The largest bound of ε that the plan can give.
    pub most_shown: Number,
    /// What audits find where each canary is shown as well as the claim allows; absent without a claim.
    pub forecast: Option<ForecastRanges>,
    /// What each set of scores proves.
    pub attacks: Vec<CanaryAttackRow>,
    /// What the scores prove: of several sets, the largest bounds of each quantity.
    #[serde(flatten)]
    pub audit: ScoresAnswer,
    /// What a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Answer for CanaryAuditAnswer {
    const SCHEMA: &'static str = "leakbound.canary-audit/1";

    fn claims(&self) -> &[Claim] {
        &self.audit.claims
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn seed(&self) -> Option<u64> {
        None
    }
}

impl Study for CanaryAuditStudy {
    type Answer = CanaryAuditAnswer;

    /// # Errors
    /// [`Error::Rejected`] for no set of scores and for more of them than were planned; [`Error::Length`] for another
    /// number of scores than of canaries; those of [`ScoresStudy`].
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
        let study = |attack: &AttackScores| -> Result<ScoresStudy> {
            Ok(ScoresStudy {
                scores: plan.scores(&attack.scores)?,
                answers: ScoreAnswers::OneRun(plan.selection()),
                delta,
                failure_probability: plan.failure_of_each(),
                epsilons: Vec::new(),
                orders: Vec::new(),
                claim_epsilon: claimed.map(|claimed| claimed.epsilon),
                claim_mu: match claim {
                    // The ε that μ comes to is tested.
                    _ if matches!(plan.selection(), GuessSelection::Nested(_)) => None,
                    Some(TrainingClaim::Mu(mu)) => Some(*mu),
                    _ => claimed.and_then(|claimed| claimed.mu),
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
                    "ε of at least {} is less than audits of a training that leaks all that is claimed find by the best \
                     attack ({} in the median)",
                    short((1e3 * found).floor() / 1e3),
                    significant(forecast.epsilon.median.0, 3)
                ),
                hint: "scores of the last model see little of a training; a small bound does not show privacy".into(),
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

fn attack_row(attack: &AttackScores, audit: &ScoresAnswer) -> CanaryAttackRow {
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

/// The largest bounds of several audits, of which any is wrong with this probability; guesses are those of the largest
/// bound of ε. None of no audit.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::OneRunGuesses;
    use crate::mechanism::parse;
    use crate::study::unwatched;

    fn study(claim: Option<TrainingClaim>, guesses: PlannedGuesses) -> CanaryPlanStudy {
        CanaryPlanStudy {
            canaries: 1_000,
            seed: 3,
            guesses,
            members_score: MembersScore::High,
            attacks: 1,
            delta: Delta::new(1e-5).unwrap(),
            failure_probability: FailureProbability::new(0.05).unwrap(),
            claim,
            repetitions: 40,
        }
    }

    fn mechanism(text: &str, times: u64) -> Option<TrainingClaim> {
        Some(TrainingClaim::Mechanism { mechanism: parse(text).unwrap(), times })
    }

    /// Without sampling DP-SGD is one Gaussian mechanism, whichever way it is written.
    #[test]
    fn the_same_claim_has_the_same_forecast() {
        let answers = [
            Some(TrainingClaim::Mu(2.0)),
            mechanism("gaussian:sigma=1", 4),
            mechanism("subsampled-gaussian:sigma=1,rate=1", 4),
        ]
        .map(|claim| {
            let guesses = GuessSelection::Declared(OneRunGuesses { members: 125, others: 125 });
            study(claim, PlannedGuesses::Selection(guesses)).run(&unwatched).unwrap()
        });
        for answer in &answers {
            let forecast = answer.forecast.unwrap().epsilon;
            println!("{} {forecast:?} {:?}", answer.claimed_epsilon.unwrap().0, answer.plan.guesses);
            let expected = gdp_epsilon(2.0, Delta::new(1e-5).unwrap()).unwrap().get();
            let claimed = answer.claimed_epsilon.unwrap().0;
            assert!(claimed >= expected && claimed < 1.002 * expected);
            // Forecasts of 40 audits each, with other draws.
            assert!((forecast.median.0 / answers[0].forecast.unwrap().epsilon.median.0 - 1.0).abs() < 0.15);
            assert!(forecast.high.0 < claimed);
        }
    }

    #[test]
    fn sampled_steps_are_a_claim() {
        let claim = mechanism("subsampled-gaussian:sigma=0.8,rate=0.01", 1_000);
        let answer = study(claim, PlannedGuesses::BestForecast).run(&unwatched).unwrap();
        let claimed = answer.claimed_epsilon.unwrap().0;
        // As in the documentation of `compose_enclosed`.
        assert!((3.139..3.147).contains(&claimed), "{claimed}");
        let forecast = answer.forecast.unwrap().epsilon;
        println!("{forecast:?}");
        assert!(forecast.median.0 > 0.1 && forecast.high.0 < claimed);
    }

    #[test]
    fn claims_out_of_reach_and_impossible_ones() {
        let high = Some(TrainingClaim::Epsilon(Epsilon::new(8.0).unwrap()));
        let answer = study(high, PlannedGuesses::Selection(GuessSelection::PaidFor)).run(&unwatched).unwrap();
        assert_eq!(answer.warnings[0].code, "claim-out-of-reach");
        let without = study(None, PlannedGuesses::Selection(GuessSelection::Split)).run(&unwatched).unwrap();
        assert!(without.forecast.is_none() && without.claimed_epsilon.is_none() && without.warnings.is_empty());
        assert_eq!(without.members + without.plan.coins.matches('0').count() as u64, 1_000);
        let messages = [
            study(None, PlannedGuesses::BestForecast),
            study(mechanism("gnmax:sigma=2", 1), PlannedGuesses::BestForecast),
        ]
        .map(|study| study.run(&unwatched).unwrap_err().to_string());
        insta::assert_snapshot!(messages.join("\n"), @r"
        plan of a one-run audit: the best numbers of guesses are those of a claim, and none is given
        claim of a training: gnmax is not about a record that is added or removed, as canaries are; subsampled-gaussian is
        ");
    }

    /// A training that shows each canary with a margin refutes a small claim; one that shows none is said to be weakly
    /// attacked.
    #[test]
    fn scores_of_a_plan_are_concluded() {
        let claim = Some(TrainingClaim::Epsilon(Epsilon::new(1.0).unwrap()));
        let planned = study(claim, PlannedGuesses::BestForecast).run(&unwatched).unwrap().plan;
        let document = serde_json::json!({ "schema": CanaryPlanAnswer::SCHEMA, "plan": planned }).to_string();
        let plan = crate::record::canary_plan_from_text("plan.json", &document).unwrap();
        let coins = plan.audit.coins();
        let conclude = |scores: Vec<f64>| {
            let attacks = vec![AttackScores { name: "a".into(), scores }];
            CanaryAuditStudy { plan: plan.clone(), attacks, repetitions: 40 }.run(&unwatched).unwrap()
        };
        let shown = conclude(coins.iter().map(|&coin| f64::from(u8::from(coin))).collect());
        assert!(shown.claims()[0].refuted && shown.warnings.is_empty());
        assert_eq!(shown.plan_sha256, planned.sha256);
        let hidden = conclude(vec![0.0; 1_000]);
        assert!(!hidden.claims()[0].refuted);
        assert_eq!(hidden.warnings[0].code, "weak-attack");
    }

    /// Of three planned attacks the best one counts, with a third of the failure probability; a fourth is rejected.
    #[test]
    fn the_best_of_planned_attacks_is_a_bound() {
        let claim = Some(TrainingClaim::Epsilon(Epsilon::new(1.0).unwrap()));
        let study = |attacks, failure| CanaryPlanStudy {
            attacks,
            failure_probability: FailureProbability::new(failure).unwrap(),
            ..study(claim.clone(), PlannedGuesses::Nested)
        };
        let plan = |study: CanaryPlanStudy| {
            let planned = study.run(&unwatched).unwrap();
            let document = serde_json::json!({ "schema": CanaryPlanAnswer::SCHEMA, "plan": planned.plan }).to_string();
            (crate::record::canary_plan_from_text("plan.json", &document).unwrap(), planned)
        };
        let ((three, planned), (third, alone)) = (plan(study(3, 0.05)), plan(study(1, 0.05 / 3.0)));
        assert_eq!((planned.most_shown.0, planned.forecast), (alone.most_shown.0, alone.forecast));
        let shown: Vec<f64> = three.audit.coins().iter().map(|&coin| f64::from(u8::from(coin))).collect();
        let half = shown.iter().enumerate().map(|(i, &score)| if i % 4 == 0 { 1.0 - score } else { score }).collect();
        let audit = |plan: &CanaryPlan, sets: &[&Vec<f64>]| {
            let attacks = sets
                .iter()
                .enumerate()
                .map(|(i, &scores)| AttackScores { name: format!("set {i}"), scores: scores.clone() });
            CanaryAuditStudy { plan: plan.clone(), attacks: attacks.collect(), repetitions: 40 }.run(&unwatched)
        };
        let answer = audit(&three, &[&half, &shown, &vec![0.0; 1_000]]).unwrap();
        let single = audit(&third, &[&shown]).unwrap();
        assert_eq!(answer.audit.epsilon[0].lower, single.audit.epsilon[0].lower);
        assert_eq!(answer.attacks[1].epsilon, answer.audit.epsilon[0].lower);
        assert!(answer.attacks[0].epsilon.0 > answer.attacks[2].epsilon.0 && answer.attacks[2].epsilon.0 == 0.0);
        assert_eq!((answer.claims()[0].refuted, answer.claims()[0].failure_probability), (true, 0.05));
        assert_eq!(answer.audit.epsilon[0].failure_probability, 0.05);
        // The order of the attacks does not matter.
        let turned = audit(&three, &[&vec![0.0; 1_000], &shown, &half]).unwrap();
        assert_eq!(turned.audit.epsilon[0].lower, answer.audit.epsilon[0].lower);
        assert_eq!(turned.audit.one_run.unwrap().right, answer.audit.one_run.unwrap().right);
        for sets in [&[][..], &[&shown; 4]] {
            let message = audit(&three, sets).unwrap_err().to_string();
            assert!(message.contains("expected 1 to 3, as planned"), "{message}");
        }
    }
}
