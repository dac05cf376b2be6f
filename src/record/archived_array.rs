//! One array of an archive: one that is not compressed stays where it is.

use super::archive::{Archive, most_bytes};
use super::budget::Room;
use super::fault::{fault, hinted, quoted, shortened};
use super::input_file::InputReader;
use super::npy_array::NpyArray;
use super::trace::StoredArray;
use crate::error::Result;
use std::path::Path;
use zip::CompressionMethod;

/// An archive of which the directory was read.
pub(super) struct OpenArchive<'a> {
    pub(super) path: &'a Path,
    pub(super) reader: &'a InputReader,
    pub(super) archive: Archive,
    pub(super) names: Vec<String>,
    /// The checksums of what stays where it is, to be held against the data before these are used.
    pub(super) sums: Vec<StoredArray>,
}

impl OpenArchive<'_> {
    /// The array of this name, if there is one.
    pub(super) fn array(&mut self, name: &str, room: &mut Room) -> Result<Option<NpyArray>> {
        let Some(index) = self.names.iter().position(|other| other == name) else { return Ok(None) };
        let damaged = |reason: String| {
            let found = format!("data that cannot be unpacked ({})", shortened(&reason, 100));
            let expected = "an array as numpy.savez or savez_compressed writes it";
            hinted(fault(self.path, format!("array {}", quoted(name)), found, expected), "the file may be damaged")
        };
        let entry = self.archive.by_index(index).map_err(|error| damaged(error.to_string()))?;
        let most = most_bytes(&entry);
        if entry.compression() != CompressionMethod::Stored {
            return NpyArray::unpacked(self.path, name, entry, most, room).map(Some);
        }
        // An entry in front of the end of the file: data that are cut off were noticed with the directory.
        let (start, length) = (entry.data_start(), entry.size());
        if length != most || start.checked_add(length).is_none_or(|end| end > self.reader.length()) {
            return Err(damaged("it ends beyond the end of the file".into()).into());
        }
        self.sums.push(StoredArray { name: name.into(), start, length, crc32: entry.crc32() });
        NpyArray::stored(self.path, Some(name), self.reader.again(), start, length).map(Some)
    }
}
