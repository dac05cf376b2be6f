//! When a simulation is saved, and how it ends when the user interrupts it.

use super::pace::Pace;
use crate::command::args::SimulateOptions;
use crate::command::interruption::Interruption;
use crate::command::output::interrupted;
use crate::command::session::Session;
use crate::command::signals::{Second, interruption};
use crate::command::usage::warn;
use crate::record::{AtomicFile, Checkpoint, FileLock, PartialSimulation, remove_leftovers};
use crate::simulate::Shard;
use crate::{Error, InputError, Result};
use std::path::PathBuf;

/// Where a simulation is saved, if anywhere.
pub struct Keeper(Option<Place>);

struct Place {
    path: PathBuf,
    shard: Shard,
    pace: Pace,
    interruption: Interruption,
    /// Whether somebody reads what is said on stderr.
    terminal: bool,
    /// Why the complete simulation could not be saved.
    unsaved: Option<Error>,
    /// Two processes would remove each other's files.
    _lock: FileLock,
}

impl Keeper {
    /// The place that the options name, and what is done already.
    pub fn open(session: &Session, options: &SimulateOptions, wanted: Checkpoint) -> Result<(Self, PartialSimulation)> {
        let Some(path) = options.checkpoint.clone() else { return Ok((Self(None), wanted.simulation)) };
        let lock = FileLock::take(&path, "a checkpoint")?;
        let exists = path.symlink_metadata().is_ok();
        if exists && !options.resume {
            return Err(Error::from(InputError {
                file: path,
                place: "--checkpoint".into(),
                found: "a file that is there already".into(),
                expected: "a new file".into(),
                hint: Some("--resume goes on where it ends; remove it to start anew".into()),
            }));
        }
        let shard = wanted.shard;
        let state = if exists { Checkpoint::read(&path)?.resume(&path, &wanted)? } else { wanted.simulation };
        if options.resume {
            // The run that is resumed may have been killed while it was writing.
            remove_leftovers(&path);
        }
        // Known now, not after hours: whether it can be written.
        drop(AtomicFile::create(&path)?);
        let interruption = interruption(session, Second::Ends).map_err(|source| Error::Io {
            path: path.clone(),
            action: "be kept",
            source,
        })?;
        let pace = Pace::new(options.checkpoint_seconds);
        let place =
            Place { path, shard, pace, interruption, terminal: !session.is_hosted(), unsaved: None, _lock: lock };
        Ok((Self(Some(place)), state))
    }

    /// Saves what is done, which is this share of all, where it is time to; and ends where the user wants to.
    pub fn look_after(&mut self, state: &PartialSimulation, share: f64) -> Result<()> {
        let Some(place) = &mut self.0 else { return Ok(()) };
        if place.interruption.is_noted() {
            place.save(state)?;
            let reason = format!("interrupted at {:.1} %, which is saved; --resume goes on", 100.0 * share);
            return Err(interrupted(&place.path, reason));
        }
        if place.pace.is_due() {
            place.try_to_save(state);
        }
        Ok(())
    }

    /// Saves the complete simulation. What fails here is told by [`end`](Self::end): the result is not lost with it.
    pub fn finish(&mut self, state: &PartialSimulation) {
        if let Some(place) = &mut self.0 {
            place.unsaved = place.save(state).err();
        }
    }

    /// After the result was written: whether the checkpoint is complete too.
    pub fn end(self) -> Result<()> {
        self.0.and_then(|place| place.unsaved).map_or(Ok(()), Err)
    }

    /// Whether what is done is saved when the user interrupts.
    pub const fn saves(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it is time to save, or the user wants to end.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.interruption.is_noted() || place.pace.is_due())
    }

    /// What someone should know who has to wait for long.
    pub fn advice(&self) -> &'static str {
        match self.0 {
            Some(_) => "Ctrl-C saves what is done",
            None => "with --checkpoint FILE what is done could be saved",
        }
    }
}

impl Place {
    /// The disk may have room again the next time, and until then the work is not lost.
    fn try_to_save(&mut self, state: &PartialSimulation) {
        if let Err(error) = self.save(state)
            && self.pace.fail()
            && self.terminal
        {
            warn(&format!("{error}; the simulation goes on and tries again, and until then nothing more is saved"));
        }
    }

    fn save(&mut self, state: &PartialSimulation) -> Result<()> {
        let Self { pace, shard, path, .. } = self;
        pace.save(|| Checkpoint { shard: *shard, simulation: state.clone() }.write(path))
    }
}
