//! Canaries in the order of their scores, and guesses at their coins.

use super::scores::CanaryScores;
use crate::bound::LowerBound;
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::order;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Guesses of one run: the `members` canaries with the highest scores are called members, the `others` with the lowest
/// scores non-members, and the rest are not guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneRunGuesses {
    /// k+.
    pub members: u64,
    /// k-.
    pub others: u64,
}

impl OneRunGuesses {
    /// Rejects zero guesses and more guesses than canaries.
    pub(super) fn check(self, canaries: u64) -> Result<()> {
        let total = self.members.checked_add(self.others);
        if total.is_some_and(|total| (1..=canaries).contains(&total)) {
            return Ok(());
        }
        let reason = format!(
            "{} + {} guesses about {canaries} canaries; expected 1 to {canaries} guesses",
            self.members, self.others
        );
        Err(Error::rejected("one-run audit", reason))
    }
}

/// The side or sides whose scores are clear enough to guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuessedSides {
    /// The highest scores are called members, and equally many of the lowest non-members.
    Both,
    /// The highest scores are called members, and the lowest are not guessed: for trainings that see a canary in few
    /// steps, which reveal a few members very clearly and nobody else.
    Members,
}

impl GuessedSides {
    /// K guesses of each kind in use.
    pub(super) const fn guesses(self, k: u64) -> OneRunGuesses {
        match self {
            Self::Both => OneRunGuesses { members: k, others: k },
            Self::Members => OneRunGuesses { members: k, others: 0 },
        }
    }
}

/// The bounds from one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneRunAudit {
    /// The numbers of guesses behind the bound of ε.
    pub guesses: OneRunGuesses,
    /// Right guesses among all.
    pub right: BinomialCounts,
    /// The canaries that the bound refers to: half of all for a split.
    pub canaries: u64,
    /// Lower bound of ε at δ.
    pub epsilon: LowerBound,
    /// Lower bound of μ, from the same guesses; absent if the whole failure probability is spent on ε.
    pub mu: Option<LowerBound>,
}

/// All canaries by decreasing score, each with its coin. Equal scores are in random order: any rule that knew the coins
/// would turn ties into right guesses.
pub(super) fn ranked(scores: &CanaryScores, stream: &mut ChaCha8Rng) -> Vec<bool> {
    if let Some(merged) = merged(scores) {
        return merged;
    }
    let members = scores.members().iter().map(|&score| (score, true));
    let mut all: Vec<(f64, bool)> = members.chain(scores.others().iter().map(|&score| (score, false))).collect();
    all.shuffle(stream);
    order::sort(&mut all, |a, b| b.0.total_cmp(&a.0));
    all.into_iter().map(|(_, member)| member).collect()
}

/// The same if no member has the score of a non-member, so that nothing is left to chance.
fn merged(scores: &CanaryScores) -> Option<Vec<bool>> {
    let (mut members, mut others) = (scores.members(), scores.others());
    let mut merged = Vec::with_capacity(members.len() + others.len());
    while let ([member, lower_members @ ..], [other, lower_others @ ..]) = (members, others) {
        if member == other {
            return None;
        }
        merged.push(member > other);
        if member > other { members = lower_members } else { others = lower_others }
    }
    merged.resize(merged.len() + members.len(), true);
    merged.resize(merged.len() + others.len(), false);
    Some(merged)
}

/// Right guesses, from the number of members among the first k canaries for each k.
pub(super) fn right(members_above: &[u64], guesses: OneRunGuesses) -> Result<BinomialCounts> {
    let canaries = members_above.len() as u64 - 1;
    guesses.check(canaries)?;
    let total = guesses.members + guesses.others;
    let first_other = canaries - guesses.others;
    let members_below = members_above[canaries as usize] - members_above[first_other as usize];
    BinomialCounts::new(members_above[guesses.members as usize] + guesses.others - members_below, total)
}

pub(super) fn cumulated(ranked: &[bool]) -> Vec<u64> {
    let mut sums = Vec::with_capacity(ranked.len() + 1);
    sums.push(0);
    let mut sum = 0;
    for &member in ranked {
        sum += u64::from(member);
        sums.push(sum);
    }
    sums
}
