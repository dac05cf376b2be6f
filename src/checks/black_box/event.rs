//! A set of outputs that is likelier under one dataset than under its neighbor.

use super::aim::Aim;
use super::output::Output;
use super::witness::{Chosen, PlainSet, Witness, by_ratio};
use crate::bound::Direction;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A set of outputs: those with certain outcomes of a witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    witness: Witness,
    /// The outcomes, in rising order.
    outcomes: Vec<usize>,
    /// Whether it is likelier under the neighbor.
    reverse: bool,
}

impl Event {
    /// The set of outcomes that is the most standard deviations above a claim, by counts that must not be used to test
    /// it, and the single outcome or side of a cut with the largest Bayes factor, if that is above 1 and the set is a
    /// different one.
    #[must_use]
    pub fn choose(chosen: &Chosen, aim: Aim) -> Vec<Self> {
        let Chosen { witness, pilot, .. } = chosen;
        let totals = [0, 1].map(|world| pilot[world].iter().sum::<u64>() as f64);
        let order = by_ratio(pilot);
        // The largest strength, with the number of outcomes in front, and whether the set is those behind.
        let mut best = (f64::NEG_INFINITY, 0, false);
        let mut inside = [0.0f64; 2];
        for (place, &outcome) in order.iter().enumerate() {
            for (inside, counts) in inside.iter_mut().zip(pilot) {
                *inside += counts[outcome] as f64;
            }
            let outside = [totals[1] - inside[1], totals[0] - inside[0]];
            for (inside, totals, reverse) in [(inside, totals, false), (outside, [totals[1], totals[0]], true)] {
                let strength = aim.strength(inside, totals, Direction::Forward);
                if strength > best.0 {
                    best = (strength, place + 1, reverse);
                }
            }
        }
        let (_, first, reverse) = best;
        let strongest = (if reverse { &order[first..] } else { &order[..first] }.to_vec(), reverse);
        let doubtful = PlainSet::of_counts(pilot)
            .into_iter()
            .filter_map(|set| Some((set.doubt(aim).filter(|factor| *factor > 0.0)?, set)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, set)| (set.outcomes.collect(), set.reverse));
        let mut found: Vec<Self> = Vec::new();
        for (mut outcomes, reverse) in [strongest].into_iter().chain(doubtful) {
            // What was never seen carries no information.
            outcomes.retain(|&outcome| pilot[0][outcome] + pilot[1][outcome] > 0);
            outcomes.sort_unstable();
            let event = Self::new(witness.clone(), outcomes, reverse);
            if !event.outcomes.is_empty() && !found.contains(&event) {
                found.push(event);
            }
        }
        found
    }

    /// These outcomes, which must be in rising order.
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

    /// The same set with ends rounded to this many significant digits.
    pub(super) fn rounded(&self, digits: usize) -> Option<Self> {
        Some(Self::new(self.witness.rounded(digits)?, self.outcomes.clone(), self.reverse))
    }

    /// Whether its outcomes are outcomes of its witness in rising order, as required of an event that was read.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let known = self.outcomes.last().is_some_and(|&last| last < self.witness.outcomes());
        known && self.outcomes.is_sorted_by(|a, b| a < b)
    }

    /// The features that the event looks at, in words.
    #[must_use]
    pub fn looks_at(&self) -> String {
        self.witness.to_string()
    }

    /// Whether it looks mainly at how numbers are written in binary.
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

    /// The outcomes that it consists of.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Delta;

    /// Claimed is ε = 1. `null` is an output of the neighbor alone, 13 times of 13,107; the next value is 2.95 times as
    /// likely there, two standard deviations above e, and more with `null`. The smaller evidence is the better guess.
    #[test]
    fn a_rare_set_is_not_hidden_by_a_lucky_one() {
        let witness: Witness =
            serde_json::from_str(r#"{"view": "whole", "cells": {"values": [null, 1.0, 2.0]}}"#).unwrap();
        let aim = Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0);
        let chosen = |halves: [[[u64; 4]; 2]; 2]| {
            let halves = halves.map(|half| half.map(Vec::from));
            let events = Event::choose(&Chosen::new(witness.clone(), halves, &[aim]), aim);
            assert!(events.iter().all(|event| event.direction() == Direction::Reverse), "{events:?}");
            events.into_iter().map(|event| event.outcomes).collect::<Vec<_>>()
        };
        let rest = [[0, 500, 6053, 0], [7, 1475, 5071, 0]];
        assert_eq!(chosen([[[0, 500, 6054, 0], [6, 1475, 5073, 0]], rest]), [vec![0, 1], vec![0]]);
        // There is no evidence against it, or one set is best by all measures.
        assert_eq!(chosen([[[0, 500, 6054, 0], [0, 1350, 5204, 0]]; 2]), [[1]]);
        assert_eq!(chosen([[[0, 500, 6054, 0], [0, 1750, 4804, 0]]; 2]), [[1]]);
    }
}
