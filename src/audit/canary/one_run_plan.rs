//! One-run audits as declared before training.

use super::one_run_guesses::{GuessSelection, audit_one_run, list};
use super::one_run_ranks::{OneRunAudit, OneRunGuesses};
use super::scores::CanaryScores;
use crate::error::{Error, Result};
use crate::quantity::{Delta, FailureProbability};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The numbers of canaries: with fewer, all coins may fall on one side; with more, simulated audits take hours.
const CANARIES: std::ops::RangeInclusive<u64> = 32..=1_000_000;
/// The numbers of sets of scores: with more, each gets next to none of the failure probability.
const ATTACKS: std::ops::RangeInclusive<usize> = 1..=1_000;
/// The stream of the coins; others of the same seed are independent of it.
const COINS: u64 = 1;

/// How a training run is audited: the number of canaries, which of them it is trained on, and how their scores become a
/// bound. Everything is fixed before training.
///
/// Each canary has a separate fair coin, a function of the seed: if the coin is up, the run is trained on it. The person
/// who scores the canaries may know everything except the coins and the seed. A plan for A attacks audits A sets of scores,
/// each with an A-th of the failure probability, so the largest of their bounds holds (union bound; the sets may depend
/// on each other in any way). Taking the better of further attacks, or of two directions, is a choice that depends on
/// the coins and is not paid for.
///
/// ```
/// # use leakbound::audit::{GuessSelection, OneRunPlan};
/// # use leakbound::quantity::{Delta, FailureProbability};
/// let plan = OneRunPlan::new(1_000, 7, GuessSelection::PaidFor, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?;
/// // A model that shows every canary: its score is its coin.
/// let scores: Vec<f64> = plan.coins().into_iter().map(|coin| f64::from(u8::from(coin))).collect();
/// assert!(plan.audit(&scores)?.epsilon.value > 3.5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", Algorithm 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRunPlan {
    canaries: u64,
    seed: u64,
    selection: GuessSelection,
    delta: Delta,
    failure: FailureProbability,
    members_score: MembersScore,
    attacks: usize,
}

/// The side on which the scores of members are expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MembersScore {
    /// High scores mean members.
    #[default]
    High,
    /// Low scores mean members, as losses do.
    Low,
}

impl OneRunPlan {
    /// A plan for this many canaries, with the coins of this seed, for one set of scores; high scores mean members.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are 32 to 10^6 canaries; [`Error::Rejected`] for numbers of guesses that are 0 or
    /// above that of canaries, and for a naive selection, which needs no plan.
    pub fn new(
        canaries: u64,
        seed: u64,
        selection: GuessSelection,
        delta: Delta,
        failure: FailureProbability,
    ) -> Result<Self> {
        Error::check_domain(CANARIES.contains(&canaries), "canaries", canaries as f64, "[32, 10^6]")?;
        match selection {
            GuessSelection::Declared(guesses) => guesses.check(canaries)?,
            GuessSelection::Split | GuessSelection::PaidFor | GuessSelection::Nested(_) => {}
            GuessSelection::Naive => {
                let reason = "a plan with a naive selection of guesses would guarantee nothing";
                return Err(Error::rejected("plan of a one-run audit", reason));
            }
        }
        Ok(Self { canaries, seed, selection, delta, failure, members_score: MembersScore::High, attacks: 1 })
    }

    /// The same plan for scores of this direction.
    #[must_use]
    pub const fn with_members_score(self, members_score: MembersScore) -> Self {
        Self { members_score, ..self }
    }

    /// The same plan for this many sets of scores, each with an equal share of the failure probability.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are 1 to 1,000.
    pub fn with_attacks(self, attacks: usize) -> Result<Self> {
        Error::check_domain(ATTACKS.contains(&attacks), "attacks", attacks as f64, "[1, 1000]")?;
        Ok(Self { attacks, ..self })
    }

    /// m.
    #[must_use]
    pub const fn canaries(&self) -> u64 {
        self.canaries
    }

    /// The seed of the coins, of ties and of splits.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// The origin of the numbers of guesses.
    #[must_use]
    pub const fn selection(&self) -> GuessSelection {
        self.selection
    }

    /// δ of the bound.
    #[must_use]
    pub const fn delta(&self) -> Delta {
        self.delta
    }

    /// The probability that any bound is wrong.
    #[must_use]
    pub const fn failure_probability(&self) -> FailureProbability {
        self.failure
    }

    /// The probability that the bound of one set of scores is wrong: an equal share.
    #[must_use]
    pub fn failure_of_each(&self) -> FailureProbability {
        self.failure.split(self.attacks)
    }

    /// The side on which the scores of members are expected.
    #[must_use]
    pub const fn members_score(&self) -> MembersScore {
        self.members_score
    }

    /// A: the number of sets of scores that may be audited.
    #[must_use]
    pub const fn attacks(&self) -> usize {
        self.attacks
    }

    /// \[canary\]: whether the run is trained on it.
    #[must_use]
    pub fn coins(&self) -> Vec<bool> {
        let mut stream = ChaCha8Rng::seed_from_u64(self.seed);
        stream.set_stream(COINS);
        (0..self.canaries).map(|_| stream.random()).collect()
    }

    /// The scores of members and of the others, from one score per canary in the order of the coins. If low scores mean
    /// members, they are negated.
    ///
    /// # Errors
    /// [`Error::Length`] for a different number of scores, and if all coins fell on one side; [`Error::Domain`] for a
    /// score that is NaN.
    pub fn scores(&self, scores: &[f64]) -> Result<CanaryScores> {
        let (found, expected) = (scores.len(), format_args!("{}, one for each canary of the plan", self.canaries));
        Error::check_length(found as u64 == self.canaries, "scores of canaries", found, expected)?;
        let scores = scores.iter().map(|&score| match self.members_score {
            MembersScore::High => score,
            MembersScore::Low => -score,
        });
        CanaryScores::of_coins(self.coins().into_iter().zip(scores))
    }

    /// The bounds from one set of scores ([`audit_one_run`]), with its share of the failure probability.
    ///
    /// # Errors
    /// As [`scores`](Self::scores) and [`audit_one_run`].
    pub fn audit(&self, scores: &[f64]) -> Result<OneRunAudit> {
        audit_one_run(&self.scores(scores)?, self.selection, self.delta, self.failure_of_each(), self.seed)
    }

    /// The numbers of guesses that may become the bound.
    pub(super) fn candidates(&self) -> Vec<OneRunGuesses> {
        match self.selection {
            GuessSelection::Declared(guesses) => vec![guesses],
            GuessSelection::Split => list(self.canaries / 2),
            GuessSelection::PaidFor | GuessSelection::Naive => list(self.canaries),
            // It uses all of them together.
            GuessSelection::Nested(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(canaries: u64, seed: u64, selection: GuessSelection) -> Result<OneRunPlan> {
        OneRunPlan::new(canaries, seed, selection, Delta::new(0.0).unwrap(), FailureProbability::new(0.05).unwrap())
    }

    /// 10,000 coins: heads within five standard errors of a half (false alarm: 6e-7), and so is the number of agreeing
    /// neighbors.
    #[test]
    fn coins_are_fair_and_those_of_the_seed() {
        let coins = plan(10_000, 3, GuessSelection::Split).unwrap().coins();
        let heads = coins.iter().filter(|&&coin| coin).count() as f64;
        let alike = coins.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
        println!("{heads} {alike}");
        assert!((heads - 5000.0).abs() < 250.0 && (alike - 5000.0).abs() < 250.0);
        assert_eq!(coins, plan(10_000, 3, GuessSelection::PaidFor).unwrap().coins());
        assert_ne!(coins, plan(10_000, 4, GuessSelection::Split).unwrap().coins());
        // A longer plan begins with the coins of a shorter one.
        assert_eq!(coins[..100], plan(100, 3, GuessSelection::Split).unwrap().coins());
    }

    #[test]
    fn scores_follow_the_coins() {
        let plan = plan(40, 2, GuessSelection::PaidFor).unwrap();
        let coins = plan.coins();
        let scores = plan.scores(&(0..40).map(f64::from).collect::<Vec<_>>()).unwrap();
        let of = |side| (0..40u8).rev().filter(|&i| coins[usize::from(i)] == side).map(f64::from).collect::<Vec<_>>();
        assert_eq!((scores.members(), scores.others()), (&*of(true), &*of(false)));
        let message = plan.scores(&[0.0; 4]).unwrap_err().to_string();
        assert_eq!(message, "scores of canaries has length 4; expected 40, one for each canary of the plan");
    }

    /// Losses are low for members; each of three attacks gets a third of the failure probability.
    #[test]
    fn direction_and_shares_are_those_of_the_plan() {
        let one = plan(400, 2, GuessSelection::PaidFor).unwrap();
        let scores: Vec<f64> = one.coins().into_iter().map(|coin| f64::from(u8::from(coin))).collect();
        let losses: Vec<f64> = scores.iter().map(|score| 5.0 - score).collect();
        let low = one.with_members_score(MembersScore::Low);
        assert_eq!(one.audit(&scores).unwrap(), low.audit(&losses).unwrap());
        assert!(low.audit(&scores).unwrap().epsilon.value < 1e-6);
        let three = one.with_attacks(3).unwrap();
        let third = FailureProbability::new(0.05 / 3.0).unwrap();
        let alone = OneRunPlan::new(400, 2, GuessSelection::PaidFor, Delta::new(0.0).unwrap(), third).unwrap();
        let (shared, alone) = (three.audit(&scores).unwrap().epsilon, alone.audit(&scores).unwrap().epsilon);
        println!("{} {}", shared.value, alone.value);
        assert!((shared.value - alone.value).abs() < 1e-9 && shared.value < one.audit(&scores).unwrap().epsilon.value);
        assert_eq!(three.failure_probability().get(), 0.05);
        for attacks in [0, 1_001] {
            let message = one.with_attacks(attacks).unwrap_err().to_string();
            assert_eq!(message, format!("attacks = {attacks} is not in [1, 1000]"));
        }
    }

    #[test]
    fn impossible_plans_are_rejected() {
        let declared = |members, others| GuessSelection::Declared(OneRunGuesses { members, others });
        let messages = [
            plan(31, 0, GuessSelection::Split),
            plan(1_000_001, 0, GuessSelection::Split),
            plan(40, 0, declared(21, 20)),
            plan(40, 0, declared(0, 0)),
            plan(40, 0, GuessSelection::Naive),
        ]
        .map(|plan| plan.unwrap_err().to_string());
        insta::assert_snapshot!(messages.join("\n"), @r"
        canaries = 31 is not in [32, 10^6]
        canaries = 1000001 is not in [32, 10^6]
        one-run audit: 21 + 20 guesses about 40 canaries; expected 1 to 40 guesses
        one-run audit: 0 + 0 guesses about 40 canaries; expected 1 to 40 guesses
        plan of a one-run audit: a plan with a naive selection of guesses would guarantee nothing
        ");
    }
}
