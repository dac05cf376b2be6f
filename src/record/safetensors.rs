//! The header of a safetensors file: names, types and places of its arrays.

use super::fault::{fault, hinted, listed, quoted, shortened, unreadable};
use super::input_file::InputReader;
use super::npy_array::NpyArray;
use super::npy_header::DTYPES;
use crate::error::Result;
use crate::json;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;
const WANTED: &str = "a safetensors file";

/// The entry of an array in the header.
#[derive(Debug, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// An entry that is not an array.
const METADATA: &str = "__metadata__";

/// A safetensors file whose header was read.
pub(super) struct Safetensors<'a> {
    path: &'a Path,
    reader: &'a InputReader,
    tensors: BTreeMap<String, Tensor>,
    /// Where the data begin.
    start: u64,
}

impl<'a> Safetensors<'a> {
    /// Reads the header: its length as eight bytes, and JSON.
    pub(super) fn open(path: &'a Path, reader: &'a InputReader) -> Result<Self> {
        let whole = |found: String| fault(path, "whole file", found, WANTED);
        let length = reader.length();
        let mut bytes = [0; 8];
        if length < 8 {
            return Err(whole(format!("a file of {length} bytes")).into());
        }
        reader.read_exact_at(0, &mut bytes).map_err(|source| unreadable(path, source))?;
        let header = u64::from_le_bytes(bytes);
        if header > MAX_HEADER_BYTES || header > length - 8 {
            let error = whole(format!("a header of {header} bytes in a file of {length}"));
            return Err(hinted(error, "the file may be cut off, or of another format").into());
        }
        let mut text = vec![0; header as usize];
        reader.read_exact_at(8, &mut text).map_err(|source| unreadable(path, source))?;
        let malformed =
            |error: serde_json::Error| whole(format!("an invalid header ({})", shortened(&error.to_string(), 100)));
        let mut entries: BTreeMap<String, serde_json::Value> = json::from_slice(&text).map_err(malformed)?;
        entries.remove(METADATA);
        let tensor = |(name, entry): (String, _)| {
            let tensor: Tensor = serde_json::from_value(entry).map_err(|error| {
                let found = format!("an invalid entry ({})", shortened(&error.to_string(), 100));
                fault(path, format!("array {}", quoted(&name)), found, "dtype, shape and data_offsets")
            })?;
            Ok((name, tensor))
        };
        let tensors = entries.into_iter().map(tensor).collect::<Result<_>>()?;
        Ok(Self { path, reader, tensors, start: 8 + header })
    }

    /// The names of the arrays.
    pub(super) fn names(&self) -> Vec<String> {
        self.tensors.keys().cloned().collect()
    }

    /// The array of this name, if there is one.
    pub(super) fn array(&self, name: &str) -> Result<Option<NpyArray>> {
        let Some(Tensor { dtype, shape, data_offsets: [from, to] }) = self.tensors.get(name) else { return Ok(None) };
        let (from, to) = (*from, *to);
        let place = || format!("array {}", quoted(name));
        let data = self.reader.length() - self.start;
        if from > to || to > data {
            let found = format!("data from byte {from} to {to} of {data}");
            let error = fault(self.path, place(), found, "data inside of the file");
            return Err(hinted(error, "the file may be cut off").into());
        }
        let Some((_, kind, bytes)) = DTYPES.iter().find(|(name, ..)| name.to_uppercase() == *dtype) else {
            let names: Vec<String> = DTYPES.iter().map(|(name, ..)| name.to_uppercase()).collect();
            let found = format!("dtype {}", quoted(dtype));
            return Err(fault(self.path, place(), found, format!("one of {}", listed(&names))).into());
        };
        let span = (self.start + from, to - from);
        let descriptor = format!("{}{kind}", if *bytes == 1 { "|" } else { "<" });
        NpyArray::of_span(self.path, name, self.reader.again(), span, &descriptor, shape.clone()).map(Some)
    }
}
