//! Documents of any command in their JSON form, read to be repeated.

use super::fault::fault;
use super::input_file::{Digested, InputFile, open};
use super::json::parse;
use super::text::read_whole_json;
use crate::error::Result;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A document, and the work behind it that it states.
#[derive(Debug, Clone)]
pub struct RecordedDocument {
    /// The file.
    pub input: InputFile,
    /// The command, such as `audit counts`.
    pub command: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The files that the command read: path, bytes and SHA-256.
    pub inputs: Vec<InputFile>,
    /// Every option of the command, with those that all commands share.
    pub options: Map<String, Value>,
    /// The whole document.
    pub document: Value,
}

#[derive(Deserialize)]
#[serde(expecting = "a document of leakbound")]
struct Common {
    command: String,
    seed: u64,
    inputs: Vec<Input>,
    options: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `name`, `size` and `sha256`")]
struct Input {
    name: PathBuf,
    size: u64,
    sha256: String,
}

/// Reads a document of any command.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, place, what was found and what was expected.
pub fn read_document(path: impl AsRef<Path>) -> Result<RecordedDocument> {
    let file = path.as_ref();
    let mut digested = Digested::new(open(file)?);
    let text = read_whole_json(file, &mut digested, "a document of leakbound", "write it as JSON")?;
    let document: Value = parse(file, &text)?;
    if !document.is_object() {
        return Err(fault(file, "whole file", "JSON that is not an object", "a document of leakbound").into());
    }
    let Common { command, seed, inputs, options } = parse(file, &text)?;
    let inputs = inputs.into_iter().map(|Input { name, size, sha256 }| InputFile { path: name, bytes: size, sha256 });
    let input = digested.finish_unchanged(file)?;
    Ok(RecordedDocument { input, command, seed, inputs: inputs.collect(), options, document })
}
