//! The directory of a zip archive, opened with care: a wrong file must be rejected at a glance, without a search.

use super::fault::{fault, hinted, quoted, shortened, unreadable};
use super::input_file::InputReader;
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use zip::read::{ArchiveOffset, Config, ZipFile};
use zip::{CompressionMethod, ZipArchive};

/// The longest comment of a zip archive plus the record in front of it: where the record must be found.
const ZIP_TAIL_BYTES: u64 = u16::MAX as u64 + 22;

/// An archive whose directory has been read.
pub(super) type Archive = ZipArchive<BufReader<InputReader>>;

/// Reads the directory of an archive: the archive and the names of its arrays, in its order.
///
/// Each name must occur once, and the directory must agree with every entry: a damaged name must not hide an array.
pub(super) fn directory(path: &Path, reader: &InputReader) -> Result<(Archive, Vec<String>)> {
    let mut source = BufReader::new(reader.again());
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
    check_entries(path, &mut BufReader::new(reader.again()), &mut archive)?;
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

/// What a byte of a compressed array can unpack to at most.
const DEFLATE_RATIO: u64 = 1032;

/// The most bytes that an entry can unpack to, whatever it declares.
pub(super) fn most_bytes<R: Read>(entry: &ZipFile<'_, R>) -> u64 {
    match entry.compression() {
        CompressionMethod::Stored => entry.compressed_size(),
        _ => entry.size().min(entry.compressed_size().saturating_mul(DEFLATE_RATIO)),
    }
}

/// The fixed part of an entry in the directory, and of the header in front of its data.
const ENTRY_BYTES: usize = 46;
const HEADER_BYTES: usize = 30;

/// Walks through the directory itself: the zip crate keeps the last of several entries of one name, and reads the
/// number stated at the end of the archive.
fn check_entries(path: &Path, source: &mut BufReader<InputReader>, archive: &mut Archive) -> Result<()> {
    let damaged = |found: String| {
        let error = fault(path, "whole file", found, "an archive as numpy.savez or savez_compressed writes it");
        hinted(error, "the file may be damaged")
    };
    let cut = |_| damaged("an archive whose directory cannot be read".into());
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    source.seek(SeekFrom::Start(archive.central_directory_start())).map_err(|error| unreadable(path, error))?;
    let mut entry = [0; ENTRY_BYTES];
    loop {
        source.read_exact(&mut entry[..4]).map_err(cut)?;
        if !entry.starts_with(b"PK\x01\x02") {
            break;
        }
        source.read_exact(&mut entry[4..]).map_err(cut)?;
        let length = |at: usize| usize::from(u16::from_le_bytes([entry[at], entry[at + 1]]));
        let mut name = vec![0; length(28)];
        source.read_exact(&mut name).map_err(cut)?;
        source.seek_relative((length(30) + length(32)) as i64).map_err(cut)?;
        let shown = String::from_utf8_lossy(&name).into_owned();
        if !seen.insert(name) {
            let found = format!("the entry {} a second time", quoted(&shown));
            let error = fault(path, "whole file", found, "each array once");
            return Err(hinted(error, "write the archive again with numpy.savez_compressed").into());
        }
    }
    if !entry.starts_with(b"PK\x05\x06") && !entry.starts_with(b"PK\x06\x06") || seen.len() != archive.len() {
        let found = format!("a directory of {} entries that announces {}", seen.len(), archive.len());
        return Err(damaged(found).into());
    }
    for index in 0..archive.len() {
        let (start, name) = {
            let entry = archive.by_index_raw(index).map_err(|error| damaged(shortened(&error.to_string(), 100)))?;
            (entry.header_start(), entry.name_raw().to_vec())
        };
        let mut header = [0; HEADER_BYTES];
        source.seek(SeekFrom::Start(start)).map_err(|error| unreadable(path, error))?;
        source.read_exact(&mut header).map_err(cut)?;
        let mut own = vec![0; usize::from(u16::from_le_bytes([header[26], header[27]]))];
        source.read_exact(&mut own).map_err(cut)?;
        if own != name {
            let [listed, own] = [&name, &own].map(|name| quoted(&String::from_utf8_lossy(name)));
            return Err(damaged(format!("the entry {own} that the directory calls {listed}")).into());
        }
    }
    Ok(())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
