//! Where and when a simulation is saved.

use super::pace::Pace;
use crate::args::values::seconds;
use crate::output::interrupted;
use crate::session::Session;
use crate::signals::{Second, interruption};
use crate::usage::warn;
use clap::Args;
use leakbound::record::{AtomicFile, Checkpoint, FileLock, PartialSimulation, checkpoint_exists, remove_leftovers};
use leakbound::simulate::{Shard, Simulation};
use leakbound::study::{Checkpoints, SaveMoment};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a simulation is saved, and when.
#[derive(Debug, Args, Serialize)]
pub struct KeptOptions {
    /// Save progress to this file regularly and on Ctrl-C
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Resume from the checkpoint; start over if there is none
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
    /// Seconds between checkpoints; more if saving would take over 1% of the time
    #[arg(long, value_name = "S", default_value = "10", requires = "checkpoint", value_parser = seconds, allow_hyphen_values = true, help_heading = "Advanced")]
    pub checkpoint_seconds: f64,
}

/// A file in which a simulation is saved.
pub struct Keeper<'a> {
    session: &'a Session,
    options: &'a KeptOptions,
    shard: Shard,
    path: &'a Path,
    state: Mutex<State>,
}

struct State {
    pace: Pace,
    /// Samples that are wanted.
    all: u64,
    /// The share of them that was saved last.
    share: f64,
    /// Why the complete simulation could not be saved.
    unsaved: Option<Error>,
    /// Two processes would remove each other's files.
    lock: Option<FileLock>,
}

impl<'a> Keeper<'a> {
    /// Opens nothing yet.
    pub fn new(session: &'a Session, (options, shard): (&'a KeptOptions, Shard), path: &'a Path) -> Self {
        let pace = Pace::new(options.checkpoint_seconds);
        let state = State { pace, all: 0, share: 0.0, unsaved: None, lock: None };
        Self { session, options, shard, path, state: Mutex::new(state) }
    }

    /// What a simulation ends with that was interrupted and saved.
    pub fn interrupted(&self) -> Error {
        let share = 100.0 * self.state().share;
        interrupted(self.path, format!("interrupted at {share:.1}%, which is saved; --resume continues"))
    }

    /// After the result was written: whether the checkpoint is complete too.
    pub fn end(self) -> Result<()> {
        self.state().unsaved.take().map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpoints for Keeper<'_> {
    fn resume(&self, simulation: PartialSimulation) -> Result<PartialSimulation> {
        let &Self { options, shard, path, .. } = self;
        let lock = FileLock::take(path, "a checkpoint")?;
        let exists = path.symlink_metadata().is_ok();
        if exists && !options.resume {
            return Err(checkpoint_exists(path).into());
        }
        let wanted = Checkpoint { shard, simulation };
        let simulation = if exists { Checkpoint::read(path)?.resume(path, &wanted)? } else { wanted.simulation };
        if options.resume {
            // The run that is resumed may have been killed while it was writing.
            remove_leftovers(path);
        }
        // Known now, not after hours: whether it can be written.
        drop(AtomicFile::create(path)?);
        let unkept = |source| Error::Io { path: path.to_path_buf(), action: "be kept", source };
        interruption(self.session, Second::Ends).map_err(unkept)?;
        let blocks = shard.blocks(Simulation::new(simulation.plan.samples)?)?;
        let mut state = self.state();
        state.pace = Pace::new(options.checkpoint_seconds);
        (state.all, state.lock) = (simulation.samples_of(&blocks), Some(lock));
        drop(state);
        Ok(simulation)
    }

    fn is_due(&self) -> bool {
        self.state().pace.is_due()
    }

    fn save(&self, simulation: &PartialSimulation, moment: SaveMoment) -> Result<()> {
        let mut state = self.state();
        let write = || Checkpoint { shard: self.shard, simulation: simulation.clone() }.write(self.path);
        let saved = state.pace.save(write);
        match (moment, saved) {
            (SaveMoment::Interrupted, saved) => {
                state.share = simulation.samples() as f64 / state.all as f64;
                saved
            }
            // The disk may have room again the next time, and until then the work is not lost.
            (SaveMoment::Due, Err(error)) => {
                if state.pace.fail() && !self.session.is_hosted() {
                    warn(&format!(
                        "{error}; the simulation continues and tries again, and until then nothing more is saved"
                    ));
                }
                Ok(())
            }
            // It is reported after the result, which is not lost with it.
            (SaveMoment::Complete, saved) => {
                state.unsaved = saved.err();
                Ok(())
            }
            (SaveMoment::Due, Ok(())) => Ok(()),
        }
    }
}
