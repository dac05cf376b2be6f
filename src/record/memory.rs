//! Files that are in memory: a program passes its arrays to the readers of this module under names that it chooses.

use super::npy_header;
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Shared bytes.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// An array in memory, as numpy describes one.
#[derive(Clone)]
pub struct MemoryArray {
    /// The type of its elements and their order of bytes, `<f4` for example.
    pub descriptor: String,
    /// The length of each axis.
    pub shape: Vec<usize>,
    /// Whether the first axis varies fastest, not the last.
    pub fortran: bool,
    /// The elements, without gaps.
    pub bytes: SharedBytes,
}

impl fmt::Debug for MemoryArray {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MemoryArray({}, {:?})", self.descriptor, self.shape)
    }
}

/// A file in memory: what follows the other of two pieces.
#[derive(Clone)]
pub struct MemoryFile {
    head: Arc<[u8]>,
    data: SharedBytes,
}

impl MemoryFile {
    /// A file of these bytes.
    #[must_use]
    pub fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { head: Arc::new([]), data: Arc::new(bytes) }
    }

    /// The file (.npy) that `numpy.save` writes of an array, which is not copied.
    #[must_use]
    pub fn of_array(array: MemoryArray) -> Self {
        let MemoryArray { descriptor, shape, fortran, bytes } = array;
        Self { head: npy_header::written(&descriptor, fortran, &shape).into(), data: bytes }
    }

    /// The file (.npz) that `numpy.savez` writes of arrays: a copy of them.
    ///
    /// # Errors
    /// [`Error::Io`] when the archive cannot be made: too little memory, or two arrays with one name.
    pub fn of_arrays(arrays: Vec<(String, MemoryArray)>) -> Result<Self> {
        let archive = || -> zip::result::ZipResult<Vec<u8>> {
            let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, array) in arrays {
                let large = array.bytes.as_ref().as_ref().len() as u64 >= u64::from(u32::MAX);
                let options =
                    SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
                archive.start_file(format!("{name}.npy"), options)?;
                let file = Self::of_array(array);
                archive.write_all(&file.head)?;
                archive.write_all(file.data())?;
            }
            Ok(archive.finish()?.into_inner())
        };
        let failed = |error| Error::Io { path: "arrays".into(), action: "hold", source: io::Error::other(error) };
        archive().map(Self::of_bytes).map_err(failed)
    }

    fn data(&self) -> &[u8] {
        self.data.as_ref().as_ref()
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> u64 {
        (self.head.len() + self.data().len()) as u64
    }

    /// Reads some of the bytes from `offset` on; none at the end.
    pub(super) fn read_at(&self, offset: u64, into: &mut [u8]) -> usize {
        let head = self.head.len() as u64;
        let rest = if offset < head {
            &self.head[offset as usize..]
        } else {
            self.data().get((offset - head) as usize..).unwrap_or_default()
        };
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        length
    }
}

impl fmt::Debug for MemoryFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MemoryFile({} bytes)", self.length())
    }
}

thread_local! {
    static PROVIDED: RefCell<Arc<HashMap<PathBuf, MemoryFile>>> = RefCell::default();
}

/// Files in memory by the names under which readers find them.
///
/// ```
/// use leakbound::record::{MemoryFile, MemoryFiles, read_counts};
///
/// let text = b"outcome,count,count_neighbor\ncat,6,5\ndog,4,5\n";
/// let files = MemoryFiles::from_iter([("counts.csv".into(), MemoryFile::of_bytes(text.to_vec()))]);
/// let counts = files.provide(|| read_counts("counts.csv"))?;
/// assert_eq!(counts.queries[0].counts.counts(), [6, 4]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(Arc<HashMap<PathBuf, MemoryFile>>);

impl FromIterator<(PathBuf, MemoryFile)> for MemoryFiles {
    fn from_iter<I: IntoIterator<Item = (PathBuf, MemoryFile)>>(files: I) -> Self {
        Self(Arc::new(files.into_iter().collect()))
    }
}

impl MemoryFiles {
    /// Whether there is a file of this name.
    #[must_use]
    pub fn contains(&self, name: &Path) -> bool {
        self.0.contains_key(name)
    }

    /// Does some work during which readers opened on this thread find these files under the names. Files on a disk with
    /// such a name are ignored.
    pub fn provide<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Takes the files away again, whichever way the work ends.
        struct Before(Arc<HashMap<PathBuf, MemoryFile>>);
        impl Drop for Before {
            fn drop(&mut self) {
                PROVIDED.set(std::mem::take(&mut self.0));
            }
        }
        let _before = Before(PROVIDED.replace(Arc::clone(&self.0)));
        work()
    }
}

/// The file in memory of this name, if there is one.
pub(super) fn provided(path: &Path) -> Option<MemoryFile> {
    PROVIDED.with_borrow(|files| files.get(path).cloned())
}

#[cfg(test)]
mod tests {
    use super::super::array_file::ArrayFile;
    use super::super::budget::MemoryBudget;
    use super::super::input_file::InputFile;
    use super::super::npy_array::NpyArray;
    use super::super::score_file::read_score_arrays;
    use super::*;
    use ndarray::{Array1, Array2, array};

    fn array(shape: &[usize], values: &[f64], fortran: bool) -> MemoryArray {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        MemoryArray { descriptor: "<f8".into(), shape: shape.to_vec(), fortran, bytes: Arc::new(bytes) }
    }

    fn provided_as(name: &str, file: MemoryFile) -> MemoryFiles {
        MemoryFiles::from_iter([(name.into(), file)])
    }

    #[test]
    fn an_array_is_the_file_that_numpy_saves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        ndarray_npy::write_npy(&path, &array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
        let memory = MemoryFile::of_array(array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], false));
        provided_as("a.npy", memory).provide(|| {
            let [here, there] = [Path::new("a.npy"), &path].map(|path| NpyArray::open(path).unwrap().0);
            assert_eq!(here.shape(), there.shape());
            for axis in 0..2 {
                assert_eq!(here.doubles(axis, 1..2).unwrap(), there.doubles(axis, 1..2).unwrap());
            }
            assert_eq!(InputFile::of_file("a.npy").unwrap().bytes, 128 + 48);
        });
        assert!(NpyArray::open("a.npy".as_ref()).is_err());
    }

    #[test]
    fn archives_and_both_orders_of_axes_are_read() {
        let archive = MemoryFile::of_arrays(vec![
            ("a".into(), array(&[3], &[1.0, 2.0, 3.0], false)),
            ("b".into(), array(&[2, 2], &[1.0, 3.0, 2.0, 4.0], true)),
        ]);
        provided_as("two.npz", archive.unwrap()).provide(|| {
            let mut file = ArrayFile::open("two.npz").unwrap();
            assert_eq!(file.names(), ["a", "b"]);
            let (a, b): (Array1<f64>, Array2<f64>) = (file.array("a").unwrap(), file.array("b").unwrap());
            assert_eq!((a, b), (array![1.0, 2.0, 3.0], array![[1.0, 2.0], [3.0, 4.0]]));
        });
    }

    #[test]
    fn errors_name_the_array() {
        let one = |values: &[f64]| MemoryFile::of_array(array(&[values.len()], values, false));
        let files = MemoryFiles::from_iter([
            (PathBuf::from("members.npy"), one(&[1.0, f64::NAN])),
            (PathBuf::from("others.npy"), one(&[1.0])),
        ]);
        let error = files
            .provide(|| read_score_arrays("members.npy", "others.npy", MemoryBudget::of_machine()))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("members.npy: ") && error.contains("NaN"), "{error}");
    }
}
