//! Writes numpy archives.

use super::array_file::Element;
use super::npy_header;
use crate::error::{Error, Result};
use half::f16;
use ndarray::{ArrayBase, Data, Dimension};
use serde::Serialize;
use std::io::{self, Cursor, Write};
use std::path::PathBuf;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Bytes that are written in one piece.
const PIECE: usize = 1 << 16;

/// A numpy archive (.npz) under construction; the same arrays give the same bytes.
///
/// ```
/// # use leakbound::record::{ArrayFile, ArrayWriter};
/// let mut writer = ArrayWriter::new("votes.npz");
/// writer.add("votes", &ndarray::array![[1u8, 2], [3, 4]])?;
/// let mut arrays = ArrayFile::from_bytes("votes.npz", writer.finish()?)?;
/// assert_eq!(arrays.array::<u8, ndarray::Ix2>("votes")?[[1, 0]], 3);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub struct ArrayWriter {
    path: PathBuf,
    method: CompressionMethod,
    writer: ZipWriter<Cursor<Vec<u8>>>,
    written: Vec<WrittenArray>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenArray {
    /// The array's name.
    pub name: String,
    /// Its type of element, such as `u8`.
    pub dtype: &'static str,
    /// Lengths of its axes; none for a scalar.
    pub shape: Vec<usize>,
}

impl ArrayWriter {
    /// An empty archive in memory whose arrays are compressed (deflate); `path` names it in messages.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::by(CompressionMethod::Deflated, path.into())
    }

    /// Likewise, with arrays stored uncompressed: logits hardly get smaller, and a reader can take part of an array
    /// without unpacking the whole.
    #[must_use]
    pub fn stored(path: impl Into<PathBuf>) -> Self {
        Self::by(CompressionMethod::Stored, path.into())
    }

    fn by(method: CompressionMethod, path: PathBuf) -> Self {
        Self { path, method, writer: ZipWriter::new(Cursor::new(Vec::new())), written: Vec::new() }
    }

    /// Adds an array.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be packed.
    pub fn add<T: Element>(
        &mut self,
        name: &str,
        array: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
    ) -> Result<()> {
        self.pack(name, T::NAME, array, |element, bytes| element.encode(bytes))
    }

    /// Adds an array of floats of 16 bits, each the nearest to a number: half as long, with 11 bits of each number.
    ///
    /// ```
    /// # use leakbound::record::{ArrayWriter, MemoryBudget, read_tokens};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("ensemble.npz");
    /// let mut writer = ArrayWriter::stored(&path);
    /// writer.add_half("logits", &ndarray::arr3(&[[[1.0, 0.1], [0.0, -2.0]]]))?;
    /// leakbound::record::write_atomically(&path, &writer.finish()?)?;
    /// let recording = read_tokens(&path, MemoryBudget::default())?;
    /// assert!((recording.position(0)?.members[[0, 1]] - 0.1).abs() < 1e-4);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be packed.
    pub fn add_half(&mut self, name: &str, array: &ArrayBase<impl Data<Elem = f32>, impl Dimension>) -> Result<()> {
        self.pack(name, "f16", array, |number, bytes| bytes.extend(f16::from_f32(number).to_le_bytes()))
    }

    /// Adds an array whose elements become bytes in the order that most machines have.
    fn pack<T: Copy>(
        &mut self,
        name: &str,
        dtype: &'static str,
        array: &ArrayBase<impl Data<Elem = T>, impl Dimension>,
        encode: impl Fn(T, &mut Vec<u8>),
    ) -> Result<()> {
        let (descriptor, width) = npy_header::little_endian(dtype);
        let mut bytes = npy_header::written(&descriptor, false, array.shape());
        let large = bytes.len() as u64 + array.len() as u64 * width >= u64::from(u32::MAX);
        let options = SimpleFileOptions::default().compression_method(self.method).large_file(large);
        let writer = &mut self.writer;
        let mut pack = || -> io::Result<()> {
            writer.start_file(format!("{name}.npy"), options)?;
            for &element in array {
                encode(element, &mut bytes);
                if bytes.len() >= PIECE {
                    writer.write_all(&bytes)?;
                    bytes.clear();
                }
            }
            writer.write_all(&bytes)
        };
        pack().map_err(|error| failed(&self.path, error))?;
        self.written.push(WrittenArray { name: name.into(), dtype, shape: array.shape().to_vec() });
        Ok(())
    }

    /// The arrays so far.
    #[must_use]
    pub fn written(&self) -> &[WrittenArray] {
        &self.written
    }

    /// The bytes of the archive.
    ///
    /// # Errors
    /// [`Error::Io`] if the directory cannot be written.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.writer.finish() {
            Ok(bytes) => Ok(bytes.into_inner()),
            Err(error) => Err(failed(&self.path, error)),
        }
    }
}

fn failed(path: &std::path::Path, error: impl Into<io::Error>) -> Error {
    Error::Io { path: path.to_path_buf(), action: "write", source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::super::array_directory::ArrayDirectory;
    use super::super::budget::{MemoryBudget, Room};
    use super::super::input_file::InputReader;
    use super::*;
    use crate::record::ArrayFile;
    use ndarray::{Array3, Ix0, Ix3, arr0};

    #[test]
    fn arrays_come_back_and_the_bytes_are_the_same_every_time() {
        let votes = Array3::<u8>::from_shape_fn((2, 3, 4), |(a, b, c)| (a * 12 + b * 4 + c) as u8);
        let write = |mut writer: ArrayWriter| {
            writer.add("votes", &votes).unwrap();
            writer.add("seed", &arr0(-3i64)).unwrap();
            assert_eq!(writer.written()[1], WrittenArray { name: "seed".into(), dtype: "i64", shape: vec![] });
            writer.finish().unwrap()
        };
        let [bytes, stored] = [ArrayWriter::new("x.npz"), ArrayWriter::stored("x.npz")].map(write);
        // Times of a zip file have a resolution of two seconds.
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!(bytes, write(ArrayWriter::new("x.npz")));
        assert_eq!(stored, write(ArrayWriter::stored("x.npz")));
        // Day and time of the first member: 1 January 1980, and not today.
        assert_eq!(bytes[10..14], [0, 0, 0x21, 0]);
        // Stored, the votes lie in the archive as they are.
        assert!(stored.windows(24).any(|piece| piece.iter().eq(&votes)));
        for bytes in [bytes, stored] {
            let mut arrays = ArrayFile::from_bytes("x.npz", bytes).unwrap();
            assert_eq!(arrays.array::<u8, Ix3>("votes").unwrap(), votes);
            assert_eq!(arrays.array::<i64, Ix0>("seed").unwrap()[()], -3);
        }
    }

    /// More numbers than are written in one piece.
    #[test]
    fn halves_come_back_rounded() {
        let numbers =
            ndarray::Array2::from_shape_fn((3, 20_000), |(row, column)| (row * 20_000 + column) as f32 * 0.37);
        let mut writer = ArrayWriter::stored("x.npz");
        writer.add_half("numbers", &numbers).unwrap();
        assert_eq!(writer.written()[0], WrittenArray { name: "numbers".into(), dtype: "f16", shape: vec![3, 20_000] });
        let reader = InputReader::of_bytes(writer.finish().unwrap());
        let mut directory = ArrayDirectory::open(std::path::Path::new("x.npz"), &reader).unwrap();
        let mut room = Room::new(MemoryBudget::of_bytes(1 << 20));
        let array = directory.array("numbers", &mut room).unwrap().unwrap();
        let read = array.doubles(0, 0..3).unwrap();
        assert!(read.iter().zip(&numbers).all(|(read, number)| *read == f16::from_f32(*number).to_f64()));
    }
}
