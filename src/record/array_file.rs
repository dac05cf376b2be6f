//! Named arrays in a numpy archive (.npz), checked before they are read.

use super::archive::{Archive, directory};
use super::fault::{fault, hinted, listed, quoted, shortened};
use super::input_file::{InputFile, PathKind, kind, open};
use super::npy_header::{HeaderProblem, NpyHeader};
use crate::error::{InputError, Result};
use crate::histogram::MAX_CLASSES;
use ndarray::{Array, Dimension, IxDyn};
use ndarray_npy::{ReadNpyError, ReadNpyExt, ReadableElement};
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// The largest array read, as it is declared and unpacked.
const MAX_ARRAY_BYTES: u64 = 1 << 30;

/// A numpy archive: the names of its arrays are known, none of them is read yet.
///
/// ```no_run
/// # use leakbound::record::ArrayFile;
/// let mut arrays = ArrayFile::open("votes.npz")?;
/// println!("{:?}", arrays.names());
/// let votes: ndarray::Array3<u8> = arrays.array("pate_votes")?;
/// # Ok::<(), leakbound::Error>(())
/// ```
pub struct ArrayFile {
    input: InputFile,
    names: Vec<String>,
    archive: Archive,
}

/// A type of element that an array of a file may be asked for.
///
/// Implemented for `bool`, the integers of 8 to 64 bits and the two float types; not for others.
pub trait Element: ReadableElement + sealed::Sealed {
    /// The type's name in messages.
    const NAME: &'static str;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($type:ident)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const NAME: &'static str = stringify!($type);
        }
    )*};
}
element!(bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl ArrayFile {
    /// Opens an archive and lists its arrays.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) when it is no numpy archive, is empty or cut off.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if matches!(kind(path)?, PathKind::Other) {
            let error = fault(path, "whole file", "a pipe or device", "a numpy archive (.npz)");
            return Err(hinted(error, "archives are read at several places; save it as a file first").into());
        }
        // The directory of the archive is read first: only what may be votes is hashed.
        let (archive, names) = directory(path, Box::new(BufReader::new(open(path)?)))?;
        Ok(Self { input: InputFile::of_file(path)?, names, archive })
    }

    /// Opens an archive that is in memory; `name` stands for the file in messages.
    ///
    /// # Errors
    /// As [`ArrayFile::open`].
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        let name = name.into();
        let input = InputFile::of_bytes(&name, &bytes);
        let (archive, names) = directory(&name, Box::new(Cursor::new(bytes)))?;
        Ok(Self { input, names, archive })
    }

    /// The file.
    #[must_use]
    pub fn input(&self) -> &InputFile {
        &self.input
    }

    /// The names of the arrays, in the order of the archive.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether there is an array of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// Reads an array of elements of type `T` with as many axes as `D` has.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) when there is no such array, it has another dtype or number of axes, an axis of length 0, more
    /// than 1 GiB of data, or less or more data than it declares.
    pub fn array<T: Element, D: Dimension>(&mut self, name: &str) -> Result<Array<T, D>> {
        let header = self.header(name)?;
        if header.dtype() != T::NAME {
            let error = self.at(name, format!("dtype {}", quoted(header.dtype())), format!("dtype `{}`", T::NAME));
            return Err(error.into());
        }
        self.read(name)
    }

    /// Reads an array of whole numbers of any integer dtype.
    ///
    /// # Errors
    /// As [`ArrayFile::array`], and [`Error::Input`](crate::Error::Input) for a negative number, with its index.
    pub fn whole_numbers<D: Dimension>(&mut self, name: &str) -> Result<Array<u64, D>> {
        let header = self.header(name)?;
        let array: Array<i64, D> = match header.dtype() {
            // Bytes are the common case and the largest arrays: converted without a detour.
            "u8" => return Ok(self.read::<u8, D>(name)?.mapv(u64::from)),
            "u16" => return Ok(self.read::<u16, D>(name)?.mapv(u64::from)),
            "u32" => return Ok(self.read::<u32, D>(name)?.mapv(u64::from)),
            "u64" => return self.read::<u64, D>(name),
            "i8" => self.read::<i8, D>(name)?.mapv(i64::from),
            "i16" => self.read::<i16, D>(name)?.mapv(i64::from),
            "i32" => self.read::<i32, D>(name)?.mapv(i64::from),
            "i64" => self.read(name)?,
            other => {
                let error = self.at(name, format!("dtype {}", quoted(other)), "an integer dtype");
                return Err(hinted(error, "numpy converts with .astype(numpy.int64)").into());
            }
        };
        if let Some(error) = self.first_fault(name, &array, |value| value < 0, "a whole number of at least 0") {
            return Err(error.into());
        }
        Ok(array.mapv(|value| u64::try_from(value).unwrap_or_default()))
    }

    /// Reads an array of classes, counted from 0, of any integer dtype.
    pub(super) fn classes<D: Dimension>(&mut self, name: &str) -> Result<Array<u16, D>> {
        if self.header(name)?.dtype() == "u8" {
            return Ok(self.read::<u8, D>(name)?.mapv(u16::from));
        }
        let classes = self.whole_numbers::<D>(name)?;
        let expected = format!("a class from 0 to {}", MAX_CLASSES - 1);
        match self.first_fault(name, &classes, |class| class >= MAX_CLASSES as u64, &expected) {
            Some(error) => Err(error.into()),
            None => Ok(classes.mapv(|class| class as u16)),
        }
    }

    /// Reads an array of numbers of either float dtype.
    pub(super) fn numbers<D: Dimension>(&mut self, name: &str) -> Result<Array<f64, D>> {
        match self.header(name)?.dtype() {
            "f32" => Ok(self.read::<f32, D>(name)?.mapv(f64::from)),
            "f64" => self.read(name),
            other => {
                let error = self.at(name, format!("dtype {}", quoted(other)), "dtype `f32` or `f64`");
                Err(hinted(error, "numpy converts with .astype(numpy.float64)").into())
            }
        }
    }

    /// An error of one array as a whole.
    pub(super) fn at(&self, name: &str, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.input.path, format!("array {}", quoted(name)), found, expected)
    }

    /// The error of the first element that is wrong, in the order of the array.
    pub(super) fn first_fault<T: Copy + std::fmt::Display, D: Dimension>(
        &self,
        name: &str,
        array: &Array<T, D>,
        wrong: impl Fn(T) -> bool,
        expected: &str,
    ) -> Option<InputError> {
        let position = array.iter().position(|&value| wrong(value))?;
        let value = array.iter().nth(position)?;
        let mut rest = position;
        let mut index: Vec<usize> = Vec::new();
        for &length in array.shape().iter().rev() {
            index.push(rest % length);
            rest /= length;
        }
        index.reverse();
        let place = format!("array {}, index {index:?}", quoted(name));
        Some(fault(&self.input.path, place, format!("`{value}`"), expected))
    }

    /// The header of an array, with everything checked that does not depend on what it is read as.
    fn header(&mut self, name: &str) -> Result<NpyHeader> {
        let Some(index) = self.names.iter().position(|other| other == name) else {
            let found = format!("arrays {}", listed(&self.names));
            return Err(fault(&self.input.path, "whole file", found, format!("the array {}", quoted(name))).into());
        };
        let declared = self.archive.by_index(index).map(NpyHeader::read);
        let header = match declared {
            Ok(Ok(header)) => header,
            Ok(Err(HeaderProblem::Malformed(found))) => {
                return Err(self.at(name, shortened(&found, 100), "a numpy array").into());
            }
            Ok(Err(HeaderProblem::Io(error))) => return Err(self.unpackable(name, &error.to_string()).into()),
            Err(error) => return Err(self.unpackable(name, &error.to_string()).into()),
        };
        if let Some(axis) = header.shape.iter().position(|&length| length == 0) {
            let found = format!("shape {:?}", header.shape);
            return Err(self.at(name, found, format!("at least 1 entry on axis {axis}")).into());
        }
        let bytes = header.elements().and_then(|elements| elements.checked_mul(header.element_bytes().unwrap_or(1)));
        if bytes.is_none_or(|bytes| bytes > MAX_ARRAY_BYTES) {
            let found = format!("shape {:?} of dtype {}", header.shape, quoted(header.dtype()));
            let error = self.at(name, found, "an array of at most 1 GiB");
            return Err(hinted(error, "split the recording by queries into several files").into());
        }
        Ok(header)
    }

    fn read<T: Element, D: Dimension>(&mut self, name: &str) -> Result<Array<T, D>> {
        let header = self.header(name)?;
        if let Some(axes) = D::NDIM.filter(|&axes| axes != header.shape.len()) {
            let found = format!("shape {:?}", header.shape);
            return Err(self.at(name, found, format!("{axes} ax{}", if axes == 1 { "is" } else { "es" })).into());
        }
        let elements = header.elements().unwrap_or(u64::MAX);
        let bytes = elements.saturating_mul(header.element_bytes().unwrap_or(1));
        let index = self.names.iter().position(|other| other == name).unwrap_or_default();
        let length = header.bytes + bytes;
        // ndarray-npy reads to the end to see whether there is more: the limit keeps a packed gigabyte of zeros from
        // being unpacked. Whether there is more is asked here, which also makes the archive check its checksum.
        let unpacked = self.archive.by_index(index).map(|mut entry| {
            let array = Array::<T, IxDyn>::read_npy((&mut entry).take(length));
            array.map(|array| (array, entry.read(&mut [0])))
        });
        let expected = || format!("{bytes} bytes of data for shape {:?}", header.shape);
        match unpacked {
            Ok(Ok((array, Ok(0)))) => {
                array.into_dimensionality().map_err(|_| self.at(name, "another shape", expected()).into())
            }
            Ok(Ok((_, Ok(_)))) => Err(self.at(name, "more data", expected()).into()),
            Ok(Ok((_, Err(error)))) => Err(self.unpackable(name, &error.to_string()).into()),
            Ok(Err(ReadNpyError::MissingData)) => {
                Err(hinted(self.at(name, "less data", expected()), "the file may be cut off").into())
            }
            Ok(Err(error)) => Err(self.unpackable(name, &error.to_string()).into()),
            Err(error) => Err(self.unpackable(name, &error.to_string()).into()),
        }
    }

    fn unpackable(&self, name: &str, reason: &str) -> InputError {
        let found = format!("data that cannot be unpacked ({})", shortened(reason, 100));
        hinted(self.at(name, found, "an array as numpy.savez or savez_compressed writes it"), "the file may be damaged")
    }
}

impl std::fmt::Debug for ArrayFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ArrayFile").field("input", &self.input).field("names", &self.names).finish()
    }
}
