//! Arrays of Python as files in memory. The only unsafe code of the project: the bytes of an array, borrowed.

use crate::errors::{InputError, raised};
use leakbound::record::{MemoryArray, MemoryFile, MemoryFiles};
use leakbound_cli::Rejection;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// The memory of an array, which lives as long as this does.
struct Held {
    _owner: Py<PyUntypedArray>,
    start: *const u8,
    length: usize,
}

// SAFETY: the bytes are only read. A program that writes to an array while it is being audited gets an audit of some
// mixture of both contents, as with every function that lets go of the lock.
#[allow(unsafe_code)]
unsafe impl Send for Held {}
#[allow(unsafe_code)]
unsafe impl Sync for Held {}

impl AsRef<[u8]> for Held {
    #[allow(unsafe_code)]
    fn as_ref(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `start` is the first of `length` bytes of a contiguous array, whose owner is held.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// Files by name: an array is `NAME.npy`, a dict of arrays `NAME.npz`, and bytes are themselves.
pub fn in_memory(files: &Bound<'_, PyDict>) -> PyResult<MemoryFiles> {
    let file = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: PathBuf = name.extract()?;
        Ok((name, of(&value)?))
    };
    files.iter().map(file).collect()
}

fn of(value: &Bound<'_, PyAny>) -> PyResult<MemoryFile> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(MemoryFile::of_bytes(bytes.as_bytes().to_vec()));
    }
    let Ok(arrays) = value.cast::<PyDict>() else { return Ok(MemoryFile::of_array(array(value)?)) };
    let arrays: Vec<(String, MemoryArray)> =
        arrays.iter().map(|(name, value)| Ok((name.extract()?, array(&value)?))).collect::<PyResult<_>>()?;
    // Arrays are packed without the lock: they may be large.
    let file = value.py().detach(|| MemoryFile::of_arrays(arrays));
    file.map_err(|error| raised(Rejection::Failed(error), &MemoryFiles::default()))
}

fn array(value: &Bound<'_, PyAny>) -> PyResult<MemoryArray> {
    let Ok(found) = value.cast::<PyUntypedArray>() else {
        let kind = value.get_type().name()?;
        return Err(InputError::new_err(format!("found {kind}, expected a NumPy array")));
    };
    let contiguous = found.is_c_contiguous() || found.is_fortran_contiguous();
    let copied;
    let found = if contiguous {
        found
    } else {
        copied = found.call_method1("copy", ("C",))?;
        copied.cast::<PyUntypedArray>()?
    };
    let descriptor: String = found.dtype().getattr("str")?.extract()?;
    if found.dtype().has_object() {
        return Err(InputError::new_err(
            "found an array of Python objects, expected an array of numbers or truth values",
        ));
    }
    let length = found.len() * found.dtype().itemsize();
    let interface: (usize, bool) = found.getattr("__array_interface__")?.get_item("data")?.extract()?;
    let held = Held { _owner: found.clone().unbind(), start: interface.0 as *const u8, length };
    Ok(MemoryArray {
        descriptor,
        shape: found.shape().to_vec(),
        fortran: !found.is_c_contiguous(),
        bytes: Arc::new(held),
    })
}
