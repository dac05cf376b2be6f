//! Arrays of an archive that are read in pieces: uncompressed arrays stay in the file.

use super::archive::{Archive, directory, most_bytes};
use super::budget::Room;
use super::fault::{fault, listed, quoted, unpackable};
use super::input_file::InputReader;
use super::npy_array::NpyArray;
use super::npy_header::AS_WRITTEN;
use super::trace::{StoredArray, Trace};
use crate::error::{InputError, Result};
use std::fmt::Display;
use std::path::Path;
use zip::CompressionMethod;

/// An archive whose arrays are opened one by one.
pub(super) struct ArrayDirectory<'a> {
    path: &'a Path,
    reader: &'a InputReader,
    archive: Archive,
    names: Vec<String>,
    /// For the arrays that stay in the file.
    sums: Vec<StoredArray>,
}

impl<'a> ArrayDirectory<'a> {
    pub(super) fn open(path: &'a Path, reader: &'a InputReader) -> Result<Self> {
        let (archive, names) = directory(path, reader)?;
        Ok(Self { path, reader, archive, names, sums: Vec::new() })
    }

    /// An array, if there is one of this name. One that is not compressed is read later, and its checksum taken along.
    pub(super) fn array(&mut self, name: &str, room: &mut Room) -> Result<Option<NpyArray>> {
        let Some(index) = self.names.iter().position(|other| other == name) else { return Ok(None) };
        let path = self.path;
        let damaged = |reason: &dyn Display| unpackable(path, format!("array {}", quoted(name)), reason, AS_WRITTEN);
        let entry = self.archive.by_index(index).map_err(|error| damaged(&error))?;
        let most = most_bytes(&entry);
        if entry.compression() != CompressionMethod::Stored {
            return NpyArray::unpacked(path, name, entry, most, room).map(Some);
        }
        // An entry in front of the end of the file: data that are cut off were noticed with the directory.
        let (start, length) = (entry.data_start(), entry.size());
        if length != most || start.checked_add(length).is_none_or(|end| end > self.reader.length()) {
            return Err(damaged(&"it ends beyond the end of the file").into());
        }
        self.sums.push(StoredArray { name: name.into(), start, length, crc32: entry.crc32() });
        NpyArray::stored(path, Some(name), self.reader.again(), start, length).map(Some)
    }

    /// The names of all arrays.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The error for an archive without an array.
    pub(super) fn missing(&self, expected: &str) -> InputError {
        fault(self.path, "whole file", format!("arrays {}", listed(&self.names)), expected)
    }

    /// The trace of the file, once the opened arrays are checked against their checksums.
    pub(super) fn checked(self) -> Result<Trace> {
        let trace = Trace::open(self.path, self.reader.again(), self.sums);
        trace.check_sums()?;
        Ok(trace)
    }
}
