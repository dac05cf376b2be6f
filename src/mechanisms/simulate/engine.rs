//! Blocks of samples on all threads.

use super::simulation::Simulation;
use super::stream::{Stream, World};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The largest number of outcomes of a simulated mechanism.
pub const MAX_OUTCOMES: usize = 1 << 20;

/// Something that prints one of finitely many outcomes under each of two neighboring datasets, sample after sample.
///
/// The mechanisms of this crate use the same interface as your own: `examples/own_mechanism.rs` simulates a noisy
/// maximum with a rounding error, in shards, and refutes its claim.
///
/// # Example
/// Randomized response gives the true answer, 0 or 1, with probability 3/4:
/// ```
/// use leakbound::simulate::{Sampler, Simulation, Stream, World, simulate};
/// use rand::RngExt;
///
/// struct RandomizedResponse;
///
/// impl Sampler for RandomizedResponse {
///     fn outcomes(&self) -> usize {
///         2
///     }
///
///     fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
///         let (truth, lie) = (world.index(), 1 - world.index());
///         for _ in 0..samples {
///             counts[if stream.random_bool(0.75) { truth } else { lie }] += 1;
///         }
///     }
/// }
///
/// let counts = simulate(&RandomizedResponse, Simulation::new(1_000_000)?, |_| ())?;
/// assert!(counts.counts()[0].abs_diff(750_000) < 2_500);
/// assert!(counts.counts_neighbor()[0].abs_diff(250_000) < 2_500);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub trait Sampler: Sync {
    /// Number of outcomes C, the same at every call.
    fn outcomes(&self) -> usize;

    /// Draws `samples` outcomes in a world and adds each to its entry of `counts` (shape C).
    ///
    /// All randomness must come from `stream`, and the result may depend on nothing else: blocks are drawn in any
    /// order, on any thread.
    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]);
}

/// Counts of the first blocks of a range.
pub(super) struct Drawn {
    pub(super) counts: [Vec<u64>; 2],
    /// The block after the last.
    pub(super) end: u64,
    /// Whether `watch` stopped early.
    pub(super) broken_off: bool,
}

/// Draws the blocks of a non-empty range, in increasing order, until its end or until `watch` breaks off; at least one,
/// and each in both worlds.
pub(super) fn draw<M, F>(mechanism: &M, simulation: Simulation, range: Range<u64>, watch: F) -> Result<Drawn>
where
    M: Sampler + ?Sized,
    F: Fn(u64) -> ControlFlow<()> + Sync,
{
    let worlds = World::ALL.len() as u64;
    let items = worlds * (range.end - range.start);
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let (over, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    let take = || {
        let (over, failed) = (over.load(Ordering::Relaxed), failed.load(Ordering::Relaxed));
        // A block that was started is also drawn in the other world.
        let wanted = |item: u64| item < items && !failed && (!over || !item.is_multiple_of(worlds));
        next.try_update(Ordering::Relaxed, Ordering::Relaxed, |item| wanted(item).then_some(item + 1)).ok()
    };
    let work = || {
        let mut tally = Tally::new(mechanism.outcomes());
        while let Some(item) = take() {
            let (block, world) = (range.start + item / worlds, World::ALL[(item % worlds) as usize]);
            let samples = tally.add_block(mechanism, simulation, world, block).inspect_err(|_| {
                failed.store(true, Ordering::Relaxed);
            })?;
            if watch(done.fetch_add(samples, Ordering::Relaxed) + samples).is_break() {
                over.store(true, Ordering::Relaxed);
            }
        }
        Ok::<_, Error>(tally)
    };
    let workers = rayon::current_num_threads().min(usize::try_from(items).unwrap_or(usize::MAX));
    let tally = (0..workers)
        .into_par_iter()
        .with_max_len(1)
        .map(|_| work())
        .try_reduce_with(|left, right| Ok(left.plus(&right)))
        .unwrap_or_else(|| Ok(Tally::new(mechanism.outcomes())))?;
    let end = range.start + next.into_inner() / worlds;
    Ok(Drawn { counts: tally.counts, end, broken_off: over.into_inner() })
}

/// The indices of outcomes, as labels.
pub(super) fn labels(outcomes: usize) -> Vec<String> {
    (0..outcomes).map(|outcome| outcome.to_string()).collect()
}

/// Counts of some blocks.
struct Tally {
    counts: [Vec<u64>; 2],
    /// Counts of one block.
    block: Vec<u64>,
}

impl Tally {
    fn new(outcomes: usize) -> Self {
        Self { counts: [vec![0; outcomes], vec![0; outcomes]], block: vec![0; outcomes] }
    }

    /// Draws a block and returns its number of samples.
    fn add_block<M: Sampler + ?Sized>(
        &mut self,
        mechanism: &M,
        simulation: Simulation,
        world: World,
        block: u64,
    ) -> Result<u64> {
        let samples = simulation.block_samples(block);
        self.block.fill(0);
        mechanism.sample_block(world, &mut simulation.stream(world, block), samples, &mut self.block);
        let counted = self.block.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        let reason = format_args!("the mechanism counted {counted} outcomes where {samples} were requested");
        Error::check_possible(counted == samples, "simulation", reason)?;
        add(&mut self.counts[world.index()], &self.block);
        Ok(samples)
    }

    fn plus(mut self, other: &Self) -> Self {
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            add(counts, more);
        }
        self
    }
}

fn add(counts: &mut [u64], more: &[u64]) {
    for (count, more) in counts.iter_mut().zip(more) {
        *count += more;
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulation::BLOCK_SAMPLES;
    use super::super::whole::simulate;
    use super::*;

    /// Counts a given number of outcomes too many.
    struct Miscounting(u64, usize);

    impl Sampler for Miscounting {
        fn outcomes(&self) -> usize {
            self.1
        }
        fn sample_block(&self, _: World, _: &mut Stream, samples: u64, counts: &mut [u64]) {
            counts[0] += samples.saturating_add(self.0);
        }
    }

    #[test]
    fn wrong_mechanisms_are_rejected() {
        let message = |mechanism| simulate(&mechanism, Simulation::new(10).unwrap(), |_| ()).unwrap_err().to_string();
        insta::assert_snapshot!(
            [message(Miscounting(1, 2)), message(Miscounting(u64::MAX, 1)), message(Miscounting(0, 0)), message(Miscounting(0, usize::MAX))]
                .join("\n"),
            @"
            simulation: the mechanism counted 11 outcomes where 10 were requested
            simulation: the mechanism counted 18446744073709551615 outcomes where 10 were requested
            set of outcomes has length 0; expected 1 to 1048576 outcomes
            set of outcomes has length 18446744073709551615; expected 1 to 1048576 outcomes
            "
        );
        let counts = simulate(&Miscounting(0, 3), Simulation::new(10).unwrap(), |_| ()).unwrap();
        assert_eq!((counts.labels(), counts.counts()), (&["0", "1", "2"].map(String::from)[..], &[10, 0, 0][..]));
    }

    #[test]
    fn progress_ends_at_all_samples_of_both_worlds() {
        let (calls, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let simulation = Simulation::new(3 * BLOCK_SAMPLES + 1).unwrap();
        simulate(&Miscounting(0, 1), simulation, |done| {
            calls.fetch_add(1, Ordering::Relaxed);
            most.fetch_max(done, Ordering::Relaxed);
        })
        .unwrap();
        assert_eq!((calls.into_inner(), most.into_inner()), (8, 2 * simulation.samples()));
    }
}
