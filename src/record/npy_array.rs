//! One numpy array that stays in its file, or unpacked in memory, and is decoded piece by piece.

use super::budget::{Room, reserve};
use super::fault::{fault, hinted, quoted, shortened, unpackable, unreadable};
use super::input_file::{InputReader, open_file};
use super::npy_header::{AS_WRITTEN, HeaderProblem, NpyHeader};
use crate::error::{Error, InputError, Result};
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn, ShapeBuilder};
use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bytes read in one piece if an array is decoded whole.
const PIECE: usize = 1 << 17;
/// Numbers in half precision that are converted together.
const HALVES: usize = 1024;

/// Where the data of an array are.
enum Data {
    Memory(Vec<u8>),
    /// From this offset of an input on.
    Input(InputReader, u64),
}

/// An array whose header was read and whose length of data was checked.
pub(super) struct NpyArray {
    pub(super) path: PathBuf,
    /// Its name in messages: that of an array of an archive; none for a file.
    name: Option<String>,
    header: NpyHeader,
    data: Data,
}

/// What was expected instead of a whole number, and a hint.
pub(super) type Misfit = (String, Option<&'static str>);

/// Some of an array, in the precision that keeps it.
pub(super) enum Piece {
    Single(ArrayD<f32>),
    Double(ArrayD<f64>),
}

impl NpyArray {
    /// Opens a file (.npy), and also returns it; the data are read when they are requested.
    pub(super) fn open(path: &Path) -> Result<(Self, InputReader)> {
        let file = open_file(path, "a numpy array (.npy)")?;
        Ok((Self::stored(path, None, file.again(), 0, file.length())?, file))
    }

    /// An array stored uncompressed in `length` bytes of a file.
    pub(super) fn stored(path: &Path, name: Option<&str>, file: InputReader, start: u64, length: u64) -> Result<Self> {
        let mut reader = At { file: &file, offset: start, left: length };
        let header = read_header(path, name, &mut reader)?;
        let data = Data::Input(file, start + header.bytes);
        let array = Self { path: path.to_path_buf(), name: name.map(Into::into), header, data };
        let found = length - array.header.bytes;
        let expected = array.data_bytes()?;
        if found != expected {
            return Err(array.wrong_length(found > expected, expected).into());
        }
        Ok(array)
    }

    /// Unpacks an array into memory; the archive checks its checksum. `most` is the most that the reader can give, so
    /// that a header cannot reserve more.
    pub(super) fn unpacked(path: &Path, name: &str, mut reader: impl Read, most: u64, room: &mut Room) -> Result<Self> {
        let header = read_header(path, Some(name), &mut reader)?;
        let mut array =
            Self { path: path.to_path_buf(), name: Some(name.into()), header, data: Data::Memory(Vec::new()) };
        let expected = array.data_bytes()?;
        if array.header.bytes.saturating_add(expected) > most {
            return Err(array.wrong_length(false, expected).into());
        }
        let mut bytes: Vec<u8> = room.vector(expected, |found, expected| {
            hinted(array.at(found, expected), "numpy.save or savez write it so that it is read in pieces")
        })?;
        let read = reader.by_ref().take(expected).read_to_end(&mut bytes);
        let more = read.and_then(|_| reader.read(&mut [0]));
        match more {
            Err(error) => Err(unpackable(path, array.place(), &error, AS_WRITTEN).into()),
            Ok(more) if more > 0 || bytes.len() as u64 != expected => {
                Err(array.wrong_length(more > 0, expected).into())
            }
            Ok(_) => {
                array.data = Data::Memory(bytes);
                Ok(array)
            }
        }
    }

    /// An array in a part of a file of another format, from an offset and of a length, of a dtype in numpy's notation.
    pub(super) fn of_span(
        path: &Path,
        name: &str,
        file: InputReader,
        (start, length): (u64, u64),
        descriptor: &str,
        shape: Vec<u64>,
    ) -> Result<Self> {
        let header = NpyHeader { descriptor: descriptor.into(), shape, fortran: false, bytes: 0 };
        let array = Self { path: path.to_path_buf(), name: Some(name.into()), header, data: Data::Input(file, start) };
        let expected = array.data_bytes()?;
        if length != expected {
            return Err(array.wrong_length(length > expected, expected).into());
        }
        Ok(array)
    }

    /// An array of doubles made here.
    pub(super) fn of_doubles(path: &Path, name: &str, shape: &[usize], values: &[f64]) -> Self {
        Self::of_bytes(path, name, "<f8", shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// An array in C order whose bytes, of a dtype in numpy's notation, were made here.
    pub(super) fn of_bytes(path: &Path, name: &str, descriptor: &str, shape: &[usize], bytes: Vec<u8>) -> Self {
        let shape = shape.iter().map(|&length| length as u64).collect();
        let header = NpyHeader { descriptor: descriptor.into(), shape, fortran: false, bytes: 0 };
        Self { path: path.to_path_buf(), name: Some(name.into()), header, data: Data::Memory(bytes) }
    }

    fn data_bytes(&self) -> Result<u64> {
        if let Some(axis) = self.header.shape.iter().position(|&length| length == 0) {
            let found = format!("shape {:?}", self.header.shape);
            return Err(self.at(found, format!("at least 1 entry on axis {axis}")).into());
        }
        let width = self.header.element_bytes().ok_or_else(|| {
            let found = format!("dtype {}", quoted(self.header.dtype()));
            Error::from(self.at(found, "an array of numbers or truth values"))
        })?;
        self.header.elements().and_then(|elements| elements.checked_mul(width)).filter(|&n| n < 1 << 62).ok_or_else(
            || {
                let found = format!("shape {:?}", self.header.shape);
                Error::from(self.at(found, "an array of fewer than 2^62 bytes"))
            },
        )
    }

    fn wrong_length(&self, more: bool, expected: u64) -> InputError {
        let expected = format!("{expected} bytes of data for shape {:?}", self.header.shape);
        if more {
            self.at("more data", expected)
        } else {
            hinted(self.at("less data", expected), "the file may be cut off")
        }
    }

    fn place(&self) -> String {
        self.name.as_ref().map_or("whole file".into(), |name| format!("array {}", quoted(name)))
    }

    /// An error of the array as a whole.
    pub(super) fn at(&self, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.path, self.place(), found, expected)
    }

    /// An error of one element.
    pub(super) fn at_index(
        &self,
        index: &[impl Debug],
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        let place = match &self.name {
            Some(name) => format!("array {}, index {index:?}", quoted(name)),
            None => format!("index {index:?}"),
        };
        fault(&self.path, place, found, expected)
    }

    pub(super) fn shape(&self) -> Vec<usize> {
        self.header.shape.iter().map(|&length| length as usize).collect()
    }

    /// Rejects an array of anything but floats.
    pub(super) fn check_floats(&self) -> Result<()> {
        match self.header.dtype() {
            "f16" | "f32" | "f64" => Ok(()),
            other => {
                let error = self.at(format!("dtype {}", quoted(other)), "dtype `f16`, `f32` or `f64`");
                Err(hinted(error, "numpy converts with .astype(numpy.float32)").into())
            }
        }
    }

    /// Whether its numbers have half precision.
    pub(super) fn is_half(&self) -> bool {
        matches!(self.header.dtype(), "f16" | "bf16")
    }

    /// Rejects an array whose entries of the first axis cannot be read as doubles one by one.
    pub(super) fn check_positions(&self) -> Result<()> {
        self.check_c_order()?;
        if self.header.dtype() == "bf16" { Ok(()) } else { self.check_floats() }
    }

    fn check_c_order(&self) -> Result<()> {
        if self.header.fortran {
            let error = self.at("an array in Fortran order", "an array in C order");
            return Err(hinted(error, "numpy converts with numpy.ascontiguousarray").into());
        }
        Ok(())
    }

    /// The entries `range` of one axis, of floats.
    pub(super) fn piece(&self, axis: usize, range: Range<usize>) -> Result<Piece> {
        let bytes = self.raw(axis, range.clone())?;
        let little = !self.header.descriptor.starts_with('>');
        Ok(match self.header.dtype() {
            "f64" => {
                let decode = if little { f64::from_le_bytes } else { f64::from_be_bytes };
                Piece::Double(self.shaped(axis, range, decoded(&bytes, decode))?)
            }
            "f16" => {
                let decode = if little { f16::from_le_bytes } else { f16::from_be_bytes };
                Piece::Single(self.shaped(axis, range, decoded(&bytes, |bytes| decode(bytes).to_f32()))?)
            }
            _ => {
                let decode = if little { f32::from_le_bytes } else { f32::from_be_bytes };
                Piece::Single(self.shaped(axis, range, decoded(&bytes, decode))?)
            }
        })
    }

    /// The entries `range` of one axis as doubles, of floats: the bytes come in pieces, so they are never all in memory
    /// together with all of the numbers.
    pub(super) fn doubles(&self, axis: usize, range: Range<usize>) -> Result<ArrayD<f64>> {
        let (runs, stride, inner) = self.runs(axis);
        let length = range.len() * inner;
        let width = self.header.element_bytes().unwrap_or(1) as usize;
        let mut values = Vec::new();
        reserve(&mut values, (runs * length / width.max(1)) as u64, |found, expected| self.at(found, expected))?;
        let mut buffer = vec![0; length.min(PIECE)];
        for run in 0..runs {
            let start = (run * stride + range.start * inner) as u64;
            for offset in (0..length).step_by(PIECE) {
                let bytes = &mut buffer[..PIECE.min(length - offset)];
                self.read(start + offset as u64, bytes)?;
                self.decode_doubles(bytes, &mut values);
            }
        }
        self.shaped(axis, range, values)
    }

    fn decode_doubles(&self, bytes: &[u8], values: &mut Vec<f64>) {
        match (self.header.dtype(), self.header.descriptor.starts_with('>')) {
            ("f64", false) => values.extend(decode(bytes, f64::from_le_bytes)),
            ("f64", true) => values.extend(decode(bytes, f64::from_be_bytes)),
            ("f16", false) => {
                // By vector instructions, if the machine has them.
                let (mut bits, mut numbers) = ([0; HALVES], [0.0; HALVES]);
                for some in bytes.chunks(2 * HALVES) {
                    let count = some.len() / 2;
                    bits.iter_mut().zip(decode(some, u16::from_le_bytes)).for_each(|(bit, read)| *bit = read);
                    bits[..count].reinterpret_cast::<f16>().convert_to_f64_slice(&mut numbers[..count]);
                    values.extend_from_slice(&numbers[..count]);
                }
            }
            ("bf16", false) => values.extend(decode(bytes, |bytes| bf16::from_le_bytes(bytes).to_f64())),
            ("bf16", true) => values.extend(decode(bytes, |bytes| bf16::from_be_bytes(bytes).to_f64())),
            ("f16", true) => values.extend(decode(bytes, |bytes| f16::from_be_bytes(bytes).to_f64())),
            (_, false) => values.extend(decode(bytes, |bytes| f64::from(f32::from_le_bytes(bytes)))),
            (_, true) => values.extend(decode(bytes, |bytes| f64::from(f32::from_be_bytes(bytes)))),
        }
    }

    fn shaped<T>(&self, axis: usize, range: Range<usize>, values: Vec<T>) -> Result<ArrayD<T>> {
        let mut shape = self.shape();
        shape[axis] = range.len();
        ArrayD::from_shape_vec(IxDyn(&shape).set_f(self.header.fortran), values)
            .map_err(|_| self.at("another shape", "as many numbers as declared").into())
    }

    /// Entries of one axis lie in runs: how many runs there are, the bytes from one to the next, and those of one
    /// entry.
    fn runs(&self, axis: usize) -> (usize, usize, usize) {
        let shape = self.shape();
        let width = self.header.element_bytes().unwrap_or(1) as usize;
        // Fortran order is C order with the axes turned round.
        let (slow, fast) = match self.header.fortran {
            false => (&shape[..axis], &shape[axis + 1..]),
            true => (&shape[axis + 1..], &shape[..axis]),
        };
        let inner = fast.iter().product::<usize>() * width;
        (slow.iter().product(), shape[axis] * inner, inner)
    }

    /// Bytes of the entries `range` of one axis, in the order in which they are stored.
    fn raw(&self, axis: usize, range: Range<usize>) -> Result<Vec<u8>> {
        let (runs, stride, inner) = self.runs(axis);
        let length = range.len() * inner;
        let mut bytes = Vec::new();
        reserve(&mut bytes, (runs * length) as u64, |found, expected| self.at(found, expected))?;
        bytes.resize(runs * length, 0);
        for (run, into) in bytes.chunks_exact_mut(length).enumerate() {
            self.read((run * stride + range.start * inner) as u64, into)?;
        }
        Ok(bytes)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        match &self.data {
            Data::Memory(bytes) => {
                let start = offset as usize;
                into.copy_from_slice(&bytes[start..start + into.len()]);
                Ok(())
            }
            Data::Input(file, start) => {
                file.read_exact_at(start + offset, into).map_err(|source| unreadable(&self.path, source))
            }
        }
    }

    /// All elements, each made by `convert` of a whole number, piece by piece; `bool` counts as 0 and 1. A faulty
    /// number is reported with what was expected and a hint.
    pub(super) fn whole_numbers<T>(
        &self,
        room: &mut Room,
        convert: impl FnMut(i128) -> std::result::Result<T, Misfit>,
    ) -> Result<ArrayD<T>> {
        let shape = self.shape();
        self.check_whole()?;
        let elements: usize = shape.iter().product();
        let mut values: Vec<T> = room.vector(elements as u64, |found, expected| self.at(found, expected))?;
        self.convert_whole(0..elements, convert, &mut values)?;
        ArrayD::from_shape_vec(IxDyn(&shape).set_f(self.header.fortran), values)
            .map_err(|_| self.at("another shape", "as many numbers as declared").into())
    }

    /// Rejects an array whose entries of the first axis cannot be read as whole numbers one by one.
    pub(super) fn check_whole_positions(&self) -> Result<()> {
        self.check_c_order()?;
        self.check_whole()
    }

    /// One entry of the first axis, of an array in C order: its elements one after the other, each made by `convert` of a
    /// whole number.
    pub(super) fn whole_numbers_of<T>(
        &self,
        entry: usize,
        convert: impl FnMut(i128) -> std::result::Result<T, Misfit>,
    ) -> Result<Vec<T>> {
        let each: usize = self.shape().iter().skip(1).product();
        let mut values = Vec::new();
        reserve(&mut values, each as u64, |found, expected| self.at(found, expected))?;
        self.convert_whole(entry * each..(entry + 1) * each, convert, &mut values)?;
        Ok(values)
    }

    fn check_whole(&self) -> Result<()> {
        if self.header.integer_bytes().is_some() || self.header.dtype() == "bool" {
            return Ok(());
        }
        let error = self.at(format!("dtype {}", quoted(self.header.dtype())), "an integer dtype");
        Err(hinted(error, "numpy converts with .astype(numpy.int64)").into())
    }

    /// Converts elements by their places in the data.
    fn convert_whole<T>(
        &self,
        places: Range<usize>,
        mut convert: impl FnMut(i128) -> std::result::Result<T, Misfit>,
        values: &mut Vec<T>,
    ) -> Result<()> {
        let width = self.header.element_bytes().unwrap_or(1) as usize;
        let integer = self.header.integers();
        let mut place = places.start;
        let mut buffer = vec![0; PIECE.min(places.len() * width)];
        while place < places.end {
            let bytes = &mut buffer[..PIECE.min((places.end - place) * width)];
            self.read((place * width) as u64, bytes)?;
            for bytes in bytes.chunks_exact(width) {
                let value = integer(bytes);
                match convert(value) {
                    Ok(value) => values.push(value),
                    Err((expected, hint)) => {
                        let error = self.at_index(&self.header.index(place as u64), format!("`{value}`"), expected);
                        return Err(InputError { hint: hint.map(Into::into), ..error }.into());
                    }
                }
                place += 1;
            }
        }
        Ok(())
    }
}

fn decode<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> impl ExactSizeIterator<Item = T> {
    bytes.as_chunks::<N>().0.iter().map(move |&bytes| number(bytes))
}

fn decoded<const N: usize, T>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    decode(bytes, number).collect()
}

fn read_header(path: &Path, name: Option<&str>, reader: &mut impl Read) -> Result<NpyHeader> {
    NpyHeader::read(reader).map_err(|problem| {
        let place = name.map_or("whole file".into(), |name| format!("array {}", quoted(name)));
        match problem {
            HeaderProblem::Malformed(found) => fault(path, place, shortened(&found, 100), "a numpy array").into(),
            HeaderProblem::Io(error) => unpackable(path, place, &error, "a numpy array").into(),
        }
    })
}

/// A part of a file, from front to back.
struct At<'a> {
    file: &'a InputReader,
    offset: u64,
    left: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = (buffer.len() as u64).min(self.left) as usize;
        self.file.read_exact_at(self.offset, &mut buffer[..length])?;
        self.offset += length as u64;
        self.left -= length as u64;
        Ok(length)
    }
}
