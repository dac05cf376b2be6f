//! When a simulation is saved, and how it ends when the user interrupts it.

use crate::args::SimulateOptions;
use leakbound::record::{AtomicFile, Checkpoint, PartialSimulation};
use leakbound::{Error, InputError, Result, Shard};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A checkpoint is written so seldom that its own time stays below one part in this many.
const COST: u32 = 100;
/// A tenth of a second or two are not noticed; threads wait for each other at the end of a step.
const LONGEST_STEP: Duration = Duration::from_millis(250);
const SHORTEST_STEP: Duration = Duration::from_millis(20);

/// Where a simulation is saved, if anywhere.
pub struct Keeper(Option<Place>);

struct Place {
    path: PathBuf,
    shard: Shard,
    interval: Duration,
    /// When the last checkpoint was complete, and how long it took.
    last: Instant,
    took: Duration,
    /// Set by Ctrl-C.
    interrupted: Arc<AtomicBool>,
}

impl Keeper {
    /// The place that the options name, and what is done already.
    pub fn open(options: &SimulateOptions, wanted: Checkpoint) -> Result<(Self, PartialSimulation)> {
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
        // Known now, not after hours: whether it can be written.
        drop(AtomicFile::create(&path)?);
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        let handler = move || {
            // Whoever asks twice does not want to wait for the end of a step.
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(1);
            }
        };
        ctrlc::set_handler(handler).map_err(|error| Error::Io {
            path: path.clone(),
            action: "be kept",
            source: io::Error::other(error),
        })?;
        // The command line bounds the seconds.
        let interval = Duration::try_from_secs_f64(options.checkpoint_seconds).unwrap_or(Duration::from_secs(10));
        let place = Place { path, shard, interval, last: Instant::now(), took: Duration::ZERO, interrupted };
        Ok((Self(Some(place)), state))
    }

    /// Saves what is done where it is time to, or where the user wants to end.
    pub fn look_after(&mut self, state: &PartialSimulation, all: u64) -> Result<()> {
        let Some(place) = &mut self.0 else { return Ok(()) };
        let interrupted = place.interrupted.load(Ordering::Relaxed);
        if interrupted || place.last.elapsed() >= place.interval.max(place.took * COST) {
            place.save(state)?;
        }
        if !interrupted {
            return Ok(());
        }
        let share = 100.0 * state.samples() as f64 / all.max(1) as f64;
        let reason = format!("interrupted at {share:.1} %, which is saved; --resume goes on");
        Err(Error::Io {
            path: place.path.clone(),
            action: "complete",
            source: io::Error::new(ErrorKind::Interrupted, reason),
        })
    }

    /// Saves the complete simulation.
    pub fn finish(&mut self, state: &PartialSimulation) -> Result<()> {
        self.0.as_mut().map_or(Ok(()), |place| place.save(state))
    }

    /// How long blocks are drawn before anything else is looked after.
    pub fn step(&self) -> Duration {
        self.0.as_ref().map_or(LONGEST_STEP, |place| place.interval.clamp(SHORTEST_STEP, LONGEST_STEP))
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
    fn save(&mut self, state: &PartialSimulation) -> Result<()> {
        let start = Instant::now();
        Checkpoint { shard: self.shard, simulation: state.clone() }.write(&self.path)?;
        (self.last, self.took) = (Instant::now(), start.elapsed());
        Ok(())
    }
}
