//! When work ends before it is done.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A progress callback, called from any thread with the units of work (cases, outputs) done since its last call, and
/// with 0 while an answer or a long piece of work is waited for. [`ControlFlow::Break`] ends the work, and later calls
/// must return it again.
pub type Watch<'a> = dyn Fn(u64) -> ControlFlow<()> + Sync + 'a;

/// The progress callback of a program that waits for the result.
pub const fn never_stop(_: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// When work ends before it is done: at a moment, or as soon as a progress callback breaks off.
///
/// ```
/// # use leakbound::program::Stop;
/// # use std::ops::ControlFlow;
/// # use std::time::Duration;
/// let hour = Some(Duration::from_secs(3600));
/// assert!(!Stop::when(&|_| ControlFlow::Continue(())).within(hour).is_over());
/// assert!(Stop::when(&|_| ControlFlow::Break(())).within(hour).is_over());
/// ```
#[derive(Clone, Copy, Default)]
pub struct Stop<'a> {
    at: Option<Instant>,
    watch: Option<&'a Watch<'a>>,
}

impl<'a> Stop<'a> {
    /// As soon as this callback breaks off.
    #[must_use]
    pub const fn when(watch: &'a Watch<'a>) -> Self {
        Self { at: None, watch: Some(watch) }
    }

    /// The same, and at the latest after this time from now on.
    #[must_use]
    pub fn within(self, time: Option<Duration>) -> Self {
        let at = time.and_then(|time| Instant::now().checked_add(time));
        Self { at: self.at.into_iter().chain(at).min(), ..self }
    }

    /// Reports units of work that were done.
    pub(crate) fn done(&self, units: u64) -> ControlFlow<()> {
        self.watch.map_or(ControlFlow::Continue(()), |watch| watch(units))
    }

    /// Whether it is time.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left() == Some(Duration::ZERO) || self.done(0).is_break()
    }

    /// The time that is left, if it is limited.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}
