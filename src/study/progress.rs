//! How far a study is, and its early end.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of one phase of a study. A phase starts with `done` above 0 and ends with `done == all`; a study may have
/// several phases, or none where it is quick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Units of work done in this phase.
    pub done: u64,
    /// All units of this phase.
    pub all: u64,
    /// What is counted, such as `queries`.
    pub unit: &'static str,
}

/// A progress callback, called from any thread. [`ControlFlow::Break`] ends the study with [`Error::Interrupted`].
pub type Progress<'a> = dyn Fn(Step) -> ControlFlow<()> + Sync + 'a;

/// The progress callback of a program that waits for the result.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::law::Noise;
/// # use leakbound::mechanism::NoisyArgmax;
/// # use leakbound::quantity::Order;
/// # use leakbound::study::{Claims, ExactStudy, Searched, Study, unwatched};
/// let study = ExactStudy {
///     mechanism: NoisyArgmax { noise: "gaussian:2".parse()?, test: None },
///     histogram: VoteHistogram::new(vec![14, 12, 10])?,
///     searched: Searched::Neighbor(VoteHistogram::new(vec![13, 13, 10])?),
///     orders: vec![Order::new(2.0)?],
///     epsilons: Vec::new(),
///     claims: Claims::default(),
/// };
/// assert!(study.run(&unwatched)?.divergences[0].forward.0 > 0.2);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub const fn unwatched(_: Step) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Counts the units of one phase.
pub(super) struct Meter<'a> {
    progress: &'a Progress<'a>,
    done: AtomicU64,
    all: u64,
    unit: &'static str,
}

impl<'a> Meter<'a> {
    pub(super) fn new(progress: &'a Progress<'a>, all: u64, unit: &'static str) -> Self {
        Self { progress, done: AtomicU64::new(0), all, unit }
    }

    /// Units done so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// So many units are done in all, as one of several threads sees it.
    pub(super) fn reach(&self, done: u64) -> ControlFlow<()> {
        let done = self.done.fetch_max(done, Ordering::Relaxed).max(done);
        (self.progress)(Step { done, all: self.all.max(done), unit: self.unit })
    }

    /// So many more units are done; an error where the work is to end.
    pub(super) fn add(&self, more: u64) -> Result<()> {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        match (self.progress)(Step { done, all: self.all.max(done), unit: self.unit }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_step_is_reported_and_a_break_ends_the_work() {
        let seen = Mutex::new(Vec::new());
        let watch = |step: Step| {
            seen.lock().unwrap().push(step.done);
            if step.done >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let meter = Meter::new(&watch, 6, "queries");
        assert!(meter.add(2).is_ok() && meter.add(1).is_ok());
        assert!(matches!(meter.add(2), Err(Error::Interrupted)));
        assert_eq!(*seen.lock().unwrap(), [2, 3, 5]);
    }
}
