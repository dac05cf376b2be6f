//! The smallest pair of neighbors that shows a violation.

use super::aim::{Aim, Goal};
use super::feature::Features;
use super::sampler::Sampler;
use super::search::{Candidate, FIRST};
use super::shrink::Shrink;
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;
use std::collections::HashSet;

/// The shrinking of a pair under which a claim is violated.
///
/// A smaller pair replaces a larger one if a betting game on its fresh outputs also refutes the claim.
pub struct Reduction {
    /// How pairs are made smaller.
    pub shrink: Shrink,
    /// The claim.
    pub aim: Aim,
    /// What is looked at in an output.
    pub features: Features,
    /// The failure probability of all tests together.
    pub failure: FailureProbability,
    /// The most runs of each world, all pairs together.
    pub budget: u64,
    /// The most runs of each world of one pair.
    pub each: u64,
}

/// How far a pair was shrunk.
#[derive(Debug, Default)]
pub struct Reduced {
    /// The smallest pair, if it is smaller than that of the start.
    pub smallest: Option<Candidate>,
    /// Runs of each world.
    pub runs: u64,
}

impl Reduction {
    /// Steps to smaller pairs as long as there are any, and runs.
    ///
    /// # Errors
    /// As [`Sampler::each_batch`], but for the end of the time, which ends the shrinking.
    pub fn run(&self, start: &Candidate, sampler: &mut Sampler<'_>) -> Result<Reduced> {
        let mut reduced = Reduced::default();
        let mut tried = HashSet::new();
        loop {
            let current = reduced.smallest.as_ref().unwrap_or(start);
            let mut next = None;
            let larger = current.pair.clone();
            for pair in self.shrink.smaller(&larger) {
                if reduced.runs >= self.budget || sampler.is_over() {
                    return Ok(reduced);
                }
                if !tried.insert((pair.dataset.clone(), pair.neighbor.clone())) {
                    continue;
                }
                let mut candidate = Candidate::new(pair, &[self.aim], 0.0);
                // Bets start immediately, as on the larger one.
                candidate.chosen.clone_from(&current.chosen);
                let holds = self.holds(&mut candidate, &mut reduced.runs, sampler);
                match holds {
                    Ok(true) => {
                        next = Some(candidate);
                        break;
                    }
                    Ok(false) => {}
                    Err(Error::Interrupted) => return Ok(reduced),
                    Err(error) => return Err(error),
                }
            }
            let Some(next) = next else { return Ok(reduced) };
            reduced.smallest = Some(next);
        }
    }

    /// Whether the claim is refuted on this pair, within its runs.
    fn holds(&self, candidate: &mut Candidate, spent: &mut u64, sampler: &mut Sampler<'_>) -> Result<bool> {
        let line = -self.failure.get().ln();
        loop {
            let left = (self.each - candidate.runs.min(self.each)).min(self.budget - (*spent).min(self.budget));
            let runs = candidate.runs.max(FIRST).min(left);
            if runs == 0 {
                return Ok(false);
            }
            candidate.run(runs, sampler, Goal { aims: &[self.aim], claimed: true, features: self.features })?;
            *spent += runs;
            if candidate.trouble.is_some() {
                return Ok(false);
            }
            if candidate.log_evidence(0) >= line {
                return Ok(true);
            }
            // Even the luckiest set of outputs is not evidence against the claim.
            if candidate.runs >= self.each / 2 && candidate.score() < 1.0 {
                return Ok(false);
            }
        }
    }
}
