//! Runs of a program in batches, each with a separate seed.

use super::dataset::Dataset;
use super::journal::{Asked, Journal, Reply};
use super::output::Output;
use super::source::BlackBox;
use super::trouble::Trouble;
use crate::error::{Error, Result};
use crate::program::{Exchange, Stop};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Seeds are whole numbers below 2^53, which every language reads exactly.
const SEEDS: u64 = 1 << 53;

/// The purpose of outputs. Each stage has separate seeds, so that none ever sees an output that another one used to
/// choose, even if an audit resumes that had ended at another point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// A pair and an event are sought.
    Search,
    /// Bounds are computed for them.
    Bounds,
    /// The pair is made smaller.
    Shrinking,
    /// A counterexample that was found before, perhaps with the same seed.
    Again,
}

impl Stage {
    fn seeds(self, seed: u64) -> ChaCha8Rng {
        let mut seeds = ChaCha8Rng::seed_from_u64(seed);
        seeds.set_stream(self as u64);
        seeds
    }
}

/// Runs a program: requests of a batch, seeds in the order of the requests.
pub struct Sampler<'a> {
    source: &'a dyn BlackBox,
    batch: usize,
    stop: Stop<'a>,
    seed: u64,
    seeds: ChaCha8Rng,
    journal: Option<&'a dyn Journal>,
}

impl<'a> Sampler<'a> {
    /// Asks a program for `batch` outputs at a time.
    pub fn new(source: &'a dyn BlackBox, batch: usize, seed: u64, stop: Stop<'a>) -> Self {
        Self { source, batch: batch.max(1), stop, seed, seeds: Stage::Search.seeds(seed), journal: None }
    }

    /// With answers that are kept, and those that were kept before.
    pub fn kept(mut self, journal: Option<&'a dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// Keeps no answer from now on.
    pub const fn unkept(&mut self) {
        self.journal = None;
    }

    /// Skips the seeds of this many requests.
    pub fn skip(&mut self, requests: u64) {
        (0..requests).for_each(|_| _ = self.seeds.random_range(0..SEEDS));
    }

    /// Continues with the seeds of another stage, from their start.
    pub fn begin(&mut self, stage: Stage) {
        self.seeds = stage.seeds(self.seed);
    }

    /// Ends at another time from now on.
    pub const fn until(&mut self, stop: Stop<'a>) {
        self.stop = stop;
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_over()
    }

    /// Hands outputs of a dataset on, batch by batch.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if it is time to stop before they are complete.
    pub fn each_batch(
        &mut self,
        dataset: &Dataset,
        runs: u64,
        mut take: impl FnMut(Vec<Output>),
    ) -> Result<std::result::Result<(), Trouble>> {
        let mut left = runs;
        while left > 0 {
            let now = left.min(self.batch as u64);
            let seed = self.seeds.random_range(0..SEEDS);
            match self.reply(dataset, Asked { runs: now, seed })? {
                Ok(outputs) => take(outputs),
                Err(trouble) => return Ok(Err(trouble)),
            }
            left -= now;
            if self.stop.done(now).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(Ok(()))
    }

    /// The answer to one request, which may have been kept.
    fn reply(&self, dataset: &Dataset, asked: Asked) -> Result<Reply> {
        if let Some(reply) = self.journal.map(|journal| journal.recall(asked)).transpose()?.flatten() {
            return Ok(reply);
        }
        let reply = match self.source.run(dataset, asked.runs as usize, asked.seed, &self.stop) {
            Exchange::Answered(Ok(outputs)) => Ok(outputs),
            Exchange::Answered(Err(reason)) => Err(Trouble::Rejected(reason)),
            Exchange::Failed(fault) => Err(Trouble::Failed(fault)),
            Exchange::Unanswered(_) if self.stop.is_over() => return Err(Error::Interrupted),
            Exchange::Unanswered(reason) => return Err(Error::Rejected { operation: "program", reason }),
        };
        self.journal.map_or(Ok(()), |journal| journal.keep(asked, &reply))?;
        Ok(reply)
    }

    /// All outputs together.
    ///
    /// # Errors
    /// As [`each_batch`](Self::each_batch).
    pub(crate) fn outputs(
        &mut self,
        dataset: &Dataset,
        runs: u64,
    ) -> Result<std::result::Result<Vec<Output>, Trouble>> {
        let mut found = Vec::with_capacity(runs as usize);
        Ok(self.each_batch(dataset, runs, |outputs| found.extend(outputs))?.map(|()| found))
    }

    /// Whether the program gives the same outputs again for the same seed.
    ///
    /// # Errors
    /// As [`each_batch`](Self::each_batch).
    pub fn repeats(&mut self, dataset: &Dataset, runs: usize) -> Result<std::result::Result<bool, Trouble>> {
        let seeds = self.seeds.clone();
        let first = self.outputs(dataset, runs as u64)?;
        if first.is_err() {
            return Ok(first.map(|_| false));
        }
        self.seeds = seeds.clone();
        let second = self.outputs(dataset, runs as u64)?;
        if first == second && self.journal.is_some_and(Journal::is_resumed) {
            // Answers that were kept show nothing about the program as it is now.
            let journal = self.journal.take();
            let after = std::mem::replace(&mut self.seeds, seeds);
            let now = self.outputs(dataset, runs as u64);
            (self.journal, self.seeds) = (journal, after);
            if now? != first {
                let reason = "the program gives different outputs for the same seed than when the checkpoint was \
                              written: it has changed since; start over with another checkpoint";
                return Err(Error::Rejected { operation: "checkpoint", reason: reason.into() });
            }
        }
        Ok(first.and_then(|first| second.map(|second| first == second)))
    }
}
