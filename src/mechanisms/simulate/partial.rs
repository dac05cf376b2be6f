//! A simulation in parts: for a limited time, on one of several machines, or after a restart.

use super::blocks::BlockSet;
use super::engine::{MAX_OUTCOMES, Sampler, draw, labels};
use super::simulation::Simulation;
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use std::ops::{ControlFlow, Range};

/// Counts of some blocks of a simulation, with the set of these blocks, which is the same for both worlds.
///
/// Counts are whole numbers and each block has a separate random stream, so the counts of a simulation are the same
/// however it is divided: on any number of threads, in shards that are [merged](Self::merge), and after a restart from
/// [`from_counts`](Self::from_counts).
///
/// # Example
/// ```
/// use leakbound::model::PateModel;
/// use leakbound::simulate::{ArgmaxSampler, PartialCounts, Shard, Simulation, simulate};
/// use std::ops::ControlFlow;
///
/// let model = PateModel::new(10, &[0.1492, 0.5883, 0.2625], &[0.5036, 0.1086, 0.3878])?;
/// let mechanism = ArgmaxSampler::new(&model.into(), "gaussian:4".parse()?);
/// let simulation = Simulation::new(500_000)?.seed(1); // 8 blocks
/// let shard = |number| {
///     let mut part = PartialCounts::new(simulation, 3)?;
///     let blocks = Shard::new(number, 2)?.blocks(simulation)?;
///     // Breaks off after every block: here `part` could be looked at, or written to a file.
///     while part.advance(&mechanism, blocks.clone(), |_| ControlFlow::Break(()))? {}
///     Ok::<_, leakbound::Error>(part)
/// };
/// let merged = shard(2)?.merge(&shard(1)?)?;
/// assert_eq!(merged.counts()?, simulate(&mechanism, simulation, |_| ())?);
/// assert!(shard(1)?.counts().is_err()); // half of it is missing
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialCounts {
    simulation: Simulation,
    blocks: BlockSet,
    counts: [Vec<u64>; 2],
}

impl PartialCounts {
    /// An empty part of a simulation with this many outcomes.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 2^20 outcomes.
    pub fn new(simulation: Simulation, outcomes: usize) -> Result<Self> {
        check_outcomes(outcomes)?;
        Ok(Self { simulation, blocks: BlockSet::default(), counts: [vec![0; outcomes], vec![0; outcomes]] })
    }

    /// Counts of these blocks that were drawn earlier; `counts` and `counts_neighbor` have one entry per outcome.
    ///
    /// # Errors
    /// [`Error::Length`] unless both have the same 1 to 2^20 outcomes; [`Error::Rejected`] for a block that the
    /// simulation does not have, and unless the counts of each world sum to the samples of the blocks.
    pub fn from_counts(
        simulation: Simulation,
        blocks: BlockSet,
        counts: Vec<u64>,
        counts_neighbor: Vec<u64>,
    ) -> Result<Self> {
        check_outcomes(counts.len())?;
        Error::check_size("neighbor counts", counts_neighbor.len(), counts.len(), " outcomes")?;
        if let Some(last) = blocks.ranges().last() {
            check_end(simulation, last.end, "partial counts")?;
        }
        let part = Self { simulation, blocks, counts: [counts, counts_neighbor] };
        for (world, counts) in ["the dataset", "the neighbor"].into_iter().zip(&part.counts) {
            let counted = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
            let samples = part.samples();
            let reason = format_args!("the counts of {world} sum to {counted} where the blocks have {samples} samples");
            Error::check_possible(counted == samples, "partial counts", reason)?;
        }
        Ok(part)
    }

    /// Draws missing blocks of a range, in increasing order, until none is left or `watch` breaks off; at least one.
    /// Returns true while blocks of the range are missing.
    ///
    /// Blocks are distributed among the threads of rayon's current pool. After every block in one world, `watch` is
    /// called with the number of samples drawn so far in both worlds, from any thread and not always in order; once it
    /// breaks, no further block is started. Threads then wait for each other, so calls with many blocks are fastest.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a range beyond the blocks of the simulation, and for a mechanism that has a different
    /// number of outcomes or does not count the requested number; the blocks drawn before are unaffected.
    pub fn advance<M, F>(&mut self, mechanism: &M, blocks: Range<u64>, watch: F) -> Result<bool>
    where
        M: Sampler + ?Sized,
        F: Fn(u64) -> ControlFlow<()> + Sync,
    {
        let (outcomes, expected) = (mechanism.outcomes(), self.outcomes());
        let reason = format_args!("the mechanism has {outcomes} outcomes where {expected} are counted");
        Error::check_possible(outcomes == expected, "simulation", reason)?;
        check_end(self.simulation, blocks.end, "simulation")?;
        let before = self.samples();
        for gap in self.blocks.missing_in(blocks.clone()).ranges() {
            let earlier = 2 * (self.samples() - before);
            let drawn = draw(mechanism, self.simulation, gap.clone(), |done| watch(earlier + done))?;
            self.blocks.insert(gap.start..drawn.end)?;
            for (counts, more) in self.counts.iter_mut().zip(&drawn.counts) {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
            if drawn.broken_off {
                break;
            }
        }
        Ok(!self.blocks.missing_in(blocks).is_empty())
    }

    /// Combines this part with another one of the same simulation.
    ///
    /// The caller is responsible for both parts being of the same mechanism; simulations of scenarios that are read
    /// from files carry its identity in their `SimulationPlan`.
    ///
    /// # Errors
    /// [`Error::Rejected`] for another seed, query, number of samples or number of outcomes, and for a block that is in
    /// both parts.
    pub fn merge(&self, other: &Self) -> Result<Self> {
        let reject = |reason: String| Error::Rejected { operation: "merge", reason };
        let facts = |part: &Self| {
            let outcomes = part.outcomes() as u64;
            [part.simulation.get_seed(), part.simulation.get_query(), part.simulation.samples(), outcomes]
        };
        let names = ["seed", "query", "number of samples", "number of outcomes"];
        for (name, (ours, theirs)) in names.into_iter().zip(facts(self).into_iter().zip(facts(other))) {
            let reason = format_args!("one part has the {name} {ours}, the other {theirs}");
            Error::check_possible(ours == theirs, "merge", reason)?;
        }
        let blocks = self.blocks.union(&other.blocks).map_err(|_| {
            let both: Vec<Range<u64>> = self.blocks.ranges().iter().flat_map(|range| other.held_in(range)).collect();
            reject(format!("both parts hold {}", BlockSet::new(both).unwrap_or_default().words()))
        })?;
        let sum = |world: usize| {
            self.counts[world].iter().zip(&other.counts[world]).map(|(ours, theirs)| ours + theirs).collect()
        };
        Ok(Self { simulation: self.simulation, blocks, counts: [sum(0), sum(1)] })
    }

    /// The blocks of a range that are in this part.
    fn held_in(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let cut = |held: &Range<u64>| held.start.max(range.start)..held.end.min(range.end);
        self.blocks.ranges().iter().map(cut).filter(|held| !held.is_empty()).collect()
    }

    /// The whole simulation, once it has every block; outcomes are labeled `0` to `C-1`.
    ///
    /// # Errors
    /// [`Error::Rejected`] if blocks are missing.
    pub fn counts(&self) -> Result<PairedCounts> {
        let missing = self.missing();
        let reason = format_args!("not complete without {} of {}", missing.words(), self.simulation.blocks());
        Error::check_possible(missing.is_empty(), "simulation", reason)?;
        self.counts_so_far()
    }

    /// The counts of the blocks drawn so far.
    ///
    /// # Errors
    /// [`Error::Domain`] if there are none.
    pub fn counts_so_far(&self) -> Result<PairedCounts> {
        let [counts, counts_neighbor] = self.counts.clone();
        PairedCounts::new(labels(self.outcomes()), counts, counts_neighbor)
    }

    /// Counts per outcome under the dataset and under its neighbor.
    #[must_use]
    pub const fn worlds(&self) -> &[Vec<u64>; 2] {
        &self.counts
    }

    /// The simulation that this part belongs to.
    #[must_use]
    pub const fn simulation(&self) -> Simulation {
        self.simulation
    }

    /// The blocks in this part.
    #[must_use]
    pub const fn blocks(&self) -> &BlockSet {
        &self.blocks
    }

    /// The blocks of the simulation that are missing.
    #[must_use]
    pub fn missing(&self) -> BlockSet {
        self.blocks.missing_in(0..self.simulation.blocks())
    }

    /// Samples of each world in the blocks of this part.
    #[must_use]
    pub fn samples(&self) -> u64 {
        let range = |range: &Range<u64>| {
            self.simulation.samples_before(range.end) - self.simulation.samples_before(range.start)
        };
        self.blocks.ranges().iter().map(range).sum()
    }

    /// Number of outcomes C.
    #[must_use]
    pub const fn outcomes(&self) -> usize {
        self.counts[0].len()
    }
}

fn check_end(simulation: Simulation, end: u64, operation: &'static str) -> Result<()> {
    let (all, last) = (simulation.blocks(), end.saturating_sub(1));
    let reason = format_args!("block {last} is not one of the simulation's {all} blocks");
    Error::check_possible(end <= all, operation, reason)
}

fn check_outcomes(outcomes: usize) -> Result<()> {
    let expected = format_args!("1 to {MAX_OUTCOMES} outcomes");
    Error::check_length((1..=MAX_OUTCOMES).contains(&outcomes), "set of outcomes", outcomes, expected)
}

#[cfg(test)]
mod tests {
    use super::super::simulation::BLOCK_SAMPLES;
    use super::super::stream::{Stream, World};
    use super::*;
    use proptest::prelude::*;
    use rand::Rng;

    /// Counts two outcomes by the first number of the block's stream: cheap, and different for every block.
    struct Cheap(usize);

    impl Sampler for Cheap {
        fn outcomes(&self) -> usize {
            self.0
        }
        fn sample_block(&self, _: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
            let first = stream.next_u64() % (samples + 1);
            counts[0] += first;
            counts[self.0 - 1] += samples - first;
        }
    }

    const MECHANISM: Cheap = Cheap(3);
    const AT_ONCE: fn(u64) -> ControlFlow<()> = |_| ControlFlow::Break(());
    const NEVER: fn(u64) -> ControlFlow<()> = |_| ControlFlow::Continue(());

    fn simulation(samples: u64) -> Simulation {
        Simulation::new(samples).unwrap().seed(3).query(1)
    }

    fn drawn(simulation: Simulation, blocks: Range<u64>) -> PartialCounts {
        let mut part = PartialCounts::new(simulation, 3).unwrap();
        while part.advance(&MECHANISM, blocks.clone(), AT_ONCE).unwrap() {}
        assert_eq!(part.blocks(), &BlockSet::from(blocks));
        part
    }

    #[test]
    fn every_step_draws_a_block_at_least_and_stays_in_its_range() {
        let simulation = simulation(5 * BLOCK_SAMPLES + 7);
        let mut part = PartialCounts::new(simulation, 3).unwrap();
        let mut steps = 0;
        while part.advance(&MECHANISM, 1..6, AT_ONCE).unwrap() {
            steps += 1;
            assert_eq!(part.blocks(), &BlockSet::from(1..1 + steps));
        }
        assert_eq!((steps, part.samples()), (4, 4 * BLOCK_SAMPLES + 7));
        assert!(!part.advance(&MECHANISM, 1..6, NEVER).unwrap());
        assert!(part.advance(&MECHANISM, 0..6, AT_ONCE).is_ok_and(|more| !more));
        assert_eq!(part.counts().unwrap().trials_neighbor(), simulation.samples());
    }

    #[test]
    fn all_gaps_are_filled_in_one_call() {
        let simulation = simulation(9 * BLOCK_SAMPLES);
        let mut part = drawn(simulation, 2..3).merge(&drawn(simulation, 5..7)).unwrap();
        let most = std::sync::atomic::AtomicU64::new(0);
        let watch = |done| {
            most.fetch_max(done, std::sync::atomic::Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        assert!(!part.advance(&MECHANISM, 1..9, watch).unwrap());
        assert_eq!(part, drawn(simulation, 1..9));
        assert_eq!(most.into_inner(), 2 * 5 * BLOCK_SAMPLES);
    }

    #[test]
    fn every_fault_is_named() {
        let message = |result: Result<PartialCounts>| result.unwrap_err().to_string();
        let two = simulation(BLOCK_SAMPLES + 1);
        let (first, second) = (drawn(two, 0..1), drawn(two, 1..2));
        let mut part = first.clone();
        let mut advance = |mechanism, blocks| part.advance(&Cheap(mechanism), blocks, AT_ONCE).unwrap_err();
        let read = |blocks: Range<u64>, counts: &[u64], neighbor: &[u64]| {
            message(PartialCounts::from_counts(two, blocks.into(), counts.to_vec(), neighbor.to_vec()))
        };
        insta::assert_snapshot!(
            [
                message(PartialCounts::new(two, 0)),
                advance(2, 0..2).to_string(),
                advance(3, 0..3).to_string(),
                message(first.merge(&first)),
                message(first.merge(&drawn(two.seed(4), 1..2))),
                message(first.merge(&drawn(two.query(4), 1..2))),
                message(first.merge(&drawn(simulation(BLOCK_SAMPLES + 2), 1..2))),
                message(first.merge(&PartialCounts::new(two, 2).unwrap())),
                first.counts().unwrap_err().to_string(),
                PartialCounts::new(two, 2).unwrap().counts_so_far().unwrap_err().to_string(),
                read(0..3, &[1], &[1]),
                read(1..2, &[1], &[2]),
                read(1..2, &[u64::MAX, 2], &[1, 0]),
                read(1..2, &[1], &[1, 0]),
            ]
            .join("\n"),
            @"
            set of outcomes has length 0; expected 1 to 1048576 outcomes
            simulation: the mechanism has 2 outcomes where 3 are counted
            simulation: block 2 is not one of the simulation's 2 blocks
            merge: both parts hold block 0
            merge: one part has the seed 3, the other 4
            merge: one part has the query 1, the other 4
            merge: one part has the number of samples 65537, the other 65538
            merge: one part has the number of outcomes 3, the other 2
            simulation: not complete without block 1 of 2
            samples of the dataset = 0 is not in [1, 2^53]
            partial counts: block 2 is not one of the simulation's 2 blocks
            partial counts: the counts of the neighbor sum to 2 where the blocks have 1 samples
            partial counts: the counts of the dataset sum to 18446744073709551615 where the blocks have 1 samples
            neighbor counts has length 2; expected 1 outcomes
            "
        );
        assert_eq!(first, part, "as it was");
        assert_eq!(first.merge(&second).unwrap(), drawn(two, 0..2));
    }

    proptest! {
        /// The counts are those of one run, in whatever order blocks are drawn.
        #[test]
        fn parts_in_any_order_make_the_whole(
            blocks in 1..30u64,
            last in 1..=BLOCK_SAMPLES,
            borders in prop::collection::vec(0..30u64, 0..6),
            order in prop::collection::vec(any::<usize>(), 8),
        ) {
            let simulation = simulation((blocks - 1) * BLOCK_SAMPLES + last);
            let mut borders: Vec<u64> = borders.into_iter().map(|border| border.min(blocks)).chain([0, blocks]).collect();
            borders.sort_unstable();
            let mut parts: Vec<_> = borders.windows(2).map(|pair| drawn(simulation, pair[0]..pair[1])).collect();
            let mut merged = PartialCounts::new(simulation, 3).unwrap();
            for pick in order.into_iter().chain(0..8) {
                if !parts.is_empty() {
                    let part = parts.swap_remove(pick % parts.len());
                    merged = if pick % 2 == 0 { merged.merge(&part) } else { part.merge(&merged) }.unwrap();
                    let [counts, neighbor] = merged.worlds().clone();
                    let again = PartialCounts::from_counts(simulation, merged.blocks().clone(), counts, neighbor);
                    prop_assert_eq!(&again.unwrap(), &merged);
                }
            }
            prop_assert_eq!(merged.counts().unwrap(), crate::simulate::simulate(&MECHANISM, simulation, |_| ()).unwrap());
        }
    }
}
