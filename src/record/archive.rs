//! The directory of a zip archive, opened with care: the wrong file must cost a look, not a search.

use super::fault::{fault, hinted, quoted, shortened, unreadable};
use crate::error::{Error, Result};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;
use zip::read::{ArchiveOffset, Config};

/// The longest comment of a zip archive plus the record in front of it: where the record must be found.
const ZIP_TAIL_BYTES: u64 = u16::MAX as u64 + 22;

/// What an archive can lie in.
pub(super) trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// An archive whose directory has been read.
pub(super) type Archive = ZipArchive<Box<dyn Source>>;

/// Reads the directory of an archive: the archive and the names of its arrays, in its order.
pub(super) fn directory(path: &Path, mut source: Box<dyn Source>) -> Result<(Archive, Vec<String>)> {
    let wanted = "a numpy archive (.npz)";
    let io = |source: io::Error| -> Error { unreadable(path, source) };
    let length = source.seek(SeekFrom::End(0)).map_err(io)?;
    if length == 0 {
        return Err(fault(path, "whole file", "an empty file", wanted).into());
    }
    source.rewind().map_err(io)?;
    let mut start = [0; 6];
    let shown = start.len().min(length as usize);
    source.read_exact(&mut start[..shown]).map_err(io)?;
    if !start.starts_with(b"PK\x03\x04") && !start.starts_with(b"PK\x05\x06") {
        let found = format!("a file that starts with {}", hexadecimal(&start[..shown]));
        let error = fault(path, "whole file", found, wanted);
        return Err(if start.starts_with(b"\x93NUMPY") {
            hinted(error, "this is a single array (.npy); name it with numpy.savez(file, pate_votes=array)")
        } else {
            hinted(error, "write it with numpy.savez_compressed")
        }
        .into());
    }
    // The zip crate looks for the record at the end through the whole file; where it can only be is looked at first.
    let tail = length.min(ZIP_TAIL_BYTES);
    source.seek(SeekFrom::Start(length - tail)).map_err(io)?;
    let mut end = Vec::new();
    source.by_ref().take(tail).read_to_end(&mut end).map_err(io)?;
    if !end.windows(4).any(|window| window == b"PK\x05\x06") {
        let error = fault(path, "whole file", "an archive without its directory", "a complete numpy archive (.npz)");
        return Err(hinted(error, "the file may be cut off").into());
    }
    source.rewind().map_err(io)?;
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut archive = ZipArchive::with_config(config, source).map_err(|error| {
        let found = format!("an archive whose directory cannot be read ({})", shortened(&error.to_string(), 100));
        hinted(fault(path, "whole file", found, wanted), "the file may be cut off or damaged")
    })?;
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| {
            let found = format!("entry {index} that cannot be read ({})", shortened(&error.to_string(), 100));
            fault(path, "whole file", found, wanted)
        })?;
        let name = entry.name();
        let Some(name) = name.strip_suffix(".npy") else {
            return Err(fault(path, "whole file", format!("the entry {}", quoted(name)), "arrays (.npy) only").into());
        };
        names.push(name.to_owned());
    }
    if names.is_empty() {
        return Err(fault(path, "whole file", "an archive without arrays", "at least 1 array").into());
    }
    Ok((archive, names))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
