//! The identity of an input: path, size and SHA-256.

use super::fault::{fault, hinted, unreadable};
use super::memory::{MemoryReader, provided};
use crate::error::Result;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Which file a result was computed from, so that it can be told whether the same file is still there.
///
/// ```
/// # use leakbound::record::InputFile;
/// let input = InputFile::of_bytes("empty.csv", b"");
/// assert_eq!(input.bytes, 0);
/// assert_eq!(input.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputFile {
    /// The path as the user named it; written to JSON with replacement characters where it is not Unicode.
    #[serde(rename = "name", serialize_with = "lossy")]
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
    /// path is a directory.
    pub fn of_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Digested::new(open(path)?).finish(path)
    }
}

fn lossy<S: Serializer>(path: &Path, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An input, in a file or in memory.
pub struct InputReader(Place);

enum Place {
    File(File),
    Memory(MemoryReader),
}

impl InputReader {
    /// Its length in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Place::File(file) => file.metadata().map(|metadata| metadata.len()),
            Place::Memory(reader) => Ok(reader.file.length()),
        }
    }

    /// Fills `into` with the bytes from `offset` on, whatever was read before; threads do not disturb each other.
    pub(super) fn read_exact_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match &self.0 {
            Place::File(file) => read_exact_at(file, offset, into),
            Place::Memory(reader) => reader.file.read_exact_at(offset, into),
        }
    }
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Place::File(file) => file.read(buffer),
            Place::Memory(reader) => reader.read(buffer),
        }
    }
}

impl Seek for InputReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Place::File(file) => file.seek(to),
            Place::Memory(reader) => reader.seek(to),
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

/// Reading moves the one position of a file here, so that threads take turns.
#[cfg(not(unix))]
fn read_exact_at(mut file: &File, offset: u64, into: &mut [u8]) -> io::Result<()> {
    use std::sync::{Mutex, PoisonError};
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(into)
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
/// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) when the path is a
/// directory, which opens well on Unix and fails at the first read.
pub fn open(path: &Path) -> Result<InputReader> {
    if let Some(file) = provided(path) {
        return Ok(InputReader(Place::Memory(MemoryReader { file, position: 0 })));
    }
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    if file.metadata().map_err(|source| unreadable(path, source))?.is_dir() {
        let error = fault(path, "whole file", "a directory", "a file");
        return Err(hinted(error, "name one file inside it").into());
    }
    Ok(InputReader(Place::File(file)))
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

    /// Reads what is left and gives the identity.
    pub(super) fn finish(mut self, path: &Path) -> Result<InputFile> {
        io::copy(&mut self, &mut io::sink()).map_err(|source| unreadable(path, source))?;
        Ok(InputFile { path: path.to_path_buf(), bytes: self.bytes, sha256: hexadecimal(&self.digest.finalize()) })
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
