//! How far a study is, and its early end.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Progress of one phase of a study, which ends with `done == all` unless less was to do; a study may have several
/// phases, or none if it is quick. A step may be repeated without progress, so that waiting work can be ended.
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
/// # use leakbound::mechanism::NoisyArgmax;
/// # use leakbound::quantity::Order;
/// # use leakbound::study::{Claims, ExactStudy, Searched, Study, unwatched};
/// # use std::sync::Arc;
/// let study = ExactStudy {
///     mechanism: Arc::new(NoisyArgmax::new("gaussian:2".parse()?)),
///     histogram: VoteHistogram::new(vec![14, 12, 10])?,
///     searched: Searched::Neighbor(VoteHistogram::new(vec![13, 13, 10])?),
///     orders: vec![Order::new(2.0)?],
///     epsilons: Vec::new(),
///     deltas: Vec::new(),
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
    /// Whether the callback broke off.
    over: AtomicBool,
    start: Instant,
    /// When the callback was polled last, in milliseconds after the start.
    polled: AtomicU64,
}

/// Between two calls that report nothing new.
const PACE: Duration = Duration::from_millis(20);

impl<'a> Meter<'a> {
    pub(super) fn new(progress: &'a Progress<'a>, all: u64, unit: &'static str) -> Self {
        let (done, over, polled) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
        Self { progress, done, all, unit, over, start: Instant::now(), polled }
    }

    /// Units done so far.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Records that this many units are done in all, as seen by one of several threads.
    pub(super) fn reach(&self, done: u64) -> ControlFlow<()> {
        let done = self.done.fetch_max(done, Ordering::Relaxed).max(done);
        self.tell(done)
    }

    /// Records this many more units of work that passes over all units several times, each pass a phase.
    pub(super) fn add_in_passes(&self, more: u64) -> Result<()> {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        let done = (done.max(1) - 1) % self.all.max(1) + 1;
        unless_over(self.step(Step { done, all: self.all, unit: self.unit }))
    }

    /// Records this many more units; an error if the work must end.
    pub(super) fn add(&self, more: u64) -> Result<()> {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        unless_over(self.tell(done))
    }

    /// Whether the work must end, for work that asks often while no unit is done.
    pub(super) fn poll(&self) -> ControlFlow<()> {
        let now = self.start.elapsed().as_millis() as u64;
        let due = |polled: u64| (now >= polled + PACE.as_millis() as u64).then_some(now);
        if self.polled.fetch_update(Ordering::Relaxed, Ordering::Relaxed, due).is_ok() {
            return self.tell(self.done());
        }
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether the callback broke off.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn tell(&self, done: u64) -> ControlFlow<()> {
        self.step(Step { done, all: self.all.max(done), unit: self.unit })
    }

    fn step(&self, step: Step) -> ControlFlow<()> {
        let told = (self.progress)(step);
        self.over.fetch_or(told.is_break(), Ordering::Relaxed);
        told
    }
}

fn unless_over(flow: ControlFlow<()>) -> Result<()> {
    if flow.is_break() { Err(Error::Interrupted) } else { Ok(()) }
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
        assert!(meter.is_over());
        assert_eq!(*seen.lock().unwrap(), [2, 3, 5]);
    }

    #[test]
    fn work_that_waits_asks_now_and_then() {
        let asked = AtomicU64::new(0);
        let watch = |step: Step| {
            assert_eq!((step.done, step.all), (0, 6));
            if asked.fetch_add(1, Ordering::Relaxed) == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (meter, start) = (Meter::new(&watch, 6, "queries"), Instant::now());
        while meter.poll().is_continue() {}
        assert!(start.elapsed() >= 3 * PACE && meter.poll().is_break());
        assert!(asked.into_inner() >= 3);
    }
}
