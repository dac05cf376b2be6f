//! When work ends before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When work ends before it is done: at a moment, or as soon as somebody wants it to.
///
/// ```
/// # use leakbound::verify::Stop;
/// # use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// # use std::time::Duration;
/// let wish = Arc::new(AtomicBool::new(false));
/// let stop = Stop::when(Arc::clone(&wish)).within(Some(Duration::from_secs(3600)));
/// assert!(!stop.is_over());
/// wish.store(true, Ordering::Relaxed);
/// assert!(stop.is_over());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stop {
    at: Option<Instant>,
    wish: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// As soon as this is true.
    #[must_use]
    pub const fn when(wish: Arc<AtomicBool>) -> Self {
        Self { at: None, wish: Some(wish) }
    }

    /// The same, and at the latest after this time from now on.
    #[must_use]
    pub fn within(&self, time: Option<Duration>) -> Self {
        let at = time.and_then(|time| Instant::now().checked_add(time));
        Self { at: self.at.into_iter().chain(at).min(), wish: self.wish.clone() }
    }

    /// Whether it is time.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.wish.as_ref().is_some_and(|wish| wish.load(Ordering::Relaxed)) || self.left() == Some(Duration::ZERO)
    }

    /// The time that is left, if it is limited.
    #[must_use]
    pub fn left(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }
}
