//! Parts of an input, as the decoder asks for them.

use super::super::input_file::InputReader;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Seek, SeekFrom};

/// An input that is read at any place.
pub(super) struct Source(pub(super) InputReader);

impl Length for Source {
    fn len(&self) -> u64 {
        self.0.length()
    }
}

impl ChunkReader for Source {
    type T = BufReader<InputReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.0.again();
        reader.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(reader))
    }

    /// What a damaged file asks for may be longer than the file.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.0.length()) {
            return Err(ParquetError::EOF(format!("{length} bytes at byte {start}, beyond the end")));
        }
        let mut bytes = vec![0; length];
        self.0.read_exact_at(start, &mut bytes)?;
        Ok(bytes.into())
    }
}
