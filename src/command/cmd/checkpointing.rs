//! When a simulation is saved, and how it ends when the user interrupts it.

use super::interruptible::interruption;
use crate::command::args::SimulateOptions;
use crate::command::session::{Interruption, Session};
use crate::record::{AtomicFile, Checkpoint, PartialSimulation, remove_leftovers};
use crate::{Error, InputError, Result, Shard};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A checkpoint is written so seldom that its own time stays below one part in this many.
const COST: u32 = 100;
/// Where a simulation is saved, if anywhere.
pub struct Keeper(Option<Place>);

struct Place {
    path: PathBuf,
    shard: Shard,
    interval: Duration,
    /// When the last checkpoint was complete, and how long it took.
    last: Instant,
    took: Duration,
    interruption: Interruption,
}

impl Keeper {
    /// The place that the options name, and what is done already.
    pub fn open(session: &Session, options: &SimulateOptions, wanted: Checkpoint) -> Result<(Self, PartialSimulation)> {
        let Some(path) = options.checkpoint.clone() else { return Ok((Self(None), wanted.simulation)) };
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
        let interruption = interruption(session, &path)?;
        // The command line bounds the seconds.
        let interval = Duration::try_from_secs_f64(options.checkpoint_seconds).unwrap_or(Duration::from_secs(10));
        let place = Place { path, shard, interval, last: Instant::now(), took: Duration::ZERO, interruption };
        Ok((Self(Some(place)), state))
    }

    /// Saves what is done, which is this share of all, where it is time to; and ends where the user wants to.
    pub fn look_after(&mut self, state: &PartialSimulation, share: f64) -> Result<()> {
        let Some(place) = &mut self.0 else { return Ok(()) };
        let interrupted = place.is_interrupted();
        if interrupted || place.is_old() {
            place.save(state)?;
        }
        if !interrupted {
            return Ok(());
        }
        let reason = format!("interrupted at {:.1} %, which is saved; --resume goes on", 100.0 * share);
        let source = io::Error::new(ErrorKind::Interrupted, reason);
        Err(Error::Io { path: place.path.clone(), action: "complete", source })
    }

    /// Saves the complete simulation.
    pub fn finish(&mut self, state: &PartialSimulation) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |place| place.save(state))
    }

    /// Whether what is done is saved when the user interrupts.
    pub const fn saves(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it is time to save, or the user wants to end.
    pub fn is_due(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.is_interrupted() || place.is_old())
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
    fn is_interrupted(&self) -> bool {
        self.interruption.is_noted()
    }

    /// Whether the last checkpoint is old enough to be worth another one.
    fn is_old(&self) -> bool {
        self.last.elapsed() >= self.interval.max(self.took * COST)
    }

    fn save(&mut self, state: &PartialSimulation) -> Result<()> {
        let start = Instant::now();
        Checkpoint { shard: self.shard, simulation: state.clone() }.write(&self.path)?;
        (self.last, self.took) = (Instant::now(), start.elapsed());
        Ok(())
    }
}
