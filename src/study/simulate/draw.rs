//! The blocks of a simulation, query after query.

use super::request::{Checkpoints, SaveMoment, SimulateStudy};
use crate::error::{Error, Result};
use crate::record::PartialSimulation;
use crate::simulate::ArgmaxSampler;
use crate::study::progress::{Meter, Progress};
use std::ops::{ControlFlow, Range};

/// What is kept while blocks are drawn.
struct Drawing<'a> {
    blocks: &'a Range<u64>,
    checkpoints: Option<&'a dyn Checkpoints>,
    meter: Meter<'a>,
    /// Samples of all queries and both worlds so far.
    done: u64,
}

impl SimulateStudy<'_> {
    /// Draws every missing block of every query, saving now and then.
    pub(super) fn draw(
        &self,
        state: &mut PartialSimulation,
        blocks: &Range<u64>,
        progress: &Progress<'_>,
    ) -> Result<()> {
        let before = state.samples();
        let meter = Meter::new(progress, state.samples_of(blocks), "outputs");
        // What was resumed took no time: a break is seen by the first block.
        let _ = meter.reach(before);
        let mut drawing = Drawing { blocks, checkpoints: self.checkpoints, meter, done: before };
        let missing = |query: usize| !state.queries[query].part.blocks().missing_in(blocks.clone()).is_empty();
        let open: Vec<usize> = (0..state.queries.len()).filter(|&query| missing(query)).collect();
        let build = |query: Option<&usize>| {
            let query = &self.scenario.queries[*query?];
            Some(ArgmaxSampler::new(&query.model, query.noise))
        };
        let mut sampler = build(open.first());
        for (place, &query) in open.iter().enumerate() {
            let Some(ready) = sampler else { break };
            // Tables are built on one thread: those of the next query while this one is drawn.
            let (drawn, next) = rayon::join(|| drawing.draw(state, query, &ready), || build(open.get(place + 1)));
            drawn?;
            sampler = next;
        }
        match self.checkpoints {
            // A complete checkpoint is left as it is.
            Some(checkpoints) if drawing.done > before => checkpoints.save(state, SaveMoment::Complete),
            _ => Ok(()),
        }
    }
}

impl Drawing<'_> {
    /// Draws every missing block of one query.
    fn draw(&mut self, state: &mut PartialSimulation, query: usize, sampler: &ArgmaxSampler) -> Result<()> {
        let due = |checkpoints: &&dyn Checkpoints| checkpoints.is_due();
        loop {
            let part = &mut state.queries[query].part;
            let held = part.samples();
            let more = part.advance(sampler, self.blocks.clone(), |drawn| {
                let told = self.meter.reach(self.done + drawn);
                if self.checkpoints.as_ref().is_some_and(due) { ControlFlow::Break(()) } else { told }
            })?;
            self.done += 2 * (part.samples() - held);
            if self.meter.is_over() {
                self.checkpoints.map_or(Ok(()), |checkpoints| checkpoints.save(state, SaveMoment::Interrupted))?;
                return Err(Error::Interrupted);
            }
            self.checkpoints.filter(due).map_or(Ok(()), |checkpoints| checkpoints.save(state, SaveMoment::Due))?;
            if !more {
                return Ok(());
            }
        }
    }
}
