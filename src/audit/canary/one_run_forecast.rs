//! Forecasts of planned one-run audits.

use super::one_run::one_run_epsilon;
use super::one_run_gdp::{MOST_GUESSES, one_run_mu};
use super::one_run_guesses::{GuessSelection, audit_one_run, best_of, list};
use super::one_run_nested::NestedTests;
use super::one_run_plan::OneRunPlan;
use super::one_run_ranks::{GuessedSides, OneRunGuesses, cumulated, ranked, right};
use super::score_model::CanaryScoreModel;
use super::scores::{CanaryScores, sides};
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::parallel;
use crate::quantity::{Delta, Epsilon, FailureProbability};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random streams of forecasts, and of the runs that choose the guesses: a choice that is best there by luck must not
/// affect the forecast. All are beyond the stream of the coins.
const FORECASTS: u64 = 1 << 32;
const SELECTIONS: u64 = 2 << 32;

/// A bound as it results from simulated audits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForecastBound {
    /// The 5% quantile: a twentieth of the audits find less.
    pub low: f64,
    /// Half of the audits find less.
    pub median: f64,
    /// The 95% quantile: a twentieth of the audits find more.
    pub high: f64,
}

/// Bounds from audits of a plan if canaries leak as much as a claim allows: a forecast, not a guarantee.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRunForecast {
    /// The bound of ε at the plan's δ.
    pub epsilon: ForecastBound,
    /// The bound of μ, if the plan has one.
    pub mu: Option<ForecastBound>,
    /// Number of simulated audits.
    pub repetitions: u64,
}

impl ForecastBound {
    /// From at least one value.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        Self { low: at(0.05), median: at(0.5), high: at(0.95) }
    }
}

/// Simulates audits of a plan.
///
/// # Errors
/// [`Error::Domain`] for no repetitions; those of [`audit_one_run`].
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScoreModel, GuessSelection, OneRunGuesses, OneRunPlan, forecast_one_run};
/// # use leakbound::prelude::*;
/// let guesses = GuessSelection::Declared(OneRunGuesses { members: 100, others: 100 });
/// let plan = OneRunPlan::new(1_000, 7, guesses, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?;
/// let forecast = forecast_one_run(&plan, &CanaryScoreModel::gaussian(1.0)?, 50)?;
/// // Training of μ = 1 is (4.38, 1e-5)-DP, and 1,000 canaries of one run show about a third of it.
/// assert!(forecast.epsilon.median > 0.8 && forecast.epsilon.high < 2.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn forecast_one_run(plan: &OneRunPlan, model: &CanaryScoreModel, repetitions: u64) -> Result<OneRunForecast> {
    let (delta, failure) = (plan.delta(), plan.failure_of_each());
    // Computed once for all audits.
    let nested = match plan.selection() {
        GuessSelection::Nested(sides) => Some(NestedTests::new(plan.canaries(), sides, delta, failure)?),
        GuessSelection::Declared(_) | GuessSelection::Split | GuessSelection::PaidFor | GuessSelection::Naive => None,
    };
    let audit = |scores: CanaryScores, repetition| match &nested {
        Some(nested) => nested.audit(&scores, repetition),
        None => audit_one_run(&scores, plan.selection(), delta, failure, repetition),
    };
    let audits = simulated(plan, model, FORECASTS, repetitions, audit)?;
    let epsilon = ForecastBound::of(audits.iter().map(|audit| audit.epsilon.value).collect());
    let mu: Option<Vec<f64>> = audits.iter().map(|audit| Some(audit.mu?.value)).collect();
    Ok(OneRunForecast { epsilon, mu: mu.map(ForecastBound::of), repetitions })
}

/// The largest bounds that an audit can attain: with every guess right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MostShown {
    /// The bound of ε at the plan's δ.
    pub epsilon: f64,
    /// The bound of μ.
    pub mu: f64,
}

/// A claim about a training, as values that the bounds of an audit may exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimedBounds {
    /// ε at the plan's δ.
    pub epsilon: Epsilon,
    /// μ, if the claim is Gaussian differential privacy.
    pub mu: Option<f64>,
}

impl MostShown {
    fn of(guesses: OneRunGuesses, canaries: u64, delta: Delta, failure: FailureProbability) -> Result<Self> {
        let total = guesses.members + guesses.others;
        let right = BinomialCounts::new(total, total)?;
        // With more guesses, an audit does not bound μ.
        let mu = if total > MOST_GUESSES { 0.0 } else { one_run_mu(right, canaries, failure)?.value };
        Ok(Self { epsilon: one_run_epsilon(right, canaries, delta, failure)?.value, mu })
    }

    /// Whether the claim would be refuted with every guess right.
    #[must_use]
    pub fn refutes(self, claimed: ClaimedBounds) -> bool {
        self.epsilon > claimed.epsilon.get() || claimed.mu.is_some_and(|mu| self.mu > mu)
    }
}

/// The largest bounds that a plan can attain, each at its own numbers of guesses.
///
/// # Errors
/// Those of [`one_run_epsilon`] and [`one_run_mu`].
pub fn most_shown(plan: &OneRunPlan) -> Result<MostShown> {
    let half = plan.failure_of_each().split(2);
    let candidates = plan.candidates();
    if let GuessSelection::Nested(sides) = plan.selection() {
        let tests = NestedTests::new(plan.canaries(), sides, plan.delta(), plan.failure_of_each())?;
        return Ok(MostShown { epsilon: tests.most(), mu: 0.0 });
    }
    let (canaries, each) = match plan.selection() {
        GuessSelection::Split => (plan.canaries() - plan.canaries() / 2, half),
        GuessSelection::PaidFor => (plan.canaries(), half.split(candidates.len())),
        GuessSelection::Declared(_) | GuessSelection::Nested(_) | GuessSelection::Naive => (plan.canaries(), half),
    };
    let mut most = MostShown { epsilon: 0.0, mu: 0.0 };
    for guesses in candidates {
        let shown = MostShown::of(guesses, canaries, plan.delta(), each)?;
        most = MostShown { epsilon: most.epsilon.max(shown.epsilon), mu: most.mu.max(shown.mu) };
    }
    Ok(most)
}

/// The numbers of guesses, from the list used by [`GuessSelection::PaidFor`], with the largest median bound of ε in
/// simulated audits. Declared before training, they cost nothing, unlike numbers chosen by the scores.
///
/// A claim is worth testing only with guesses that can refute it: only numbers are considered that refute it if every
/// guess is right, or all of them if none do. The selection of `plan` is ignored. If no bound is above 0, the largest
/// share of right guesses decides.
///
/// # Errors
/// As [`forecast_one_run`].
pub fn best_declared_guesses(
    plan: &OneRunPlan,
    model: &CanaryScoreModel,
    claimed: ClaimedBounds,
    repetitions: u64,
) -> Result<OneRunGuesses> {
    let (canaries, half) = (plan.canaries(), plan.failure_of_each().split(2));
    let mut candidates = list(canaries);
    let mut refuting = Vec::new();
    for &guesses in &candidates {
        if MostShown::of(guesses, canaries, plan.delta(), half)?.refutes(claimed) {
            refuting.push(guesses);
        }
    }
    if !refuting.is_empty() {
        candidates = refuting;
    }
    let counts = simulated(plan, model, SELECTIONS, repetitions, |scores, repetition| {
        let sums = cumulated(&ranked(&scores, &mut ChaCha8Rng::seed_from_u64(repetition)));
        candidates.iter().map(|&guesses| Ok(right(&sums, guesses)?.successes())).collect::<Result<Vec<u64>>>()
    })?;
    best_of(&candidates, canaries, plan.delta(), half, |place, guesses| {
        let mut right: Vec<u64> = counts.iter().map(|counts| counts[place]).collect();
        right.sort_unstable();
        BinomialCounts::new(right[(right.len() - 1) / 2], guesses.members + guesses.others)
    })
}

/// The sides of nested guesses with the larger median bound of ε in simulated audits. The selection of `plan` is
/// ignored.
///
/// # Errors
/// As [`forecast_one_run`].
pub fn best_guessed_sides(plan: &OneRunPlan, model: &CanaryScoreModel, repetitions: u64) -> Result<GuessedSides> {
    let tests = |sides| NestedTests::new(plan.canaries(), sides, plan.delta(), plan.failure_of_each());
    let (both, members) = (tests(GuessedSides::Both)?, tests(GuessedSides::Members)?);
    let audits = simulated(plan, model, SELECTIONS, repetitions, |scores, repetition| {
        let sums = cumulated(&ranked(&scores, &mut ChaCha8Rng::seed_from_u64(repetition)));
        Ok([both.of_sums(&sums)?.epsilon.value, members.of_sums(&sums)?.epsilon.value])
    })?;
    let median = |side: usize| ForecastBound::of(audits.iter().map(|audit| audit[side]).collect()).median;
    Ok(if median(1) > median(0) { GuessedSides::Members } else { GuessedSides::Both })
}

/// Applies a function to the scores of each simulated run. New coins are drawn; those of the plan are not used.
fn simulated<T: Send>(
    plan: &OneRunPlan,
    model: &CanaryScoreModel,
    first_stream: u64,
    repetitions: u64,
    made: impl Fn(CanaryScores, u64) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    Error::check_domain(repetitions > 0, "simulated audits", 0.0, "[1, inf)")?;
    let simulate = |repetition: u64| {
        let mut stream = ChaCha8Rng::seed_from_u64(plan.seed());
        stream.set_stream(first_stream + repetition);
        loop {
            let [members, others] = sides((0..plan.canaries()).map(|_| {
                let member = stream.random();
                (member, model.draw(member, &mut stream))
            }));
            if !(members.is_empty() || others.is_empty()) {
                return made(CanaryScores::new(members, others)?, repetition);
            }
        }
    };
    parallel::try_map(0..repetitions, simulate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::gdp_epsilon;

    fn plan(canaries: u64, selection: GuessSelection, delta: f64) -> OneRunPlan {
        let (delta, failure) = (Delta::new(delta).unwrap(), FailureProbability::new(0.05).unwrap());
        OneRunPlan::new(canaries, 5, selection, delta, failure).unwrap()
    }

    fn declared(members: u64, others: u64) -> GuessSelection {
        GuessSelection::Declared(OneRunGuesses { members, others })
    }

    /// Randomized response shows the side of a canary with probability 0.8808 at ε = 2. Of 400 canaries, far more than
    /// 100 have either sign, so all 200 guesses follow it: right ones are Bin(200, 0.8808) with median 176.
    #[test]
    fn randomized_response_is_forecast_by_a_binomial() {
        let plan = plan(400, declared(100, 100), 0.0);
        let epsilon = Epsilon::new(2.0).unwrap();
        let model = CanaryScoreModel::Approximate { epsilon, delta: plan.delta() };
        let forecast = forecast_one_run(&plan, &model, 400).unwrap();
        let half = plan.failure_of_each().split(2);
        let at =
            |right| one_run_epsilon(BinomialCounts::new(right, 200).unwrap(), 400, plan.delta(), half).unwrap().value;
        println!("{forecast:?} {} {}", at(176), at(184));
        // 400 medians within 1.25 standard deviations of 4.6 over 20.
        assert!(forecast.epsilon.median >= at(175) && forecast.epsilon.median <= at(177));
        // The 95% quantile is 183, give or take one; the bound of 2 is exceeded in 2.5% of the audits.
        assert!(forecast.epsilon.high >= at(182) && forecast.epsilon.high <= at(185) && forecast.epsilon.high < 2.0);
    }

    #[test]
    fn more_is_shown_by_more_canaries_and_less_by_a_split() {
        let model = CanaryScoreModel::gaussian(2.0).unwrap();
        let median = |plan: OneRunPlan| forecast_one_run(&plan, &model, 60).unwrap().epsilon.median;
        let [few, many] = [200, 2_000].map(|canaries| median(plan(canaries, GuessSelection::PaidFor, 1e-5)));
        let split = median(plan(200, GuessSelection::Split, 1e-5));
        let any = ClaimedBounds { epsilon: Epsilon::new(0.0).unwrap(), mu: None };
        let guesses = best_declared_guesses(&plan(200, GuessSelection::Split, 1e-5), &model, any, 60).unwrap();
        let best = median(plan(200, GuessSelection::Declared(guesses), 1e-5));
        println!("{few} {many} {split} {best} {guesses:?}");
        assert!(few < many && split < best && few < best);
        assert!(many < gdp_epsilon(2.0, Delta::new(1e-5).unwrap()).unwrap().get());
    }

    /// Of c^r = f/2 right guesses out of r: ln(c/(1 - c)).
    #[test]
    fn no_audit_shows_more_than_all_guesses_right() {
        let shown = most_shown(&plan(100, declared(50, 50), 0.0)).unwrap().epsilon;
        let c = 0.025f64.powf(0.01);
        assert!((shown - (c / (1.0 - c)).ln()).abs() < 1e-9, "{shown}");
        let sure = CanaryScoreModel::gaussian(50.0).unwrap();
        for selection in [GuessSelection::Split, GuessSelection::PaidFor] {
            let plan = plan(100, selection, 0.0);
            let most = most_shown(&plan).unwrap().epsilon;
            let found = forecast_one_run(&plan, &sure, 40).unwrap().epsilon;
            println!("{selection:?}: {most} {found:?}");
            assert!(found.high <= most && found.high > 0.8 * most);
        }
    }

    /// The largest forecast for a small μ has few guesses, which show little even if all are right. The bound of μ can
    /// also refute a claim about μ.
    #[test]
    fn guesses_can_refute_the_claim_where_any_can() {
        let (plan, model) = (plan(1_000, GuessSelection::PaidFor, 1e-5), CanaryScoreModel::gaussian(1.0).unwrap());
        let half = plan.failure_of_each().split(2);
        let of = |epsilon: f64, mu| {
            let claimed = ClaimedBounds { epsilon: Epsilon::new(epsilon).unwrap(), mu };
            let guesses = best_declared_guesses(&plan, &model, claimed, 40).unwrap();
            MostShown::of(guesses, 1_000, plan.delta(), half).unwrap()
        };
        let [free, refuting, out_of_reach] = [0.0, 4.377, 9.0].map(|epsilon| of(epsilon, None));
        println!("{free:?} {refuting:?} {out_of_reach:?}");
        assert!(free.epsilon < 4.377 && refuting.epsilon > 4.377 && out_of_reach == free);
        let by_mu = of(9.0, Some(1.0));
        assert!(by_mu.epsilon < 9.0 && by_mu.mu > 1.0);
        // As in an audit: 190 of 200 right guesses about 200 canaries refute μ = 1, though they show less than its ε.
        let few = BinomialCounts::new(190, 200).unwrap();
        assert!(one_run_mu(few, 200, half).unwrap().value > 1.0);
        assert!(one_run_epsilon(few, 200, plan.delta(), half).unwrap().value < 4.377);
    }

    #[test]
    fn without_leakage_nothing_is_forecast() {
        let plan = plan(300, GuessSelection::PaidFor, 1e-5);
        let forecast = forecast_one_run(&plan, &CanaryScoreModel::gaussian(0.0).unwrap(), 40).unwrap();
        assert_eq!([forecast.epsilon.median, forecast.mu.unwrap().median], [0.0; 2]);
        assert!(forecast_one_run(&plan, &CanaryScoreModel::gaussian(0.0).unwrap(), 0).is_err());
    }
}
