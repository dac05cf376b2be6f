//! The blocks of a simulation, query after query.

use super::checkpointing::Keeper;
use crate::Result;
use crate::command::args::Common;
use crate::command::output::{Bar, progress};
use crate::record::{PartialSimulation, Scenario};
use crate::simulate::ArgmaxSampler;
use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

/// After this time the whole duration can be foretold.
const SETTLED: Duration = Duration::from_secs(2);
/// A simulation that takes longer is announced.
const LONG: Duration = Duration::from_secs(600);

/// What is looked after while blocks are drawn.
struct Watch<'a> {
    blocks: &'a Range<u64>,
    keeper: &'a mut Keeper,
    bar: Bar,
    start: Instant,
    /// Samples of all queries and both worlds: at the start, so far, and wanted.
    before: u64,
    done: u64,
    all: u64,
    announced: bool,
}

/// Draws every missing block of every query, saving now and then.
pub fn draw_missing(
    common: &Common,
    scenario: &Scenario,
    blocks: &Range<u64>,
    state: &mut PartialSimulation,
    keeper: &mut Keeper,
) -> Result<()> {
    let (before, all) = (state.samples(), state.samples_of(blocks));
    let bar = progress(common, all, "outputs");
    // What can be saved is saved before the end.
    let bar = if keeper.saves() { bar.without_interruption() } else { bar };
    bar.set_position(before);
    bar.reset_eta();
    let mut watch = Watch {
        blocks,
        keeper,
        bar,
        start: Instant::now(),
        before,
        done: before,
        all,
        announced: common.quiet || common.session.is_hosted(),
    };
    let missing = |query: usize| !state.queries[query].part.blocks().missing_in(blocks.clone()).is_empty();
    let open: Vec<usize> = (0..state.queries.len()).filter(|&query| missing(query)).collect();
    let build = |query: Option<&usize>| {
        query.map(|&query| ArgmaxSampler::new(&scenario.queries[query].model, scenario.queries[query].noise))
    };
    let mut mechanism = build(open.first());
    for (place, &query) in open.iter().enumerate() {
        let Some(ready) = mechanism else { break };
        // Tables are built on one thread: those of the next query while this one is drawn.
        let (drawn, next) = rayon::join(|| watch.draw(state, query, &ready), || build(open.get(place + 1)));
        drawn?;
        mechanism = next;
    }
    watch.bar.finish_and_clear();
    // A complete checkpoint is left as it is.
    if watch.done > before {
        watch.keeper.finish(state);
    }
    Ok(())
}

impl Watch<'_> {
    /// Draws every missing block of one query.
    fn draw(&mut self, state: &mut PartialSimulation, query: usize, mechanism: &ArgmaxSampler) -> Result<()> {
        loop {
            let part = &mut state.queries[query].part;
            let held = part.samples();
            let more = part.advance(mechanism, self.blocks.clone(), |drawn| {
                self.bar.set_position(self.done + drawn);
                if self.keeper.is_due() || self.has_settled() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })?;
            self.done += 2 * (part.samples() - held);
            self.keeper.look_after(state, self.done as f64 / self.all as f64)?;
            if self.has_settled() {
                self.announced = true;
                self.announce();
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// Whether it is time to tell how long it will take.
    fn has_settled(&self) -> bool {
        !self.announced && self.start.elapsed() > SETTLED
    }

    /// Says how long it will take where that is long.
    fn announce(&self) {
        let rate = (self.done - self.before) as f64 / self.start.elapsed().as_secs_f64();
        let seconds = (self.all - self.done) as f64 / rate;
        if seconds < LONG.as_secs_f64() {
            return;
        }
        let time = match seconds {
            minutes if minutes < 7200.0 => format!("{:.0} minutes", minutes / 60.0),
            hours if hours < 172_800.0 => format!("{:.0} hours", hours / 3600.0),
            days => format!("{:.0} days", days / 86_400.0),
        };
        let advice = self.keeper.advice();
        self.bar.suspend(|| {
            // Nothing is left to report a closed stderr to.
            let _ = writeln!(
                std::io::stderr(),
                "note: about {time} to go at {:.1} million outputs a second; {advice}",
                rate / 1e6
            );
        });
    }
}
