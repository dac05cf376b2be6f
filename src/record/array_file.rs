//! Named arrays in a numpy archive (.npz), checked before they are read.

use super::archive::{Archive, directory, most_bytes};
use super::budget::{MemoryBudget, Room};
use super::fault::{fault, hinted, listed, quoted, shortened, unpackable};
use super::input_file::{InputFile, InputReader, open_file, pipe};
use super::npy_header::{AS_WRITTEN, HeaderProblem, NpyHeader};
use crate::error::{Error, InputError, Result};
use crate::histogram::MAX_CLASSES;
use ndarray::{Array, ArrayD, Dimension, IntoDimension, IxDyn, ShapeBuilder};
use sealed::Sealed as _;
use std::fmt::Display;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Elements decoded in one piece.
const PIECE: usize = 8 << 10;

/// A numpy archive: the names of its arrays are known, but none is read yet.
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
    reader: InputReader,
    room: Room,
}

/// An element type that arrays of a file can be read as.
///
/// Implemented for `bool`, the integers of 8 to 64 bits and the two float types; not for others.
pub trait Element: sealed::Sealed + Copy + Display {
    /// The type's name in messages.
    const NAME: &'static str;
}

mod sealed {
    pub trait Sealed: Sized {
        /// Bytes of an element.
        const WIDTH: usize;

        /// The element in these bytes, or what was found instead.
        fn decode(bytes: &[u8], little: bool) -> Result<Self, String>;

        /// Adds its bytes, the least significant first.
        fn encode(self, bytes: &mut Vec<u8>);
    }
}

macro_rules! element {
    ($($type:ident)*) => {$(
        impl sealed::Sealed for $type {
            const WIDTH: usize = size_of::<Self>();

            fn decode(bytes: &[u8], little: bool) -> std::result::Result<Self, String> {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Ok(if little { Self::from_le_bytes(own) } else { Self::from_be_bytes(own) })
            }

            fn encode(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
        impl Element for $type {
            const NAME: &'static str = stringify!($type);
        }
    )*};
}
element!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64);

impl sealed::Sealed for bool {
    const WIDTH: usize = 1;

    fn decode(bytes: &[u8], _: bool) -> std::result::Result<Self, String> {
        match bytes {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(format!("the byte {}", bytes[0])),
        }
    }

    fn encode(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }
}

impl Element for bool {
    const NAME: &'static str = "bool";
}

impl ArrayFile {
    /// Opens an archive and lists its arrays.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) when the file cannot be read, [`Error::Input`](crate::Error::Input) when it is
    /// not a numpy archive, is empty or cut off.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::of_reader(path, open_file(path, "a numpy archive (.npz)")?)
    }

    /// Opens what has been opened already.
    pub(super) fn of_reader(path: &Path, reader: InputReader) -> Result<Self> {
        if reader.is_pipe() {
            return Err(pipe(path, "a numpy archive (.npz)"));
        }
        // The directory of the archive is read first: only what may be votes is hashed.
        let (archive, names) = directory(path, &reader)?;
        let room = Room::new(MemoryBudget::of_machine());
        Ok(Self { input: reader.identity(path)?, names, archive, reader, room })
    }

    /// Opens an archive that is in memory; `name` is the file's name in messages.
    ///
    /// # Errors
    /// As [`ArrayFile::open`].
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self> {
        let name = name.into();
        Self::of_reader(&name, InputReader::of_bytes(bytes))
    }

    /// Limits the memory of all arrays together; without this call to half of the free memory
    /// ([`MemoryBudget::of_machine`]).
    #[must_use]
    pub fn within(self, memory: MemoryBudget) -> Self {
        Self { room: Room::new(memory), ..self }
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

    /// Reads an array of elements of type `T` with the number of axes of `D`.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) when there is no such array, it has another dtype or number of axes, an
    /// axis of length 0, less or more data than it declares or data that do not fit their checksum, when the arrays
    /// read from this file take more memory than they may, and when the file changed since it was opened.
    pub fn array<T: Element, D: Dimension>(&mut self, name: &str) -> Result<Array<T, D>> {
        let header = self.header(name)?;
        if header.dtype() != T::NAME {
            let error = self.at(name, format!("dtype {}", quoted(header.dtype())), format!("dtype `{}`", T::NAME));
            return Err(error.into());
        }
        self.converted(name, &header, (T::WIDTH, "0 or 1, a truth value"), T::decode)
    }

    /// Reads an array of whole numbers of any integer dtype.
    ///
    /// # Errors
    /// As [`ArrayFile::array`], and [`Error::Input`](crate::Error::Input) for a negative number, with its index.
    pub fn whole_numbers<D: Dimension>(&mut self, name: &str) -> Result<Array<u64, D>> {
        self.integers(name, "a whole number of at least 0", |value| u64::try_from(value).ok())
    }

    /// Reads an array of classes, counted from 0, of any integer dtype.
    pub(super) fn classes<D: Dimension>(&mut self, name: &str) -> Result<Array<u16, D>> {
        let expected = format!("a class from 0 to {}", MAX_CLASSES - 1);
        let class = |value: i128| u16::try_from(value).ok().filter(|&class| usize::from(class) < MAX_CLASSES);
        self.integers(name, &expected, class)
    }

    /// Reads an array of any integer dtype; each number is converted while it is read.
    fn integers<T, D: Dimension>(
        &mut self,
        name: &str,
        expected: &str,
        convert: impl Fn(i128) -> Option<T>,
    ) -> Result<Array<T, D>> {
        let header = self.header(name)?;
        let Some(width) = header.integer_bytes() else {
            let error = self.at(name, format!("dtype {}", quoted(header.dtype())), "an integer dtype");
            return Err(hinted(error, "numpy converts with .astype(numpy.int64)").into());
        };
        let integer = header.integers();
        self.converted(name, &header, (width, expected), |bytes, _| {
            let value = integer(bytes);
            convert(value).ok_or_else(|| format!("`{value}`"))
        })
    }

    /// Reads an array of numbers of either float dtype.
    pub(super) fn numbers<D: Dimension>(&mut self, name: &str) -> Result<Array<f64, D>> {
        self.floats(name, |value| value)
    }

    /// Reads an array of numbers of either float dtype, in single precision.
    pub(super) fn singles<D: Dimension>(&mut self, name: &str) -> Result<Array<f32, D>> {
        self.floats(name, |value| value as f32)
    }

    fn floats<T: Element, D: Dimension>(&mut self, name: &str, convert: impl Fn(f64) -> T) -> Result<Array<T, D>> {
        let header = self.header(name)?;
        let converted = |bytes: &[u8], little| f32::decode(bytes, little).map(|value| convert(value.into()));
        match header.dtype() {
            "f32" => self.converted(name, &header, (4, ""), converted),
            "f64" => self.converted(name, &header, (8, ""), |bytes, little| f64::decode(bytes, little).map(&convert)),
            other => {
                let error = self.at(name, format!("dtype {}", quoted(other)), "dtype `f32` or `f64`");
                Err(hinted(error, format!("numpy converts with .astype(numpy.float{})", 8 * T::WIDTH)).into())
            }
        }
    }

    /// The lengths of the axes of an array, before it is read.
    pub(super) fn shape(&mut self, name: &str) -> Result<Vec<u64>> {
        Ok(self.header(name)?.shape)
    }

    /// Counts the memory of the result of an array: `count` items of this many bytes each.
    pub(super) fn take(&mut self, name: &str, count: u64, bytes: u64) -> Result<()> {
        let place = format!("array {}", quoted(name));
        let path = &self.input.path;
        self.room.take(count, bytes, |found, expected| fault(path, place, found, expected))
    }

    /// An error of one array as a whole.
    pub(super) fn at(&self, name: &str, found: impl Into<String>, expected: impl Into<String>) -> InputError {
        fault(&self.input.path, format!("array {}", quoted(name)), found, expected)
    }

    /// The error of an archive without a required array.
    pub(super) fn missing(&self, expected: impl Into<String>) -> InputError {
        fault(&self.input.path, "whole file", format!("arrays {}", listed(&self.names)), expected)
    }

    /// Rejects the first element that is wrong, in the order of the array.
    pub(super) fn check_each<T: Copy + Display, D: Dimension>(
        &self,
        name: &str,
        array: &Array<T, D>,
        wrong: impl Fn(T) -> bool,
        expected: &str,
    ) -> std::result::Result<(), InputError> {
        let Some((index, value)) = array.indexed_iter().find(|&(_, &value)| wrong(value)) else { return Ok(()) };
        let place = format!("array {}, index {:?}", quoted(name), index.into_dimension().slice());
        Err(fault(&self.input.path, place, format!("`{value}`"), expected))
    }

    /// The header of an array, with every check that does not depend on the requested type.
    fn header(&mut self, name: &str) -> Result<NpyHeader> {
        let Some(index) = self.names.iter().position(|other| other == name) else {
            return Err(self.missing(format!("the array {}", quoted(name))).into());
        };
        let declared = self.archive.by_index(index).map(|mut entry| {
            let most = most_bytes(&entry);
            NpyHeader::read(&mut entry).map(|header| (header, most))
        });
        let (header, most) = match declared {
            Ok(Ok(declared)) => declared,
            Ok(Err(HeaderProblem::Malformed(found))) => {
                return Err(self.at(name, shortened(&found, 100), "a numpy array").into());
            }
            Ok(Err(HeaderProblem::Io(error))) => return Err(damaged(&self.input.path, name, &error).into()),
            Err(error) => return Err(damaged(&self.input.path, name, &error).into()),
        };
        if let Some(axis) = header.shape.iter().position(|&length| length == 0) {
            let found = format!("shape {:?}", header.shape);
            return Err(self.at(name, found, format!("at least 1 entry on axis {axis}")).into());
        }
        let bytes = header.elements().and_then(|elements| elements.checked_mul(header.element_bytes().unwrap_or(1)));
        if bytes.is_none_or(|bytes| bytes >= 1 << 62) {
            let found = format!("shape {:?} of dtype {}", header.shape, quoted(header.dtype()));
            return Err(self.at(name, found, "an array of fewer than 2^62 bytes").into());
        }
        // Nothing is allocated for data that cannot be there.
        if let Some((width, _)) = header.element_bytes().zip(bytes).filter(|(_, bytes)| header.bytes + bytes > most) {
            return Err(hinted(self.at(name, "less data", header.data(width)), "the file may be cut off").into());
        }
        Ok(header)
    }

    /// Reads an array whose header was read: each element is converted while it is unpacked, so only the result is
    /// held.
    fn converted<T, D: Dimension>(
        &mut self,
        name: &str,
        header: &NpyHeader,
        (width, wanted): (usize, &str),
        decode: impl Fn(&[u8], bool) -> std::result::Result<T, String>,
    ) -> Result<Array<T, D>> {
        if let Some(axes) = D::NDIM.filter(|&axes| axes != header.shape.len()) {
            return Err(self.other_axes(name, header, axes).into());
        }
        let mut values: Vec<T> = self.room.vector(header.elements().unwrap_or(u64::MAX), |found, expected| {
            let found = format!("shape {:?}, {found}", header.shape);
            fault(&self.input.path, format!("array {}", quoted(name)), found, expected)
        })?;
        let little = !header.descriptor.starts_with('>');
        self.unpack(name, header, (width, wanted), &mut |piece| {
            for bytes in piece.chunks_exact(width) {
                match decode(bytes, little) {
                    Ok(value) => values.push(value),
                    Err(found) => return Err((values.len() as u64, found)),
                }
            }
            Ok(())
        })?;
        let shape: Vec<usize> = header.shape.iter().map(|&length| length as usize).collect();
        ArrayD::from_shape_vec(IxDyn(&shape).set_f(header.fortran), values)
            .and_then(ArrayD::into_dimensionality)
            .map_err(|_| self.at(name, "another shape", header.data(width as u64)).into())
    }

    fn other_axes(&self, name: &str, header: &NpyHeader, axes: usize) -> InputError {
        let found = format!("shape {:?}", header.shape);
        self.at(name, found, format!("{axes} ax{}", if axes == 1 { "is" } else { "es" }))
    }

    /// Passes the bytes of the elements to `convert`, piece by piece, and stops at the first element that it rejects.
    fn unpack(
        &mut self,
        name: &str,
        header: &NpyHeader,
        (width, wanted): (usize, &str),
        convert: &mut dyn FnMut(&[u8]) -> std::result::Result<(), Misfit>,
    ) -> Result<()> {
        let path = self.input.path.clone();
        let at = |found: &str, expected: &str| fault(&path, format!("array {}", quoted(name)), found, expected);
        let expected = header.data(width as u64);
        let less = || Error::from(hinted(at("less data", &expected), "the file may be cut off"));
        let broken = |error: &dyn Display| Error::from(damaged(&path, name, error));
        let index = self.names.iter().position(|other| other == name).unwrap_or_default();
        let mut entry = self.archive.by_index(index).map_err(|error| broken(&error))?;
        std::io::copy(&mut (&mut entry).take(header.bytes), &mut std::io::sink()).map_err(|error| broken(&error))?;
        let mut buffer = vec![0; PIECE * width];
        let mut left = header.elements().unwrap_or(u64::MAX);
        while left > 0 {
            let piece = (PIECE as u64).min(left) as usize * width;
            match entry.read_exact(&mut buffer[..piece]) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(less()),
                Err(error) => return Err(broken(&error)),
            }
            if let Err((position, found)) = convert(&buffer[..piece]) {
                let index = header.index(position);
                return Err(fault(&path, format!("array {}, index {index:?}", quoted(name)), found, wanted).into());
            }
            left -= (piece / width) as u64;
        }
        // Whether there is more is asked at the end, which also makes the archive check its checksum.
        match entry.read(&mut [0]) {
            Ok(0) => {}
            Ok(_) => return Err(at("more data", &expected).into()),
            Err(error) => return Err(broken(&error)),
        }
        drop(entry);
        self.reader.check_unchanged(&path)
    }
}

/// The position of a rejected element, and what was found there.
type Misfit = (u64, String);

fn damaged(path: &Path, name: &str, reason: &dyn Display) -> InputError {
    unpackable(path, format!("array {}", quoted(name)), reason, AS_WRITTEN)
}

impl std::fmt::Debug for ArrayFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ArrayFile").field("input", &self.input).field("names", &self.names).finish()
    }
}
