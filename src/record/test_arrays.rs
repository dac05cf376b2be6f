//! Archives of arrays for tests.

use ndarray::{Array, Dimension};
use ndarray_npy::{NpzWriter, WritableElement};
use std::io::Cursor;

type Writer = NpzWriter<Cursor<Vec<u8>>>;

/// An array of any element type and any number of axes.
pub(crate) trait AnyArray {
    fn write(&self, writer: &mut Writer, name: &str);
}

impl<A: WritableElement, D: Dimension> AnyArray for Array<A, D> {
    fn write(&self, writer: &mut Writer, name: &str) {
        writer.add_array(name, self).unwrap();
    }
}

/// Arrays with their names.
pub(crate) type Named<'a> = [(&'a str, &'a dyn AnyArray)];

/// The bytes of an archive that is not compressed.
pub(crate) fn npz(arrays: &Named<'_>) -> Vec<u8> {
    archive(arrays, false)
}

/// The bytes of an archive.
pub(crate) fn archive(arrays: &Named<'_>, compressed: bool) -> Vec<u8> {
    let bytes = Cursor::new(Vec::new());
    let mut writer = if compressed { NpzWriter::new_compressed(bytes) } else { NpzWriter::new(bytes) };
    arrays.iter().for_each(|(name, array)| array.write(&mut writer, name));
    writer.finish().unwrap().into_inner()
}
