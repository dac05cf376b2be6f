//! What targets make of bytes: numbers, archives, and files, which take another path through the readers than bytes in memory.

use arbitrary::{Arbitrary, Unstructured};
use leakbound::{Error, Result};
use std::io::{Cursor, Write};
use std::path::Path;
use zip::CompressionMethod;

/// Numbers made of any bytes; none if there are too few.
pub fn typed<'a, T: Arbitrary<'a>>(bytes: &'a [u8]) -> Option<T> {
    if bytes.len() < T::size_hint(0).0 {
        return None;
    }
    T::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// What a reader may take: the fuzzer ends a target that takes 2 GiB.
pub const MEMORY: u64 = 256 << 20;

/// Reads bytes as a file whose name has this ending. A rejection is one line that names the file.
pub fn on_disk<T>(bytes: &[u8], ending: &str, read: impl FnOnce(&Path) -> Result<T>) -> Option<T> {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a file can be made");
    file.write_all(bytes).expect("a file takes every byte");
    accepted(read(file.path()), &file.path().to_string_lossy())
}

/// What was read, if it was: a rejection is one line that starts with the name of the file.
pub fn accepted<T>(read: Result<T>, name: &str) -> Option<T> {
    let rejected = |error: &Error| {
        let text = error.to_string();
        assert!(text.starts_with(name) && !text.contains(char::is_control), "{text:?}");
    };
    read.inspect_err(rejected).ok()
}

/// The archive itself where the bytes start with `P`. Otherwise its arrays, each as index of a name, length in two
/// bytes (little-endian) and content: the checksums of an archive would stop nearly every change. Arrays of an even
/// index of a name are compressed, if the first byte is odd; all are stored otherwise.
pub fn archive(bytes: &[u8], names: &str) -> Vec<u8> {
    if bytes.starts_with(b"P") {
        return bytes.to_vec();
    }
    let Some((&first, rest)) = bytes.split_first() else { return Vec::new() };
    packed(rest, names, |index| {
        if first % 2 == 1 && index.is_multiple_of(2) { CompressionMethod::Deflated } else { CompressionMethod::Stored }
    })
}

/// The archive itself where the bytes start with `P`; otherwise its arrays as in [`archive`], without the first byte and
/// all compressed.
pub fn compressed(bytes: &[u8], names: &str) -> Vec<u8> {
    if bytes.starts_with(b"P") { bytes.to_vec() } else { packed(bytes, names, |_| CompressionMethod::default()) }
}

/// An archive of arrays, each given as index of a name, length in two bytes (little-endian) and content.
fn packed(mut bytes: &[u8], names: &str, method: impl Fn(usize) -> CompressionMethod) -> Vec<u8> {
    let names: Vec<&str> = names.split(' ').collect();
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    while let [name, low, high, rest @ ..] = bytes {
        let (array, after) = rest.split_at(usize::from(u16::from_le_bytes([*low, *high])).min(rest.len()));
        let index = usize::from(*name) % names.len();
        let options = zip::write::SimpleFileOptions::default().compression_method(method(index));
        // A name that comes twice is left out.
        if writer.start_file(format!("{}.npy", names[index]), options).is_ok() {
            writer.write_all(array).expect("memory takes every byte");
        }
        bytes = after;
    }
    writer.finish().expect("memory takes every byte").into_inner()
}
