//! The wish that the work ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A signal that asks a program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// The terminal was closed.
    Hangup,
    /// Ctrl-C.
    Interrupt,
    /// The usual request of other programs.
    Terminate,
}

impl Signal {
    pub(super) const ALL: [Self; 3] = [Self::Hangup, Self::Interrupt, Self::Terminate];

    /// Its number, which is the same on every Unix.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }

    /// The exit status of a program that it ended, as shells count.
    pub(super) const fn status(self) -> u8 {
        128 + self.number()
    }
}

/// Whether someone wants the work to end.
#[derive(Debug, Clone, Default)]
pub struct Interruption {
    noted: Arc<AtomicBool>,
    /// The number of the signal that asked for it, or 0.
    signal: Arc<AtomicUsize>,
    /// Whether signals are noted here already.
    watched: Arc<AtomicBool>,
}

impl Interruption {
    /// Asks for the end; true if that was asked before.
    pub fn note(&self) -> bool {
        self.noted.swap(true, Ordering::Relaxed)
    }

    /// Whether it was requested.
    #[must_use]
    pub fn is_noted(&self) -> bool {
        self.noted.load(Ordering::Relaxed)
    }

    /// True as soon as it was requested.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.noted)
    }

    /// True once, for the caller that is to note signals here: noted twice, the first would be taken for a second.
    pub(super) fn take_watch(&self) -> bool {
        !self.watched.swap(true, Ordering::Relaxed)
    }

    /// The signal that asked for it last, if one did.
    pub(super) fn signal(&self) -> Option<Signal> {
        let number = self.signal.load(Ordering::Relaxed);
        Signal::ALL.into_iter().find(|signal| usize::from(signal.number()) == number)
    }

    /// The number of the signal, for what sets it when a signal comes, before the flag.
    #[cfg(unix)]
    pub(super) fn number(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }

    /// Asks for the end because of a signal; true if that was asked before.
    #[cfg(windows)]
    pub(super) fn note_signal(&self, signal: Signal) -> bool {
        self.signal.store(usize::from(signal.number()), Ordering::Relaxed);
        self.note()
    }
}
