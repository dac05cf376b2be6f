//! Numpy files as a recording program writes them.

use ndarray::{ArrayBase, Data, Dimension};
use ndarray_npy::{NpzWriter, WritableElement, WriteNpyExt};
use std::io::Cursor;

/// An array of an archive, of any kind of number and of any shape.
pub trait Stored {
    /// Adds the array under this name.
    fn add(&self, writer: &mut NpzWriter<Cursor<Vec<u8>>>, name: &str);
}

impl<S: Data<Elem: WritableElement>, D: Dimension> Stored for ArrayBase<S, D> {
    fn add(&self, writer: &mut NpzWriter<Cursor<Vec<u8>>>, name: &str) {
        writer.add_array(name, self).unwrap();
    }
}

/// The arrays of an archive, in order, with their names.
pub type Arrays<'a> = [(&'a str, &'a dyn Stored)];

/// The bytes of an archive whose arrays are stored as they are.
pub fn archive(arrays: &Arrays<'_>) -> Vec<u8> {
    packed(false, arrays)
}

/// The bytes of an archive whose arrays are compressed, or stored as they are.
pub fn packed(compressed: bool, arrays: &Arrays<'_>) -> Vec<u8> {
    let cursor = Cursor::new(Vec::new());
    let mut writer = if compressed { NpzWriter::new_compressed(cursor) } else { NpzWriter::new(cursor) };
    arrays.iter().for_each(|(name, array)| array.add(&mut writer, name));
    writer.finish().unwrap().into_inner()
}

/// The bytes of a file of one array.
pub fn npy(array: &impl WriteNpyExt) -> Vec<u8> {
    let mut bytes = Vec::new();
    array.write_npy(&mut bytes).unwrap();
    bytes
}
