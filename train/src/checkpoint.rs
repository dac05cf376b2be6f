//! Answers of trained networks, kept in a file while others are still trained; many numbers are packed in a line.

use super::checks::reject;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use leakbound::error::{Error, InputError, Result};
use leakbound::record::{FileLock, InputFile, remove_leftovers, write_atomically};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// First words of a checkpoint; the number rises when the content takes another form.
const MARK: &str = "leakbound training checkpoint 1";

/// What a training is: two of the same give the same answers.
#[derive(Debug, Serialize)]
struct Work<'a, P> {
    recipe: &'a str,
    version: &'a str,
    device: String,
    data: Vec<&'a str>,
    plan: &'a P,
}

/// The answers of the groups of networks that are done, in a file that grows.
///
/// The first line is a mark and the SHA-256 of the second, which holds recipe, version of this library, device, SHA-256
/// of the data and the plan as JSON. Every further line is a group: its phase, its first network, how many it has, the
/// SHA-256 of the rest, and its answers as JSON. A line is on the disk before the group counts as done, so that a
/// process may be killed at any moment; a partly written line is discarded. One process at a time may have it open.
#[derive(Debug)]
pub struct TrainingCheckpoint {
    path: PathBuf,
    /// The first two lines.
    head: String,
    file: Mutex<File>,
    done: Groups,
    _lock: FileLock,
}

/// What answers depend on beyond the work that a checkpoint is opened for: the checkpoint keeps answers that differ in
/// it apart, so that other choices find none of them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Dependence(u64);

impl Dependence {
    /// On these values: 64 bits of the SHA-256 of their JSON.
    pub fn on<T: Serialize>(values: &T) -> Result<Self> {
        let unavailable =
            |error: serde_json::Error| Error::Unavailable { operation: "checkpoint", reason: error.to_string() };
        let sum = sha256(&serde_json::to_string(values).map_err(unavailable)?);
        // Sixteen digits of a sum are a number.
        Ok(Self(u64::from_str_radix(&sum[..16], 16).unwrap_or_default()))
    }

    /// The number of a phase in the checkpoint; the phase itself if nothing is depended on.
    pub fn phase(self, phase: u64) -> u64 {
        phase ^ self.0
    }
}

/// Phase and first network of each group; how many networks it has, and their answers.
type Groups = HashMap<(u64, usize), (usize, String)>;

impl TrainingCheckpoint {
    /// A new file, or with `resume` the existing one, for a recipe of this name that follows `plan` with `data`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read or written. [`Error::Input`] if it is there already and not to be
    /// resumed, is that of a training that is still running, is another kind of file, was changed, or is of another recipe, version, device, data or plan; it stays
    /// as it was.
    pub fn open<P: Serialize>(
        path: impl AsRef<Path>,
        resume: bool,
        recipe: &str,
        device: impl Display,
        data: &[InputFile],
        plan: &P,
    ) -> Result<Self> {
        let path = path.as_ref();
        let data = data.iter().map(|file| file.sha256.as_str()).collect();
        let work = Work { recipe, version: env!("CARGO_PKG_VERSION"), device: device.to_string(), data, plan };
        let work = serde_json::to_string(&work).map_err(|error| unwritable(path, io::Error::other(error)))?;
        let exists = path.symlink_metadata().is_ok();
        if exists && !resume {
            let error = fault(path, "--checkpoint", "a file that already exists", "a new file");
            return Err(hinted(error, "--resume continues where it ends; remove it to start over"));
        }
        let lock = FileLock::take(path, "a checkpoint")?;
        if resume {
            // The run that is resumed may have been killed while it was writing.
            remove_leftovers(path);
        }
        let head = format!("{MARK}, sha256 {}\n{work}\n", sha256(&work));
        if !exists {
            write_atomically(path, head.as_bytes())?;
        }
        let text = fs::read(path).map_err(|source| Error::Io { path: path.into(), action: "read", source })?;
        let (done, complete) = read(path, &text, &work)?;
        let file = appended(path)?;
        // What follows the last whole line was being written when the process ended.
        file.set_len(complete as u64).map_err(|source| unwritable(path, source))?;
        Ok(Self { path: path.into(), head, file: Mutex::new(file), done, _lock: lock })
    }

    /// Networks whose answers were in the file when it was opened.
    #[must_use]
    pub fn networks(&self) -> u64 {
        self.done.values().map(|(networks, _)| *networks as u64).sum()
    }

    /// The answers of a group that is done.
    pub(super) fn answers<T: DeserializeOwned>(&self, phase: u64, group: &Range<usize>) -> Result<Option<Vec<T>>> {
        let Some((networks, answers)) = self.done.get(&(phase, group.start)) else { return Ok(None) };
        let strange = || {
            let place = format!("networks from {} of phase {phase}", group.start);
            let expected = format!("answers of {} networks", group.len());
            fault(&self.path, &place, &format!("answers of {networks}, or of another kind"), &expected).into()
        };
        let answers: Vec<T> = serde_json::from_str(answers).map_err(|_| strange())?;
        if answers.len() == group.len() { Ok(Some(answers)) } else { Err(strange()) }
    }

    /// Keeps the answers of a group.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written, [`Error::Rejected`] for an answer that is not finite, which JSON
    /// does not have.
    pub(super) fn keep<T>(&self, phase: u64, group: &Range<usize>, answers: &[T]) -> Result<()>
    where
        T: Serialize + DeserializeOwned,
    {
        let line = self.line(phase, group, answers)?;
        // A thread that panicked has written its line or a part of it, which no reader believes.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(|source| unwritable(&self.path, source))
    }

    /// Keeps the answers of a group and none that were kept before: for a training that is saved repeatedly, each time
    /// in one step.
    ///
    /// # Errors
    /// Those of [`keep`](Self::keep).
    pub(super) fn keep_alone<T>(&self, phase: u64, group: &Range<usize>, answers: &[T]) -> Result<()>
    where
        T: Serialize + DeserializeOwned,
    {
        let text = self.head.clone() + &self.line(phase, group, answers)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        write_atomically(&self.path, text.as_bytes())?;
        *file = appended(&self.path)?;
        Ok(())
    }

    /// A line of the file.
    fn line<T>(&self, phase: u64, group: &Range<usize>, answers: &[T]) -> Result<String>
    where
        T: Serialize + DeserializeOwned,
    {
        let answers =
            serde_json::to_string(answers).map_err(|error| unwritable(&self.path, io::Error::other(error)))?;
        // Written in its place is `null`, with which the group would be lost when the training is resumed.
        if serde_json::from_str::<Vec<T>>(&answers).is_err() {
            return reject("training", "answers are not finite: training diverged; take a smaller learning rate");
        }
        let head = format!("{phase} {} {}", group.start, group.len());
        let sum = sha256(&format!("{head} {answers}"));
        Ok(format!("{head} {sum} {answers}\n"))
    }
}

/// What a group of networks answers: as a checkpoint keeps it, or as it is made, which is then kept.
///
/// # Errors
/// Those of the work, and of the checkpoint.
pub(super) fn kept_or_made<T: Serialize + DeserializeOwned>(
    checkpoint: Option<&TrainingCheckpoint>,
    phase: u64,
    group: &Range<usize>,
    make: impl FnOnce() -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let Some(checkpoint) = checkpoint else { return make() };
    if let Some(answers) = checkpoint.answers(phase, group)? {
        return Ok(answers);
    }
    let answers = make()?;
    checkpoint.keep(phase, group, &answers)?;
    Ok(answers)
}

/// [`kept_or_made`] of a network that is trained alone; `found` is told of one that was kept.
///
/// # Errors
/// The same.
pub(super) fn one_kept_or_made<T: Serialize + DeserializeOwned>(
    checkpoint: Option<&TrainingCheckpoint>,
    (phase, number): (u64, usize),
    found: impl FnOnce() -> Result<()>,
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let Some(checkpoint) = checkpoint else { return make() };
    let alone = number..number + 1;
    if let Some(answers) = checkpoint.answers(phase, &alone)?.and_then(|mut kept: Vec<T>| kept.pop()) {
        found()?;
        return Ok(answers);
    }
    let answers = make()?;
    checkpoint.keep(phase, &alone, std::slice::from_ref(&answers))?;
    Ok(answers)
}

/// The file, to be written to at its end.
fn appended(path: &Path) -> Result<File> {
    OpenOptions::new().append(true).open(path).map_err(|source| unwritable(path, source))
}

/// The groups in a checkpoint of this work, and how many of its bytes are whole lines.
fn read(path: &Path, bytes: &[u8], work: &str) -> Result<(Groups, usize)> {
    let broken = |place: &str| {
        let error = fault(path, place, "a checkpoint that was changed after it was written", "it as it was written");
        Err(hinted(error, "start over without it"))
    };
    if !bytes.starts_with(MARK.as_bytes()) {
        return Err(fault(path, "whole file", "another kind of file", "a checkpoint of leakbound torch").into());
    }
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let Ok(text) = std::str::from_utf8(&bytes[..complete]) else { return broken("whole file") };
    let mut lines = text.lines();
    let (first, found) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if first != format!("{MARK}, sha256 {}", sha256(found)) {
        return broken("line 1");
    }
    if found != work {
        return Err(other_work(path, found, work));
    }
    let mut done = Groups::new();
    for (number, line) in lines.enumerate() {
        let Some(group) = group(line) else { return broken(&format!("line {}", number + 3)) };
        done.insert((group.0, group.1), (group.2, group.3.to_owned()));
    }
    Ok((done, complete))
}

/// Phase, first network, number of networks and answers.
fn group(line: &str) -> Option<(u64, usize, usize, &str)> {
    let mut words = line.splitn(5, ' ');
    let (phase, first, networks) = (words.next()?, words.next()?, words.next()?);
    let (sum, answers) = (words.next()?, words.next()?);
    let vouched = sum == sha256(&format!("{phase} {first} {networks} {answers}"));
    vouched.then_some((phase.parse().ok()?, first.parse().ok()?, networks.parse().ok()?, answers))
}

/// Which part of the work differs.
fn other_work(path: &Path, found: &str, wanted: &str) -> Error {
    let [found, wanted] = [found, wanted].map(|work| serde_json::from_str::<serde_json::Value>(work).ok());
    let part = |work: &Option<serde_json::Value>, name: &str| {
        work.as_ref().and_then(|work| work.get(name)).map_or_else(|| "nothing".into(), ToString::to_string)
    };
    let names = ["recipe", "version", "device", "data", "plan"];
    let name = names.into_iter().find(|name| part(&found, name) != part(&wanted, name)).unwrap_or("whole file");
    fault(path, name, &part(&found, name), &format!("{}, as requested", part(&wanted, name))).into()
}

fn sha256(text: &str) -> String {
    InputFile::of_bytes("", text.as_bytes()).sha256
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Io { path: path.into(), action: "write", source }
}

fn fault(path: &Path, place: &str, found: &str, expected: &str) -> InputError {
    InputError { file: path.into(), place: place.into(), found: found.into(), expected: expected.into(), hint: None }
}

fn hinted(error: InputError, hint: &str) -> Error {
    InputError { hint: Some(hint.into()), ..error }.into()
}

/// Numbers that are serialized as their bytes (little-endian) in base64: half as long as their digits, and exact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Packed(pub Vec<f32>);

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|number| number.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(D::Error::custom)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(D::Error::custom("bytes that are not numbers of 32 bits"));
        }
        Ok(Self(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path, resume: bool, plan: u32) -> Result<TrainingCheckpoint> {
        TrainingCheckpoint::open(path, resume, "teachers", "CPU", &[], &plan)
    }

    #[test]
    fn groups_that_are_done_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let checkpoint = open(&path, false, 7).unwrap();
        checkpoint.keep(1, &(0..2), &[vec![0.1f32, -2.5], vec![1e-30]]).unwrap();
        checkpoint.keep(2, &(8..9), &[3u8]).unwrap();
        drop(checkpoint);
        // A process that is killed leaves a part of a line.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"2 9 1 0123").unwrap();
        for _ in 0..2 {
            let checkpoint = open(&path, true, 7).unwrap();
            assert_eq!(checkpoint.networks(), 3);
            assert_eq!(checkpoint.answers::<Vec<f32>>(1, &(0..2)).unwrap().unwrap(), [vec![0.1, -2.5], vec![1e-30]]);
            assert_eq!(checkpoint.answers::<u8>(2, &(9..10)).unwrap(), None);
            let error = checkpoint.answers::<u8>(1, &(0..2)).unwrap_err().to_string();
            assert!(error.contains("networks from 0 of phase 1: found answers of 2, or of another kind"), "{error}");
        }
    }

    #[test]
    fn a_group_that_is_kept_alone_replaces_all_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let checkpoint = open(&path, false, 7).unwrap();
        checkpoint.keep(1, &(0..1), &[3u8]).unwrap();
        for step in [4u8, 5] {
            checkpoint.keep_alone(2, &(0..1), &[step]).unwrap();
        }
        checkpoint.keep(3, &(0..1), &[6u8]).unwrap();
        drop(checkpoint);
        let checkpoint = open(&path, true, 7).unwrap();
        let found = [1, 2, 3].map(|phase| checkpoint.answers::<u8>(phase, &(0..1)).unwrap());
        assert_eq!(found, [None, Some(vec![5]), Some(vec![6])]);
        assert!(open(&path, true, 7).is_err(), "it is still locked");
    }

    /// Two processes that append to one file would each cut off what the other one is writing.
    #[test]
    fn one_training_at_a_time_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let first = open(&path, true, 7).unwrap();
        let error = open(&path, true, 7).unwrap_err().to_string();
        assert!(error.contains("a checkpoint that another process is changing"), "{error}");
        drop(first);
        assert!(open(&path, true, 7).is_ok());
    }

    #[test]
    fn answers_that_are_not_finite_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let checkpoint = open(&path, false, 7).unwrap();
        let bytes = fs::read(&path).unwrap();
        for logit in [f32::NAN, f32::INFINITY] {
            let error = checkpoint.keep(1, &(0..1), &[vec![0.5, logit]]).unwrap_err().to_string();
            assert_eq!(error, "training: answers are not finite: training diverged; take a smaller learning rate");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn another_work_or_a_changed_file_is_rejected_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        open(&path, false, 7).unwrap().keep(1, &(0..1), &[5u8]).unwrap();
        let bytes = fs::read(&path).unwrap();
        let rejected = |resume, plan| {
            let text = open(&path, resume, plan).unwrap_err().to_string();
            assert!(!text.contains('\n'), "{text}");
            text
        };
        assert!(rejected(false, 7).contains("hint: --resume continues where it ends; remove it to start over"));
        assert!(rejected(true, 8).ends_with("plan: found 7, expected 8, as requested"));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        for (at, place) in [(3, "whole file: found another kind of file"), (120, "line 1"), (bytes.len() - 3, "line 3")]
        {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            let text = rejected(true, 7);
            assert!(text.contains(place), "{at}: {text}");
        }
    }

    #[test]
    fn numbers_come_back_to_the_last_bit() {
        let packed = Packed(vec![0.1, -0.0, 1e-42, f32::MAX]);
        let text = serde_json::to_string(&packed).unwrap();
        assert_eq!(text.len(), 2 + 24);
        let back: Packed = serde_json::from_str(&text).unwrap();
        let bits = |packed: &Packed| packed.0.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&packed));
        assert!(
            serde_json::from_str::<Packed>("\"AAAA\"").is_err() && serde_json::from_str::<Packed>("\"?\"").is_err()
        );
    }
}
