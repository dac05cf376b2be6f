//! Datasets of a program under audit, and pairs of them.

use super::fault::fault;
use super::input_file::{Digested, InputFile, open};
use super::json::parse;
use super::text::read_whole_json;
use crate::black_box::{Dataset, Pair};
use crate::error::Result;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Reads a dataset: a JSON array of records.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, place, what was found and what was expected.
pub fn read_dataset(path: impl AsRef<Path>) -> Result<(Dataset, InputFile)> {
    read(path.as_ref(), "a JSON array of records, such as [1, 2, 3]")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `dataset` and `neighbor`")]
struct Row {
    dataset: Dataset,
    neighbor: Dataset,
    pattern: Option<String>,
}

/// Reads pairs of neighbors: a JSON array of objects with `dataset`, `neighbor` and perhaps `pattern`, a name.
///
/// # Errors
/// As [`read_dataset`], and for an empty list, or a pair of two equal datasets.
pub fn read_pairs(path: impl AsRef<Path>) -> Result<(Vec<Pair>, InputFile)> {
    let file = path.as_ref();
    let (rows, input): (Vec<Row>, InputFile) =
        read(file, "a JSON array of objects such as {\"dataset\": [1, 2], \"neighbor\": [1]}")?;
    if rows.is_empty() {
        return Err(fault(file, "whole file", "no pair", "at least one pair of datasets").into());
    }
    let pair = |(index, row): (usize, Row)| {
        if row.dataset == row.neighbor {
            let place = format!("pair {}", index + 1);
            return Err(fault(file, place, "the same dataset twice", "a dataset and its neighbor").into());
        }
        let pattern = row.pattern.unwrap_or_else(|| format!("pair {}", index + 1));
        Ok(Pair { dataset: row.dataset, neighbor: row.neighbor, pattern })
    };
    Ok((rows.into_iter().enumerate().map(pair).collect::<Result<_>>()?, input))
}

fn read<T: DeserializeOwned>(file: &Path, expected: &str) -> Result<(T, InputFile)> {
    let mut digested = Digested::new(open(file)?);
    let text = read_whole_json(file, &mut digested, expected, "see docs/audit-mechanism.md")?;
    let value = parse(file, &text)?;
    Ok((value, digested.finish_unchanged(file)?))
}
