//! The identity of an input: path, size and SHA-256.

use super::fault::{fault, hinted, unreadable};
use super::memory::{MemoryFile, provided};
use crate::error::{Error, Result};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Which file a result was computed from, to check later whether the file is unchanged.
///
/// ```
/// # use leakbound::record::InputFile;
/// let input = InputFile::of_bytes("empty.csv", b"");
/// assert_eq!(input.bytes, 0);
/// assert_eq!(input.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputFile {
    /// The path as the user named it; written to JSON with replacement characters if it is not Unicode.
    #[serde(rename = "name", serialize_with = "lossy")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub path: PathBuf,
    /// Size in bytes.
    #[serde(rename = "size")]
    pub bytes: u64,
    /// SHA-256 of the content, 64 lower-case hexadecimal digits.
    pub sha256: String,
}

impl InputFile {
    /// The identity of bytes that are already in memory.
    #[must_use]
    pub fn of_bytes(path: impl Into<PathBuf>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.len() as u64, sha256: hexadecimal(&Sha256::digest(bytes)) }
    }

    /// The identity of a file, read once from start to end in small pieces.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) when the
    /// path is a directory, and when the file changes while it is read.
    pub fn of_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Digested::new(open(path)?).finish_unchanged(path)
    }
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An input, in a file or in memory, with its own position: readers of one input do not disturb each other.
///
/// An input is always read through one descriptor, so replacing the file under the same name meanwhile changes neither
/// data nor hash; [`check_unchanged`](Self::check_unchanged) detects overwriting.
pub struct InputReader {
    place: Place,
    position: u64,
    /// The bytes of a pipe that were peeked at and not read yet.
    peeked: Vec<u8>,
}

#[derive(Clone)]
enum Place {
    /// A file that is read at any place, and its state when it was opened.
    File(Arc<File>, Stamp),
    /// A pipe or device, which is read once from front to back.
    Pipe(Arc<File>),
    Memory(MemoryFile),
}

/// The state of an open file, which another one is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl InputReader {
    const fn at(place: Place, position: u64) -> Self {
        Self { place, position, peeked: Vec::new() }
    }

    /// Whether it is read once, from front to back.
    #[must_use]
    pub const fn is_pipe(&self) -> bool {
        matches!(self.place, Place::Pipe(_))
    }

    /// The next bytes, which stay there to be read.
    pub(super) fn peek(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.is_pipe() {
            self.by_ref().take(length as u64).read_to_end(&mut bytes)?;
            self.peeked.splice(0..0, bytes.iter().copied());
        } else {
            Self::at(self.place.clone(), self.position).take(length as u64).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Bytes that are in memory.
    pub(super) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self::at(Place::Memory(MemoryFile::of_bytes(bytes)), 0)
    }

    /// Its length in bytes when it was opened; 0 of a pipe.
    pub(super) fn length(&self) -> u64 {
        match &self.place {
            Place::File(_, stamp) => stamp.length,
            Place::Pipe(_) => 0,
            Place::Memory(file) => file.length(),
        }
    }

    /// The same input from its start, through the same descriptor. A pipe does not give again what it has given.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::at(self.place.clone(), 0)
    }

    /// Rejects an input that was written to since it was opened: results would not belong to any one state of it.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if length or time of modification are others than at the start, and
    /// [`Error::Io`](crate::Error::Io) when the system does not tell. `path` names the file.
    pub fn check_unchanged(&self, path: &Path) -> Result<()> {
        let Place::File(file, before) = &self.place else { return Ok(()) };
        let now = Stamp::of(&file.metadata().map_err(|source| unreadable(path, source))?);
        if now == *before {
            return Ok(());
        }
        Err(changed(path))
    }

    /// The identity of the whole input, read through the same descriptor.
    ///
    /// # Errors
    /// As [`check_unchanged`](Self::check_unchanged).
    pub fn identity(&self, path: &Path) -> Result<InputFile> {
        Digested::new(self.again()).finish_unchanged(path)
    }

    /// The identity of an input that may have grown since it was opened, read through the same descriptor.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if its first `bytes` bytes, which were read before, have another SHA-256,
    /// and [`Error::Io`](crate::Error::Io) when it cannot be read.
    pub fn identity_with_start(&self, path: &Path, bytes: u64, sha256: &str) -> Result<InputFile> {
        let mut source = Digested::new(self.again());
        io::copy(&mut source.by_ref().take(bytes), &mut io::sink()).map_err(|source| unreadable(path, source))?;
        if source.bytes != bytes || hexadecimal(&source.digest.clone().finalize()) != sha256 {
            return Err(changed(path));
        }
        source.finish(path)
    }

    /// Rejects an input whose start differs from what was read of it; it may have grown.
    ///
    /// # Errors
    /// As [`identity_with_start`](Self::identity_with_start).
    pub fn check_start(&self, path: &Path, read: &InputFile) -> Result<()> {
        if self.check_unchanged(path).is_ok() {
            return Ok(());
        }
        self.identity_with_start(path, read.bytes, &read.sha256).map(drop)
    }

    /// Fills `into` with the bytes from `offset` on, whatever was read before.
    pub(super) fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        Self::at(self.place.clone(), offset).read_exact(into)
    }
}

fn changed(path: &Path) -> Error {
    let error = fault(path, "whole file", "a file that changed while it was read", "the same file until the end");
    hinted(error, "wait until it is written, and run the command again").into()
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.peeked.is_empty() {
            let length = self.peeked.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.peeked[..length]);
            self.peeked.drain(..length);
            return Ok(length);
        }
        let read = match &self.place {
            Place::File(file, _) => read_at(file, self.position, buffer)?,
            Place::Pipe(file) => (&**file).read(buffer)?,
            Place::Memory(file) => file.read_at(self.position, buffer),
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for InputReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if matches!(self.place, Place::Pipe(_)) {
            return Err(io::ErrorKind::NotSeekable.into());
        }
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.length().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, offset)
}

/// Reading moves the one position of a file here, so threads take turns.
#[cfg(not(unix))]
fn read_at(mut file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    use std::sync::{Mutex, PoisonError};
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read(into)
}

/// What a path is, in memory or on a disk.
pub(super) enum PathKind {
    File,
    Folder,
    /// Something that is read once and from front to back.
    Other,
}

/// Asks before opening, which waits for the other end of a pipe.
pub(super) fn kind(path: &Path) -> Result<PathKind> {
    if provided(path).is_some() {
        return Ok(PathKind::File);
    }
    let metadata = fs::metadata(path).map_err(|source| unreadable(path, source))?;
    Ok(if metadata.is_dir() {
        PathKind::Folder
    } else if metadata.is_file() {
        PathKind::File
    } else {
        PathKind::Other
    })
}

/// Opens an input for reading: one that is in memory (`MemoryFiles`), or else a file.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) when the path is
/// a directory, which opens well on Unix and fails at the first read.
pub fn open(path: &Path) -> Result<InputReader> {
    if let Some(file) = provided(path) {
        return Ok(InputReader::at(Place::Memory(file), 0));
    }
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    let metadata = file.metadata().map_err(|source| unreadable(path, source))?;
    if metadata.is_dir() {
        let error = fault(path, "whole file", "a directory", "a file");
        return Err(hinted(error, "name one file inside it").into());
    }
    let place = match metadata.is_file() {
        true => Place::File(Arc::new(file), Stamp::of(&metadata)),
        false => Place::Pipe(Arc::new(file)),
    };
    Ok(InputReader::at(place, 0))
}

/// The bytes of an input, up to `most`; one more if the input is larger, which tells the caller that it is.
pub(super) fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>> {
    let (mut reader, mut bytes) = (open(path)?, Vec::new());
    reader.by_ref().take(most + 1).read_to_end(&mut bytes).map_err(|source| unreadable(path, source))?;
    reader.check_unchanged(path)?;
    Ok(bytes)
}

/// Opens an input that is read at several places: pipes and devices are rejected without waiting for them.
pub(super) fn open_file(path: &Path, expected: &str) -> Result<InputReader> {
    match kind(path)? {
        PathKind::Other => Err(pipe(path, expected)),
        PathKind::File | PathKind::Folder => open(path),
    }
}

/// The error for a pipe instead of a file.
pub(super) fn pipe(path: &Path, expected: &str) -> Error {
    let error = fault(path, "whole file", "a pipe or device", expected);
    hinted(error, "it is read at several places; save it as a file first").into()
}

/// A reader that hashes what passes through it, so that a large file is read once and garbage is not hashed at all.
pub(super) struct Digested<R> {
    inner: R,
    digest: Sha256,
    bytes: u64,
}

impl<R: Read> Digested<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, digest: Sha256::new(), bytes: 0 }
    }

    /// What is read.
    pub(super) const fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Reads what is left and gives the identity.
    pub(super) fn finish(mut self, path: &Path) -> Result<InputFile> {
        io::copy(&mut self, &mut io::sink()).map_err(|source| unreadable(path, source))?;
        Ok(InputFile { path: path.to_path_buf(), bytes: self.bytes, sha256: hexadecimal(&self.digest.finalize()) })
    }
}

impl Digested<InputReader> {
    /// The same; rejects an input that changed meanwhile.
    pub(super) fn finish_unchanged(mut self, path: &Path) -> Result<InputFile> {
        io::copy(&mut self, &mut io::sink()).map_err(|source| unreadable(path, source))?;
        self.inner.check_unchanged(path)?;
        self.finish(path)
    }
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.digest.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_read_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let mut source = Digested::new(open(&path).unwrap());
        source.read_exact(&mut [0]).unwrap();
        std::fs::write(&path, "abcd").unwrap();
        let error = source.finish_unchanged(&path).unwrap_err().to_string();
        assert!(error.contains("found a file that changed while it was read"), "{error}");
        // Another file under the same name does not concern this one.
        let reader = open(&path).unwrap();
        std::fs::write(folder.path().join("b"), "other").unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        assert_eq!(reader.identity(&path).unwrap(), InputFile::of_bytes(&path, b"abcd"));
    }

    #[test]
    fn a_file_may_grow_and_keeps_its_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let read = InputFile::of_bytes(&path, b"abc");
        let reader = open(&path).unwrap();
        reader.check_start(&path, &read).unwrap();
        std::fs::write(&path, "abcd").unwrap();
        reader.check_start(&path, &read).unwrap();
        let grown = reader.identity_with_start(&path, 3, &read.sha256).unwrap();
        assert_eq!(grown, InputFile::of_bytes(&path, b"abcd"));
        for other in ["axcde", "ab"] {
            std::fs::write(&path, other).unwrap();
            let error = reader.check_start(&path, &read).unwrap_err().to_string();
            assert!(error.contains("found a file that changed while it was read"), "{other}: {error}");
            assert_eq!(reader.identity_with_start(&path, 3, &read.sha256).unwrap_err().to_string(), error);
        }
        // Another file under the same name changes nothing.
        std::fs::write(folder.path().join("b"), "other").unwrap();
        let reader = open(&path).unwrap();
        std::fs::rename(folder.path().join("b"), &path).unwrap();
        let read = InputFile::of_bytes(&path, b"ab");
        assert_eq!(reader.identity_with_start(&path, 2, &read.sha256).unwrap(), read);
    }

    #[test]
    fn what_is_looked_at_is_read_again() {
        let mut reader = InputReader::of_bytes(b"abcdef".to_vec());
        assert_eq!(reader.peek(4).unwrap(), b"abcd");
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, "abcdef");
    }

    #[test]
    fn a_file_and_its_bytes_have_the_same_identity() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let input = InputFile::of_file(&path).unwrap();
        assert_eq!(input, InputFile::of_bytes(&path, b"abc"));
        // FIPS 180-2, appendix B.1.
        assert_eq!(input.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(InputFile::of_file(folder.path()).is_err());
    }
}
