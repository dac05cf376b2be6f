//! When long work saves what is done.

use leakbound::Result;
use std::time::{Duration, Instant};

/// What is done is saved so seldom that its own time stays below one part in this many.
const COST: u32 = 100;

/// After how much time what is done is saved again.
pub struct Pace {
    interval: Duration,
    /// When it was saved or tried last, and how long that took.
    last: Instant,
    took: Duration,
    failing: bool,
}

impl Pace {
    /// Every this many seconds, from now on. The command line bounds them.
    pub fn new(seconds: f64) -> Self {
        let interval = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(10));
        Self { interval, last: Instant::now(), took: Duration::ZERO, failing: false }
    }

    /// Whether the last time is long enough ago.
    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.interval.max(self.took * COST)
    }

    /// Saves, and remembers when and how long.
    pub fn save(&mut self, save: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = Instant::now();
        let saved = save();
        (self.last, self.took) = (Instant::now(), start.elapsed());
        self.failing &= saved.is_err();
        saved
    }

    /// It failed; whether that is news.
    pub fn fail(&mut self) -> bool {
        !std::mem::replace(&mut self.failing, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakbound::Error;

    #[test]
    fn a_failure_is_news_once_until_it_is_over() {
        let mut pace = Pace::new(0.0);
        let fails =
            || Err(Error::Io { path: "c".into(), action: "write", source: std::io::ErrorKind::StorageFull.into() });
        assert!(pace.is_due());
        let news: Vec<bool> = (0..3).map(|_| pace.save(fails).is_err() && pace.fail()).collect();
        assert_eq!(news, [true, false, false]);
        pace.save(|| Ok(())).unwrap();
        assert!(pace.save(fails).is_err() && pace.fail());
        assert!(!Pace::new(3600.0).is_due());
    }
}
