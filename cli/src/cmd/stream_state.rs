//! The state of an audit of a stream: what it has counted is counted once, however a run ends.
//!
//! The state knows each input by the SHA-256 of what was counted of it, and its stage. While an input is read, the
//! state is saved now and then with the rows so far and the batch that they are (`reading`); at the end with all rows
//! (`read`); then the answer is written; then the state is saved once more (`delivered`). Each save replaces the file
//! in one step. So wherever a run ends, by a full disk, a signal or the power:
//!
//! - before the first save the state knows nothing of the input, and the same input is counted from its start;
//! - between saves the state holds the rows of a prefix, and which one: the same input is counted from there on;
//! - after `read` and before or while the answer is written, the state holds all rows: the same input adds none, and
//!   the answer is made again from the state, which is the same answer;
//! - after the answer and before `delivered` the same happens: the answer is written again over itself;
//! - after `delivered` the same input is rejected, because reading it again is a mistake.
//!
//! Rows and batches are in one file, so that neither is ever newer than the other; and the file is locked from before
//! it is read until after the answer, so that no other run counts meanwhile.

use super::pace::Pace;
use crate::args::values::seconds;
use crate::session::Session;
use crate::usage::warn;
use clap::{Args, ValueEnum};
use leakbound::audit::{OutputWorld, StreamCounts, StreamOutput};
use leakbound::record::{
    AtomicFile, Batch, BatchReader, BatchStage, FileLock, OutcomeNames, SavedStream, remove_leftovers,
};
use leakbound::study::Warning;
use leakbound::{InputError, Result};
use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where a stream is saved, and when.
#[derive(Debug, Args, Serialize)]
pub struct StateOptions {
    /// Continue from this file if it exists, and save the counts in it; FILE then holds only new outputs, and an
    /// interrupted run is repeated with the same FILE
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// What to do if FILE starts with bytes that the state has already counted
    #[arg(long, value_enum, default_value = "reject", requires = "state", help_heading = "Advanced")]
    pub repeated: Repeated,
    /// Seconds between saves of the state; more if saving would take over 1% of the time
    #[arg(long, value_name = "S", default_value = "10", requires = "state", value_parser = seconds, allow_hyphen_values = true, help_heading = "Advanced")]
    pub state_seconds: f64,
}

/// What is done with outputs that were counted already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeated {
    /// The command ends; only what a run that did not end has counted is left out
    Reject,
    /// They are left out, and what follows them is counted
    Skip,
    /// They are counted: they are of another recording, which is the same by chance
    Count,
}

/// Where the state is, if anywhere.
pub struct StateFile {
    path: Option<PathBuf>,
    terminal: bool,
    /// Held until the answer was written.
    _lock: Option<FileLock>,
}

impl StateFile {
    /// Locks the state that the options name.
    pub fn open(session: &Session, options: &StateOptions) -> Result<Self> {
        let terminal = !session.is_hosted();
        let Some(path) = options.state.clone() else { return Ok(Self { path: None, terminal, _lock: None }) };
        let lock = FileLock::take(&path, "a state")?;
        if !lock.holds() && terminal {
            warn(&format!("{}: this file system has no locks; let one process at a time use it", path.display()));
        }
        // Nobody else writes it now: what lies beside it was left by a run that was killed.
        remove_leftovers(&path);
        Ok(Self { path: Some(path), terminal, _lock: Some(lock) })
    }

    /// What is saved, if anything.
    pub fn read(&self) -> Result<Option<SavedStream>> {
        let Some(path) = &self.path else { return Ok(None) };
        let saved = if path.symlink_metadata().is_ok() { Some(SavedStream::read(path)?) } else { None };
        // Known now, not after hours: whether it can be written.
        drop(AtomicFile::create(path)?);
        Ok(saved)
    }
}

/// One input being counted.
pub struct Counting<'a> {
    file: &'a Path,
    state: &'a StateFile,
    saved: &'a mut SavedStream,
    repeated: Repeated,
    pace: Pace,
    /// The state before this input, while it is not known whether it was counted before.
    before: Option<StreamCounts>,
    begun: bool,
    /// The batch that the input begins with.
    found: Option<usize>,
    /// The place of this input among the batches, once it has one.
    current: Option<usize>,
    /// Lines that were counted before.
    pub skipped: u64,
    /// The last line read.
    pub last_line: u64,
}

impl<'a> Counting<'a> {
    pub fn new(file: &'a Path, state: &'a StateFile, options: &StateOptions, saved: &'a mut SavedStream) -> Self {
        Self {
            file,
            state,
            saved,
            repeated: options.repeated,
            pace: Pace::new(options.state_seconds),
            before: None,
            begun: false,
            found: None,
            current: None,
            skipped: 0,
            last_line: 0,
        }
    }

    /// The batches that the input is compared with.
    pub fn known(&self) -> &[Batch] {
        if self.repeated == Repeated::Count { &[] } else { &self.saved.batches }
    }

    /// The outputs so far.
    pub const fn counts(&self) -> &StreamCounts {
        &self.saved.counts
    }

    /// Counts a row, unless it was counted before.
    pub fn count<R: Read>(
        &mut self,
        reader: &BatchReader<R>,
        line: u64,
        world: OutputWorld,
        output: StreamOutput,
        names: &OutcomeNames,
    ) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) && reader.is_undecided() {
            self.before = Some(self.saved.counts.clone());
        }
        self.settle(reader)?;
        self.last_line = line;
        if line <= self.skipped {
            if line == self.skipped && reader.is_torn() {
                return Err(self.reject(
                    format!("line {line}"),
                    "more of the last line that the state has counted".into(),
                    "lines as they were counted",
                    "let an input end with a whole line",
                ));
            }
            return Ok(());
        }
        self.saved.counts.push(world, output)?;
        if self.state.path.is_some() && !reader.is_undecided() && self.pace.is_due() {
            self.record(reader.batch_to_line(line, BatchStage::Reading));
            self.try_to_save(names);
        }
        Ok(())
    }

    /// Goes back to where the state was if the input turns out to begin with a batch that was counted.
    pub fn settle<R: Read>(&mut self, reader: &BatchReader<R>) -> Result<()> {
        let found = reader.found();
        if let Some(index) = found.filter(|_| found != self.found) {
            let batch = &self.saved.batches[index];
            let (lines, bytes) = (batch.lines, batch.bytes);
            if batch.stage == BatchStage::Delivered && self.repeated == Repeated::Reject {
                return Err(self.reject(
                    format!("lines 1 to {lines}"),
                    format!("{bytes} bytes that the state has counted already, as its batch {}", index + 1),
                    "outputs that it has not counted",
                    "--repeated skip counts only what follows them; --repeated count counts them again, as outputs of \
                     another recording that are the same by chance",
                ));
            }
            if let Some(before) = &self.before {
                self.saved.counts.clone_from(before);
            }
            (self.found, self.skipped) = (found, lines);
        }
        if !reader.is_undecided() {
            self.before = None;
        }
        Ok(())
    }

    fn reject(&self, place: String, found: String, expected: &str, hint: &str) -> leakbound::Error {
        let (expected, hint) = (expected.into(), Some(hint.into()));
        InputError { file: self.file.into(), place, found, expected, hint }.into()
    }

    /// Notes how far this input was counted.
    fn record(&mut self, batch: Batch) {
        let batches = &mut self.saved.batches;
        let unfinished = |&index: &usize| batches[index].stage != BatchStage::Delivered;
        let place = self.current.or(self.found.filter(unfinished));
        self.current = match place {
            Some(index) => {
                batches[index] = batch;
                Some(index)
            }
            // What was delivered stays, for those who read as much of it again; nothing was added to it.
            None if self.found.is_some_and(|index| batches[index].bytes == batch.bytes) => None,
            None if batch.bytes == 0 => None,
            None => {
                batches.push(batch);
                Some(batches.len() - 1)
            }
        };
    }

    /// The disk may have room again the next time, and the same input is counted once anyhow.
    fn try_to_save(&mut self, names: &OutcomeNames) {
        let Self { pace, saved, state, .. } = self;
        let Some(path) = &state.path else { return };
        if let Err(error) = pace.save(|| saved.write_with(path, names))
            && pace.fail()
            && state.terminal
        {
            warn(&format!("{error}; reading continues and tries again, and until then nothing more is saved"));
        }
    }

    /// Saves what was counted up to the last line, for a run that resumes; whether it could be told what that is.
    pub fn leave<R: Read>(&mut self, reader: &BatchReader<R>, names: &OutcomeNames) -> Result<bool> {
        if reader.is_undecided() {
            return Ok(false);
        }
        self.settle(reader)?;
        self.record(reader.batch_to_line(self.last_line, BatchStage::Reading));
        self.save(names)?;
        Ok(true)
    }

    /// Saves all that was read, before the answer is written.
    pub fn finish<R: Read>(&mut self, reader: &BatchReader<R>, whole: bool, names: &OutcomeNames) -> Result<()> {
        if whole {
            self.record(reader.batch_to_end(BatchStage::Read));
        } else {
            self.record(reader.batch_to_line(self.last_line, BatchStage::Reading));
        }
        self.save(names)
    }

    fn save(&self, names: &OutcomeNames) -> Result<()> {
        self.state.path.as_ref().map_or(Ok(()), |path| self.saved.write_with(path, names))
    }

    /// What the user should know of outputs that were counted before, and which batch waits for its answer.
    pub fn end<R: Read>(&self, reader: &BatchReader<R>) -> (Vec<Warning>, Option<usize>) {
        let lines = self.skipped;
        let resumed = self.found.map(|index| Warning {
            code: "resumed",
            message: format!(
                "the first {lines} lines are those of batch {} of the state: they were counted before, and not again now",
                index + 1
            ),
            hint: "with `repeated` set to `count`, outputs of another recording that are the same by chance are counted".into(),
        });
        let alike = reader.is_alike().then(|| Warning {
            code: "similar-batch",
            message: "the input begins like a batch that the state has counted, and continues differently; all of it \
                      was counted"
                .into(),
            hint: "make sure that no output is in both: each may be counted once".into(),
        });
        (resumed.into_iter().chain(alike).collect(), self.current)
    }
}

impl StateFile {
    /// Notes that the answer about a batch was given. Without the note it is given again, and nothing is counted twice,
    /// so a failure to write it is not a failure of the run.
    pub fn deliver(&self, mut saved: SavedStream, batch: Option<usize>) {
        let batch = batch.and_then(|index| saved.batches.get_mut(index));
        if let (Some(path), Some(batch)) = (&self.path, batch.filter(|batch| batch.stage == BatchStage::Read)) {
            batch.stage = BatchStage::Delivered;
            let _ = saved.write(path);
        }
    }
}
