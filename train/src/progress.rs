//! Progress of training, and its early end.

use leakbound::error::{Error, Result};
use std::ops::ControlFlow;

/// A progress callback: networks, or steps, that are done since the last call. [`ControlFlow::Break`] ends the training
/// with [`Error::Interrupted`]; a checkpoint keeps what is complete.
pub type TrainingProgress<'a> = dyn Fn(u64) -> ControlFlow<()> + Sync + 'a;

/// Reports `done` more.
pub(super) fn report(progress: &TrainingProgress<'_>, done: u64) -> Result<()> {
    if progress(done).is_break() { Err(Error::Interrupted) } else { Ok(()) }
}
