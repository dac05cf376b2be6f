//! The numbers of guesses of each kind in one run, and the bounds they prove.

use super::one_run::one_run_epsilon;
use super::one_run_gdp::{MOST_GUESSES, one_run_mu};
use super::one_run_nested::NestedTests;
use super::one_run_ranks::{GuessedSides, OneRunAudit, OneRunGuesses, cumulated, ranked, right};
use super::scores::CanaryScores;
use crate::bound::{LowerBound, Validity};
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::order;
use crate::quantity::{Delta, FailureProbability};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The origin of the numbers of guesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuessSelection {
    /// Declared without looking at the coins.
    Declared(OneRunGuesses),
    /// Chosen on a random half of the canaries; the other half is bounded.
    Split,
    /// The best of a fixed list of numbers, each with a share of the failure probability.
    PaidFor,
    /// All clear scores together, clearer ones with more weight: for ε alone ([`NestedTests`]).
    Nested(GuessedSides),
    /// The best of the same list without dividing the failure probability: heuristic.
    Naive,
}

impl GuessSelection {
    /// The name used in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declared(_) => "declared",
            Self::Split => "split",
            Self::PaidFor => "paid-for",
            Self::Nested(GuessedSides::Both) => "nested",
            Self::Nested(GuessedSides::Members) => "nested-members",
            Self::Naive => "naive",
        }
    }
}

/// The number of right guesses among k+ and k- of them; ties are broken at random, as a function of the seed.
///
/// # Errors
/// [`Error::Rejected`] unless 1 ≤ k+ + k- ≤ number of canaries.
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, OneRunGuesses, one_run_guesses};
/// let scores = CanaryScores::new(vec![5.0, 4.0, 1.0], vec![3.0, 2.0])?;
/// let right = one_run_guesses(&scores, OneRunGuesses { members: 2, others: 2 }, 0)?;
/// assert_eq!((right.successes(), right.trials()), (3, 4));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn one_run_guesses(scores: &CanaryScores, guesses: OneRunGuesses, seed: u64) -> Result<BinomialCounts> {
    right(&cumulated(&ranked(scores, &mut ChaCha8Rng::seed_from_u64(seed))), guesses)
}

/// Candidate numbers of guesses, a function of the number of canaries alone: k+ = ⌈m/2^j⌉ with k- equal or zero, and
/// the same exchanged.
pub(super) fn list(canaries: u64) -> Vec<OneRunGuesses> {
    let mut sizes = Vec::new();
    let mut size = canaries;
    while size > 1 {
        size = size.div_ceil(2);
        sizes.push(size);
    }
    if sizes.is_empty() {
        sizes.push(canaries);
    }
    let pairs = sizes.into_iter().flat_map(|k| [(k, 0), (0, k), (k, k)]);
    pairs
        .filter(|(members, others)| members + others <= canaries)
        .map(|(members, others)| OneRunGuesses { members, others })
        .collect()
}

/// ε and μ from one training run in which a separate fair coin decided whether each canary was included.
///
/// The model is trained once, on the canaries selected by their coins, and each canary has a score that may depend on
/// the model and on all canaries, but not on the coins. Scores of canaries of one model influence each other, so bounds
/// that treat them as independent do not hold; this one does ([`one_run_epsilon`](crate::audit::one_run_epsilon)). The
/// number of members must be the outcome of the coins: if it is fixed beforehand, the coins are not independent.
///
/// - `declared`: k+ and k- as given; finite-sample.
/// - `split`: those with the largest bound on a random half of the canaries; the other half is bounded. Given the coins
///   of the first half, the training is as private for the coins of the second as before. Finite-sample.
/// - `paid-for`: the largest bound over a list of J numbers of guesses that is a function of m, each at failure
///   probability f/J. Finite-sample.
/// - `nested`: right guesses of nested numbers are added up, so that clearer scores count more; the numbers are
///   functions of m, δ, f and the ε that is tested ([`NestedTests`]). Finite-sample, for ε alone.
/// - `naive`: the largest over the same list at f each. *Heuristic.*
///
/// Except with `nested`, the bounds of ε and of μ share the guesses, and each is computed at half of the failure
/// probability, so both hold simultaneously; each states the whole failure probability. Beyond 2^22 guesses, that of μ
/// is 0.
///
/// # Errors
/// [`Error::Rejected`] for a number of guesses that is 0 or above that of canaries, or if fewer than 2 canaries of a
/// kind cannot be split; as [`one_run_epsilon`](crate::audit::one_run_epsilon).
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, GuessSelection, OneRunGuesses, audit_one_run};
/// # use leakbound::prelude::*;
/// let scores = CanaryScores::new((300..500).map(f64::from).collect(), (0..200).map(f64::from).collect())?;
/// let guesses = GuessSelection::Declared(OneRunGuesses { members: 100, others: 100 });
/// let audit = audit_one_run(&scores, guesses, Delta::new(0.0)?, FailureProbability::new(0.05)?, 0)?;
/// // 200 of 200 right: ln(c/(1-c)) with c^200 = 0.025.
/// assert!(audit.right.successes() == 200 && (audit.epsilon.value - 3.983_758).abs() < 1e-6);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", Algorithm 1 and Theorem 5.2.
pub fn audit_one_run(
    scores: &CanaryScores,
    selection: GuessSelection,
    delta: Delta,
    failure: FailureProbability,
    seed: u64,
) -> Result<OneRunAudit> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let half = failure.split(2);
    match selection {
        GuessSelection::Declared(guesses) => {
            let sums = cumulated(&ranked(scores, &mut stream));
            bounded(&sums, guesses, delta, half, failure)
        }
        GuessSelection::Split => {
            let parts = scores.split_coins(&mut stream);
            let [choosing, bounding] = parts.map(|part| cumulated(&part));
            // Numbers of guesses chosen on one half suit the other, which has the same number of canaries or one more.
            let guesses = best(&choosing, delta, half)?;
            bounded(&bounding, guesses, delta, half, failure)
        }
        GuessSelection::PaidFor => {
            let sums = cumulated(&ranked(scores, &mut stream));
            let share = half.split(list(sums.len() as u64 - 1).len());
            let guesses = best(&sums, delta, share)?;
            bounded(&sums, guesses, delta, share, failure)
        }
        GuessSelection::Nested(sides) => {
            let sums = cumulated(&ranked(scores, &mut stream));
            NestedTests::new(sums.len() as u64 - 1, sides, delta, failure)?.of_sums(&sums)
        }
        GuessSelection::Naive => {
            let sums = cumulated(&ranked(scores, &mut stream));
            let guesses = best(&sums, delta, failure)?;
            let audit = bounded(&sums, guesses, delta, failure, failure)?;
            Ok(OneRunAudit { epsilon: audit.epsilon.heuristic(), mu: audit.mu.map(LowerBound::heuristic), ..audit })
        }
    }
}

impl CanaryScores {
    /// The ranked coins of two random halves of all canaries, members and others together.
    fn split_coins(&self, stream: &mut ChaCha8Rng) -> [Vec<bool>; 2] {
        let members = self.members().iter().map(|&score| (score, true));
        let mut all: Vec<(f64, bool)> = members.chain(self.others().iter().map(|&score| (score, false))).collect();
        all.shuffle(stream);
        let rest = all.split_off(all.len() / 2);
        [all, rest].map(|mut part| {
            order::sort(&mut part, |a, b| b.0.total_cmp(&a.0));
            part.into_iter().map(|(_, member)| member).collect()
        })
    }
}

/// The numbers of guesses with the largest bound of ε, the first one in a tie; without any bound, the largest share of
/// right guesses.
fn best(sums: &[u64], delta: Delta, failure: FailureProbability) -> Result<OneRunGuesses> {
    let canaries = sums.len() as u64 - 1;
    best_of(&list(canaries), canaries, delta, failure, |_, guesses| right(sums, guesses))
}

/// The candidate whose right guesses, by its position, show the largest ε, and in a tie the largest share of them.
pub(super) fn best_of(
    candidates: &[OneRunGuesses],
    canaries: u64,
    delta: Delta,
    failure: FailureProbability,
    right: impl Fn(usize, OneRunGuesses) -> Result<BinomialCounts>,
) -> Result<OneRunGuesses> {
    let mut best: Option<((f64, f64), OneRunGuesses)> = None;
    for (place, &guesses) in candidates.iter().enumerate() {
        let right = right(place, guesses)?;
        let epsilon = one_run_epsilon(right, canaries, delta, failure)?.value;
        let worth = (epsilon, right.successes() as f64 / right.trials() as f64);
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, guesses));
        }
    }
    best.map(|(_, guesses)| guesses)
        .ok_or_else(|| Error::rejected("one-run audit", format_args!("{canaries} canaries are too few")))
}

fn bounded(
    sums: &[u64],
    guesses: OneRunGuesses,
    delta: Delta,
    each: FailureProbability,
    failure: FailureProbability,
) -> Result<OneRunAudit> {
    let (canaries, right) = (sums.len() as u64 - 1, right(sums, guesses)?);
    let whole = |bound: LowerBound| bound.failing(failure);
    let mu = if right.trials() > MOST_GUESSES {
        LowerBound::new(0.0, each, "one-run-gdp", Validity::FiniteSample)
    } else {
        one_run_mu(right, canaries, each)?
    };
    Ok(OneRunAudit {
        guesses,
        right,
        canaries,
        epsilon: whole(one_run_epsilon(right, canaries, delta, each)?),
        mu: Some(whole(mu)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Bernoulli, Distribution, StandardNormal};

    /// Scores of m canaries, each in by a fair coin, members shifted.
    fn coins(m: usize, shift: f64, stream: &mut ChaCha8Rng) -> CanaryScores {
        let coin = Bernoulli::new(0.5).unwrap();
        loop {
            let canaries = (0..m).map(|_| {
                let (member, z): (bool, f64) = (coin.sample(stream), StandardNormal.sample(stream));
                (member, if member { z + shift } else { z })
            });
            if let Ok(scores) = CanaryScores::of_coins(canaries) {
                return scores;
            }
        }
    }

    /// Equal distributions: at most 10% of runs claim anything, plus five standard errors (false-alarm rate below
    /// 1e-6).
    #[test]
    fn noise_is_rarely_taken_for_leakage() {
        const RUNS: u64 = 300;
        const FAILURE: f64 = 0.1;
        let failure = FailureProbability::new(FAILURE).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(2);
        let declared = GuessSelection::Declared(OneRunGuesses { members: 30, others: 30 });
        let selections = [
            declared,
            GuessSelection::Split,
            GuessSelection::PaidFor,
            GuessSelection::Nested(GuessedSides::Both),
            GuessSelection::Naive,
        ];
        let mut claims = [0u64; 5];
        for run in 0..RUNS {
            let scores = coins(120, 0.0, &mut stream);
            for (claims, selection) in claims.iter_mut().zip(selections) {
                let audit = audit_one_run(&scores, selection, Delta::new(0.0).unwrap(), failure, run).unwrap();
                let mu = audit.mu.map_or(0.0, |mu| mu.value);
                *claims += u64::from(audit.epsilon.value.max(mu) > 0.0);
            }
        }
        println!("{claims:?} of {RUNS}");
        let most = RUNS as f64 * FAILURE + 5.0 * (RUNS as f64 * FAILURE * (1.0 - FAILURE)).sqrt();
        assert!(claims[..4].iter().all(|&claims| (claims as f64) < most));
        assert!(claims[4] > claims[2]);
    }

    #[test]
    fn leakage_is_found_and_labeled() {
        let scores = coins(1000, 3.0, &mut ChaCha8Rng::seed_from_u64(4));
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        for selection in [GuessSelection::Split, GuessSelection::PaidFor, GuessSelection::Naive] {
            let audit = audit_one_run(&scores, selection, delta, failure, 9).unwrap();
            println!("{selection:?} {audit:?}");
            let mu = audit.mu.unwrap();
            assert!(audit.epsilon.value > 1.5 && mu.value > 1.0 && mu.value < 3.0);
            let validity =
                if selection == GuessSelection::Naive { Validity::Heuristic } else { Validity::FiniteSample };
            assert!(audit.epsilon.validity == validity && mu.validity == validity);
            assert_eq!(audit.epsilon.failure_probability, failure);
        }
    }

    /// Equal scores are guessed at random, in whatever order the file has them.
    #[test]
    fn ties_say_nothing() {
        let scores = CanaryScores::new(vec![1.0; 2000], vec![1.0; 2000]).unwrap();
        let right = one_run_guesses(&scores, OneRunGuesses { members: 1000, others: 1000 }, 3).unwrap();
        // 1000 of 2000, standard deviation 16: the deviation exceeds six of them with probability 2e-9.
        assert!(right.successes().abs_diff(1000) < 100, "{right:?}");
    }

    #[test]
    fn impossible_numbers_are_rejected() {
        let scores = CanaryScores::new(vec![1.0], vec![0.0]).unwrap();
        for (members, others) in [(0, 0), (2, 1), (u64::MAX, 1)] {
            assert!(one_run_guesses(&scores, OneRunGuesses { members, others }, 0).is_err());
        }
        assert!(list(1).len() == 2 && list(1000).len() < 40);
        let (delta, failure) = (Delta::new(0.0).unwrap(), FailureProbability::new(0.5).unwrap());
        for selection in [GuessSelection::Split, GuessSelection::PaidFor, GuessSelection::Naive] {
            assert!(audit_one_run(&scores, selection, delta, failure, 0).unwrap().epsilon.value < 1.0);
        }
    }

    /// The list for 200 canaries has three entries for each of 100, 50, 25, 13, 7, 4, 2 and 1.
    #[test]
    fn every_number_of_guesses_on_the_list_is_paid_for() {
        let scores = coins(200, 2.0, &mut ChaCha8Rng::seed_from_u64(8));
        let (delta, failure) = (Delta::new(0.0).unwrap(), FailureProbability::new(0.05).unwrap());
        let audit = audit_one_run(&scores, GuessSelection::PaidFor, delta, failure, 1).unwrap();
        let share = failure.split(2).split(24);
        assert_eq!(audit.epsilon.value, one_run_epsilon(audit.right, 200, delta, share).unwrap().value);
        assert_eq!(audit.mu.unwrap().value, one_run_mu(audit.right, 200, share).unwrap().value);
        assert!(audit.epsilon.value > 0.0);
    }
}
