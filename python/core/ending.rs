//! The end of some work before its time.

use leakbound_cli::Interruption;
use pyo3::PyErr;
use std::sync::{Arc, Mutex, PoisonError};

/// Ends work because of an exception, or of Ctrl-C.
#[derive(Clone, Default)]
pub struct Ending {
    interruption: Interruption,
    failure: Arc<Mutex<Option<PyErr>>>,
}

impl Ending {
    /// What the work looks at.
    pub fn interruption(&self) -> &Interruption {
        &self.interruption
    }

    /// Whether the work is to end.
    pub fn is_noted(&self) -> bool {
        self.interruption.is_noted()
    }

    /// Ends the work because of an exception of a function that it called; the first one counts.
    pub fn fail(&self, error: PyErr) {
        self.interruption.note();
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception that ended the work.
    pub fn failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
