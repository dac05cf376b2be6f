//! Options of a training, as a study file has them.

use super::fault::{fault, quoted};
use super::input_file::{InputFile, read_up_to};
use super::toml_keys::Keys;
use crate::error::Result;
use serde_json::{Map, Value};
use std::path::Path;

/// The largest file.
const MAX_BYTES: u64 = 1 << 20;

/// An option of training, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOption {
    /// Its name, with hyphens.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Its line, counted from 1.
    pub line: usize,
}

impl StudyOption {
    /// The options of one training: its own, and those shared ones that it does not have itself.
    #[must_use]
    pub fn of_both<'a>(shared: &'a [Self], own: &'a [Self]) -> Vec<&'a Self> {
        let shared = shared.iter().filter(|shared| own.iter().all(|own| own.name != shared.name));
        shared.chain(own).collect()
    }

    /// The same as an object.
    #[must_use]
    pub fn map(options: &[&Self]) -> Map<String, Value> {
        options.iter().map(|option| (option.name.clone(), option.value.clone())).collect()
    }
}

/// All keys of a table except the `own` ones, as options of training. Those that the study itself decides are rejected.
pub(super) fn study_options(keys: &Keys<'_>, own: &[&str], decided: &[&str]) -> Result<Vec<StudyOption>> {
    let option = |(name, line, value): (&str, usize, Value)| {
        if decided.contains(&name) {
            let found = format!("the option {}", quoted(name));
            return Err(keys.line_fault(line, found, "options that the study leaves open").into());
        }
        Ok(StudyOption { name: name.to_owned(), value, line })
    };
    keys.each().filter(|(name, ..)| !own.contains(name)).map(option).collect()
}

/// The bytes of a study file.
pub(super) fn study_bytes(file: &Path) -> Result<(InputFile, Vec<u8>)> {
    let bytes = read_up_to(file, MAX_BYTES)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fault(file, "whole file", "more than 1 MiB", "a study in at most 1 MiB of TOML").into());
    }
    Ok((InputFile::of_bytes(file, &bytes), bytes))
}
