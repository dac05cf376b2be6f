//! Outputs of two worlds in any order, made into pairs for an e-process.

use super::e_process::EProcess;
use crate::error::{Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Pairs outputs of the dataset and of its neighbor as they come.
///
/// Outputs of the world that is ahead wait as counts, so memory does not grow; an output of the other world is paired
/// with one of them chosen at random, each equally likely. If the outputs of each world are independent and identically
/// distributed and the order of the worlds does not depend on the outputs, then the chosen output has the distribution
/// of its world whatever was paired before, and the pairs satisfy the assumptions of an e-process. The choice is a
/// function of the seed.
///
/// ```
/// # use leakbound::audit::{EProcess, PairStream};
/// let mut stream = PairStream::new(EProcess::new(2)?, 0);
/// stream.observe(0)?;
/// stream.observe(1)?;
/// stream.observe_neighbor(1)?;
/// assert_eq!((stream.process().pairs(), stream.waiting()), (1, [1, 0]));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct PairStream {
    process: EProcess,
    waiting: Waiting,
    /// The world of the waiting outputs: 0 for the dataset, 1 for its neighbor.
    ahead: usize,
    seed: u64,
    stream: ChaCha8Rng,
}

impl PairStream {
    /// A stream that feeds this process.
    #[must_use]
    pub fn new(process: EProcess, seed: u64) -> Self {
        let waiting = Waiting::new(process.outcomes());
        Self { process, waiting, ahead: 0, seed, stream: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// The process.
    #[must_use]
    pub const fn process(&self) -> &EProcess {
        &self.process
    }

    /// Outputs that wait for a partner, of the dataset and of its neighbor; one of the two numbers is 0.
    #[must_use]
    pub const fn waiting(&self) -> [u64; 2] {
        if self.ahead == 0 { [self.waiting.total, 0] } else { [0, self.waiting.total] }
    }

    /// Takes an output of the dataset S.
    ///
    /// # Errors
    /// As [`EProcess::observe`].
    pub fn observe(&mut self, outcome: usize) -> Result<()> {
        self.take(0, outcome)
    }

    /// Takes an output of the neighbor S'.
    ///
    /// # Errors
    /// As [`EProcess::observe`].
    pub fn observe_neighbor(&mut self, outcome: usize) -> Result<()> {
        self.take(1, outcome)
    }

    fn take(&mut self, world: usize, outcome: usize) -> Result<()> {
        Error::check_domain(outcome < self.process.outcomes(), "outcome", outcome as f64, "[0, outcomes)")?;
        if self.waiting.total == 0 || self.ahead == world {
            self.ahead = world;
            self.waiting.add(outcome, 1);
            return Ok(());
        }
        let partner = self.waiting.find(self.stream.random_range(0..self.waiting.total));
        self.waiting.remove(partner);
        match world {
            0 => self.process.observe(outcome, partner),
            _ => self.process.observe(partner, outcome),
        }
    }
}

/// Counts of outcomes with their partial sums in a binary tree (Fenwick 1994).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Waiting {
    counts: Vec<u64>,
    /// Entry i - 1 sums the counts of the outcomes from i minus its lowest bit to i - 1.
    tree: Vec<u64>,
    total: u64,
}

impl Waiting {
    fn new(outcomes: usize) -> Self {
        Self { counts: vec![0; outcomes], tree: vec![0; outcomes], total: 0 }
    }

    fn add(&mut self, outcome: usize, count: u64) {
        self.counts[outcome] += count;
        self.total += count;
        let mut at = outcome + 1;
        while at <= self.tree.len() {
            self.tree[at - 1] += count;
            at += at & at.wrapping_neg();
        }
    }

    fn remove(&mut self, outcome: usize) {
        self.counts[outcome] -= 1;
        self.total -= 1;
        let mut at = outcome + 1;
        while at <= self.tree.len() {
            self.tree[at - 1] -= 1;
            at += at & at.wrapping_neg();
        }
    }

    /// The outcome of the output with this rank, below the total.
    fn find(&self, mut rank: u64) -> usize {
        let (mut at, mut step) = (0, self.tree.len().next_power_of_two());
        while step > 0 {
            if at + step <= self.tree.len() && self.tree[at + step - 1] <= rank {
                at += step;
                rank -= self.tree[at - 1];
            }
            step /= 2;
        }
        at
    }
}

/// The saved state of a stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    process: EProcess,
    /// Outcome and number of its waiting outputs.
    waiting: Vec<(usize, u64)>,
    ahead: usize,
    seed: u64,
    /// Words of random bits used so far.
    words: u64,
}

impl From<PairStream> for State {
    fn from(stream: PairStream) -> Self {
        let waiting = stream.waiting.counts.iter().copied().enumerate().filter(|&(_, count)| count > 0).collect();
        Self {
            waiting,
            ahead: stream.ahead,
            seed: stream.seed,
            // Two words per pair, 2^53 pairs at most.
            words: stream.stream.get_word_pos() as u64,
            process: stream.process,
        }
    }
}

impl TryFrom<State> for PairStream {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let outcomes = state.process.outcomes();
        let total = state.waiting.iter().fold(0u64, |sum, &(_, count)| sum.saturating_add(count));
        let listed = state.waiting.is_sorted_by(|a, b| a.0 < b.0)
            && state.waiting.last().is_none_or(|last| last.0 < outcomes)
            && state.waiting.iter().all(|&(_, count)| count > 0);
        let possible = listed && state.ahead <= 1 && total != u64::MAX;
        Error::check_possible(possible, "state of a stream", "the waiting outputs are impossible")?;
        let mut stream = Self::new(state.process, state.seed);
        stream.ahead = state.ahead;
        stream.stream.set_word_pos(u128::from(state.words));
        state.waiting.into_iter().for_each(|(outcome, count)| stream.waiting.add(outcome, count));
        Ok(stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_finds_its_outcome() {
        for outcomes in [1, 2, 3, 7, 8, 9, 100] {
            let mut waiting = Waiting::new(outcomes);
            for outcome in 0..outcomes {
                waiting.add(outcome, (outcome as u64 * 7) % 4);
            }
            for gone in 0..outcomes {
                let ranks: Vec<usize> = (0..waiting.total).map(|rank| waiting.find(rank)).collect();
                let expected: Vec<usize> = (0..outcomes).flat_map(|c| vec![c; waiting.counts[c] as usize]).collect();
                assert_eq!(ranks, expected);
                if waiting.counts[gone] > 0 {
                    waiting.remove(gone);
                }
            }
        }
    }

    /// Any order of the worlds uses every output once, and a saved stream continues identically.
    #[test]
    fn worlds_in_any_order_are_paired_and_resumed() {
        for period in [2, 5, 3_000] {
            let mut stream = PairStream::new(EProcess::new(7).unwrap(), 11);
            let mut resumed = stream.clone();
            for row in 0..6_000usize {
                let outcome = row * row % 7;
                for stream in [&mut stream, &mut resumed] {
                    if row % period < period / 2 { stream.observe(outcome) } else { stream.observe_neighbor(outcome) }
                        .unwrap();
                }
                if row % 977 == 0 {
                    let text = serde_json::to_string(&resumed).unwrap();
                    resumed = serde_json::from_str(&text).unwrap();
                }
            }
            let text = |stream: &PairStream| serde_json::to_string(stream).unwrap();
            assert_eq!(text(&stream), text(&resumed));
            let [first, second] = stream.waiting();
            assert_eq!(2 * stream.process().pairs() + first + second, 6_000);
            assert!(first == 0 || second == 0);
        }
    }

    #[test]
    fn impossible_states_are_rejected() {
        let mut stream = PairStream::new(EProcess::new(2).unwrap(), 0);
        stream.observe(1).unwrap();
        assert!(stream.observe(2).is_err());
        let text = serde_json::to_string(&stream).unwrap();
        assert!(serde_json::from_str::<PairStream>(&text).is_ok());
        for (from, to) in [("[[1,1]]", "[[2,1]]"), ("[[1,1]]", "[[1,0]]"), ("\"ahead\":0", "\"ahead\":2")] {
            let changed = text.replacen(from, to, 1);
            assert!(changed != text && serde_json::from_str::<PairStream>(&changed).is_err(), "{to}");
        }
    }
}
