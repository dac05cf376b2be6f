//! Numpy files as a recording program writes them.

use ndarray_npy::{NpzWriter, WriteNpyExt};
use std::io::Cursor;

/// Takes the arrays of an archive.
pub type Writer = NpzWriter<Cursor<Vec<u8>>>;

/// The bytes of an archive whose arrays are stored as they are.
pub fn archive(add: impl FnOnce(&mut Writer)) -> Vec<u8> {
    packed(false, add)
}

/// The bytes of an archive whose arrays are compressed, or stored as they are.
pub fn packed(compressed: bool, add: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let cursor = Cursor::new(Vec::new());
    let mut writer = if compressed { NpzWriter::new_compressed(cursor) } else { NpzWriter::new(cursor) };
    add(&mut writer);
    writer.finish().unwrap().into_inner()
}

/// The bytes of a file of one array.
pub fn npy(array: &impl WriteNpyExt) -> Vec<u8> {
    let mut bytes = Vec::new();
    array.write_npy(&mut bytes).unwrap();
    bytes
}
