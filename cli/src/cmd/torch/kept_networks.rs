//! A training that is interrupted: what is kept of it, and how it resumes.

use super::data::CheckpointOptions;
use crate::args::Common;
use crate::interruption::Interruption;
use crate::output::interrupted;
use crate::signals::{Second, interruption};
use crate::usage::warn;
use leakbound::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long Ctrl-C may go unanswered.
const PATIENCE: Duration = Duration::from_millis(100);

/// The checkpoint of a training that may be interrupted from now on.
pub struct KeptNetworks {
    path: PathBuf,
    interruption: Interruption,
    /// How the user resumes.
    way: &'static str,
    quiet: bool,
}

impl KeptNetworks {
    /// Notes signals from now on: the first ends the training after the networks or the step it is at, the second at
    /// once. A program that calls ends the training itself, and nothing is said.
    pub fn watch(common: &Common, options: &CheckpointOptions, path: &Path) -> Result<Option<Self>> {
        if common.session.is_hosted() {
            return Ok(None);
        }
        let unwatched = |source| Error::Io { path: path.into(), action: "be kept", source };
        let interruption = interruption(&common.session, Second::Ends).map_err(unwatched)?;
        // Also true of a study, which gives its checkpoints to trainings itself.
        let way = if options.resume { "the same command continues" } else { "--resume continues" };
        Ok(Some(Self { path: path.into(), interruption, way, quiet: common.quiet }))
    }

    /// What an interrupted training ends with.
    pub fn explain(&self, error: Error) -> Error {
        match error {
            Error::Interrupted => {
                interrupted(&self.path, format!("interrupted; what is done is saved, and {}", self.way))
            }
            error => error,
        }
    }

    /// Answers a signal while networks are trained: the end may take as long as one network.
    pub fn answer(&self) -> Option<Answering> {
        if self.quiet {
            return None;
        }
        let interruption = self.interruption.clone();
        let (end, ended) = channel();
        let wait = move || {
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if interruption.is_noted() {
                    return warn(
                        "interrupted: this ends once the networks in training are saved; a second signal ends it now, without them",
                    );
                }
            }
        };
        // Where the system starts no thread, the signal works as well and is answered at the end.
        let thread = thread::Builder::new().spawn(wait).ok()?;
        Some(Answering { end: Some(end), thread: Some(thread) })
    }
}

/// A thread that answers signals until this is dropped.
pub struct Answering {
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        drop(self.end.take());
        // It cannot panic but for a closed stderr, and then there is nobody to tell.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
