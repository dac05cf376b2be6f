//! A set of outputs that is likelier under one dataset than under its neighbor.

use super::aim::Aim;
use super::output::Output;
use super::witness::{Witness, by_ratio};
use crate::bound::Direction;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A set of outputs: those with certain outcomes of a witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    witness: Witness,
    /// The outcomes, which rise.
    outcomes: Vec<usize>,
    /// Whether it is likelier under the neighbor.
    reverse: bool,
}

impl Event {
    /// The set of outcomes that makes a claim most doubtful, by counts that must not be used to test it.
    #[must_use]
    pub fn choose(witness: &Witness, pilot: &[Vec<u64>; 2], aim: Aim) -> Option<Self> {
        let totals = [0, 1].map(|world| pilot[world].iter().sum::<u64>() as f64);
        let order = by_ratio(pilot);
        let mut best: Option<(f64, usize, bool)> = None;
        let mut inside = [0.0f64; 2];
        for (place, &outcome) in order.iter().enumerate() {
            for (inside, counts) in inside.iter_mut().zip(pilot) {
                *inside += counts[outcome] as f64;
            }
            let outside = [totals[1] - inside[1], totals[0] - inside[0]];
            let forward = aim.strength(inside, totals, Direction::Forward);
            let reverse = aim.strength(outside, [totals[1], totals[0]], Direction::Forward);
            for (share, reverse) in [(forward, false), (reverse, true)] {
                if best.is_none_or(|best| share > best.0) {
                    best = Some((share, place + 1, reverse));
                }
            }
        }
        let (_, first, reverse) = best?;
        let mut outcomes = if reverse { order[first..].to_vec() } else { order[..first].to_vec() };
        // What was never seen says nothing.
        outcomes.retain(|&outcome| pilot[0][outcome] + pilot[1][outcome] > 0);
        outcomes.sort_unstable();
        (!outcomes.is_empty()).then(|| Self { witness: witness.clone(), outcomes, reverse })
    }

    /// These outcomes, which must be known to rise.
    pub(super) const fn new(witness: Witness, outcomes: Vec<usize>, reverse: bool) -> Self {
        Self { witness, outcomes, reverse }
    }

    pub(super) const fn witness(&self) -> &Witness {
        &self.witness
    }

    /// The same set as one outcome, if it is a range of bins.
    pub(super) fn joined(&self) -> Option<Self> {
        let (first, last) = (*self.outcomes.first()?, *self.outcomes.last()?);
        let (witness, outcome) = self.witness.joined(first, last)?;
        (last - first + 1 == self.outcomes.len()).then(|| Self::new(witness, vec![outcome], self.reverse))
    }

    /// The same set with ends of so many significant digits.
    pub(super) fn rounded(&self, digits: usize) -> Option<Self> {
        Some(Self::new(self.witness.rounded(digits)?, self.outcomes.clone(), self.reverse))
    }

    /// Whether its outcomes are outcomes of its witness and rise, as they must where an event was read.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let known = self.outcomes.last().is_some_and(|&last| last < self.witness.outcomes());
        known && self.outcomes.is_sorted_by(|a, b| a < b)
    }

    /// What is looked at, in words.
    #[must_use]
    pub fn looks_at(&self) -> String {
        self.witness.to_string()
    }

    /// Whether it looks, most of all, at how numbers are written in binary.
    #[must_use]
    pub fn is_of_bits(&self) -> bool {
        self.witness.is_of_bits()
    }

    /// Whether an output lies in it.
    #[must_use]
    pub fn contains(&self, output: &Output) -> bool {
        self.outcomes.binary_search(&self.witness.outcome(output)).is_ok()
    }

    /// The direction in which it is likelier: forward under the dataset, reverse under its neighbor.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        if self.reverse { Direction::Reverse } else { Direction::Forward }
    }

    /// The outcomes of which it consists.
    #[must_use]
    pub fn outcomes(&self) -> &[usize] {
        &self.outcomes
    }

    /// Which outcomes are likelier under the dataset: those of the set, or of its complement if it is likelier under the
    /// neighbor.
    #[must_use]
    pub fn favoring_dataset(&self) -> Vec<bool> {
        (0..self.witness.outcomes())
            .map(|outcome| self.outcomes.binary_search(&outcome).is_ok() != self.reverse)
            .collect()
    }

    /// How many of these outputs lie in it, and how many do not.
    #[must_use]
    pub fn count(&self, outputs: &[Output]) -> [u64; 2] {
        let inside = outputs.iter().filter(|output| self.contains(output)).count();
        [inside as u64, (outputs.len() - inside) as u64]
    }

    /// How many of these counts lie in it.
    #[must_use]
    pub fn inside(&self, counts: &[u64]) -> u64 {
        self.outcomes.iter().filter_map(|&outcome| counts.get(outcome)).sum()
    }
}

impl fmt::Display for Event {
    /// In words, such as `output in [0.5, inf)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.witness.describe(&self.outcomes))
    }
}
