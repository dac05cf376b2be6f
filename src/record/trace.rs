//! What a recording was read from: identity and checksums, through the descriptor that its data come from.

use super::fault::{fault, hinted, quoted, unreadable};
use super::input_file::{Digested, InputFile, InputReader};
use crate::error::Result;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes read at once.
const PIECE: usize = 256 << 10;

/// An array that lies uncompressed in an archive, with the checksum that the archive has of it.
#[derive(Debug)]
pub(super) struct StoredArray {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) crc32: u32,
}

/// A file of a recording.
pub(super) enum Trace {
    /// One of which everything has been read.
    Read(InputFile),
    /// One from which data will be read.
    Open {
        path: PathBuf,
        reader: InputReader,
        /// Arrays that nobody has held against their checksums.
        arrays: Vec<StoredArray>,
        identity: OnceLock<InputFile>,
    },
}

impl Trace {
    pub(super) fn open(path: &Path, reader: InputReader, arrays: Vec<StoredArray>) -> Self {
        Self::Open { path: path.into(), reader, arrays, identity: OnceLock::new() }
    }

    /// Holds the arrays against their checksums: before any of their data are used, and in the same pass as the hash.
    pub(super) fn check_sums(&self) -> Result<()> {
        match self {
            Self::Open { arrays, .. } if !arrays.is_empty() => self.identity().map(|_| ()),
            _ => Ok(()),
        }
    }

    /// The identity of the file that was read, which must be the same until now.
    pub(super) fn input(&self) -> Result<InputFile> {
        let identity = self.identity()?.clone();
        if let Self::Open { path, reader, .. } = self {
            reader.check_unchanged(path)?;
        }
        Ok(identity)
    }

    fn identity(&self) -> Result<&InputFile> {
        let (path, reader, arrays, identity) = match self {
            Self::Read(identity) => return Ok(identity),
            Self::Open { path, reader, arrays, identity } => (path, reader, arrays, identity),
        };
        match identity.get() {
            Some(identity) => Ok(identity),
            None => {
                let found = summed(path, reader, arrays)?;
                Ok(identity.get_or_init(|| found))
            }
        }
    }
}

/// Reads a file once: its identity, if every array fits its checksum.
fn summed(path: &Path, reader: &InputReader, arrays: &[StoredArray]) -> Result<InputFile> {
    let mut source = Digested::new(reader.again());
    let mut sums = vec![crc32fast::Hasher::new(); arrays.len()];
    let mut buffer = vec![0; PIECE];
    let mut position = 0u64;
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(path, error)),
        };
        for (array, sum) in arrays.iter().zip(&mut sums) {
            // What of the array lies among these bytes.
            let start = array.start.clamp(position, position + read as u64) - position;
            let end = (array.start + array.length).clamp(position, position + read as u64) - position;
            sum.update(&buffer[start as usize..end as usize]);
        }
        position += read as u64;
    }
    for (array, sum) in arrays.iter().zip(sums) {
        if sum.finalize() != array.crc32 {
            let place = format!("array {}", quoted(&array.name));
            let found = "data that do not fit the checksum of the archive";
            let error = fault(path, place, found, "an array as numpy.savez or savez_compressed writes it");
            return Err(hinted(error, "the file may be damaged").into());
        }
    }
    source.finish_unchanged(path)
}
