//! The source of a recording: identity and checksums, through the descriptor that its data come from.

use super::fault::{fault, hinted, quoted, unreadable};
use super::input_file::{Digested, InputFile, InputReader};
use crate::error::Result;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes read in one piece.
const PIECE: usize = 256 << 10;

/// An array stored uncompressed in an archive, with the archive's checksum of it.
#[derive(Debug)]
pub(super) struct StoredArray {
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) crc32: u32,
}

/// A file of a recording.
pub(super) enum Trace {
    /// A file that was read completely.
    Read(InputFile),
    /// A file from which data will be read.
    Open {
        path: PathBuf,
        reader: InputReader,
        /// Arrays not yet checked against their checksums.
        arrays: Vec<StoredArray>,
        /// What was summed so far.
        summed: Mutex<Option<Box<Summed>>>,
        identity: OnceLock<InputFile>,
    },
}

impl Trace {
    pub(super) fn open(path: &Path, reader: InputReader, arrays: Vec<StoredArray>) -> Self {
        Self::Open { path: path.into(), reader, arrays, summed: Mutex::new(None), identity: OnceLock::new() }
    }

    /// Sums the first bytes of a file, `done` of `all` of them, while they are read for other reasons: the system still
    /// has them cached, and another thread has time.
    pub(super) fn follow(&self, done: usize, all: usize) -> Result<()> {
        let Self::Open { path, reader, arrays, summed, identity } = self else { return Ok(()) };
        if identity.get().is_some() || all == 0 {
            return Ok(());
        }
        let until = (u128::from(reader.length()) * done.min(all) as u128 / all as u128) as u64;
        let mut summed = summed.lock().unwrap_or_else(PoisonError::into_inner);
        summed.get_or_insert_with(|| Box::new(Summed::new(reader, arrays))).advance(path, arrays, until)
    }

    /// Checks the arrays against their checksums: before any of their data are used, and in the same pass as the hash.
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
        let (path, reader, arrays, summed, identity) = match self {
            Self::Read(identity) => return Ok(identity),
            Self::Open { path, reader, arrays, summed, identity } => (path, reader, arrays, summed, identity),
        };
        if let Some(identity) = identity.get() {
            return Ok(identity);
        }
        let before = summed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let found = before.map_or_else(|| Summed::new(reader, arrays), |summed| *summed).finish(path, arrays)?;
        Ok(identity.get_or_init(|| found))
    }
}

/// The start of a file, read once: its hash, and the checksums of its arrays.
pub(super) struct Summed {
    source: Digested<InputReader>,
    sums: Vec<crc32fast::Hasher>,
    position: u64,
    buffer: Vec<u8>,
}

impl Summed {
    fn new(reader: &InputReader, arrays: &[StoredArray]) -> Self {
        let sums = vec![crc32fast::Hasher::new(); arrays.len()];
        Self { source: Digested::new(reader.again()), sums, position: 0, buffer: vec![0; PIECE] }
    }

    /// Reads on until this byte, or until the end.
    fn advance(&mut self, path: &Path, arrays: &[StoredArray], until: u64) -> Result<()> {
        while self.position < until {
            let most = (until - self.position).min(PIECE as u64) as usize;
            let read = match self.source.read(&mut self.buffer[..most]) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(path, error)),
            };
            let end = self.position + read as u64;
            for (array, sum) in arrays.iter().zip(&mut self.sums) {
                // What of the array lies among these bytes.
                let from = array.start.clamp(self.position, end) - self.position;
                let to = (array.start + array.length).clamp(self.position, end) - self.position;
                sum.update(&self.buffer[from as usize..to as usize]);
            }
            self.position = end;
        }
        Ok(())
    }

    /// The identity of the file, if every array fits its checksum.
    fn finish(mut self, path: &Path, arrays: &[StoredArray]) -> Result<InputFile> {
        self.advance(path, arrays, u64::MAX)?;
        for (array, sum) in arrays.iter().zip(self.sums) {
            if sum.finalize() != array.crc32 {
                let place = format!("array {}", quoted(&array.name));
                let found = "data that do not fit the checksum of the archive";
                let error = fault(path, place, found, "an array as numpy.savez or savez_compressed writes it");
                return Err(hinted(error, "the file may be damaged").into());
            }
        }
        self.source.finish_unchanged(path)
    }
}
