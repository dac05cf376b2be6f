//! Outputs that are numbers, as they are read.

use super::fault::{fault, quoted};
use super::table::Table;
use crate::audit::RealOutputs;
use crate::error::{InputError, Result};
use std::collections::HashMap;
use std::path::Path;

/// The most values of a file: what bounds the memory of reading.
const MOST_VALUES: usize = 1 << 25;

/// What an output that is binned must be, for messages.
pub(super) const NUMBER: &str = "a number, to be counted in bins";

/// The outputs of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedValues {
    /// The query's name; `None` if the file does not distinguish queries.
    pub query: Option<String>,
    /// Its outputs in both worlds, at least one in each.
    pub outputs: RealOutputs,
}

/// Values by query, as they are read.
#[derive(Default)]
pub(super) struct Values {
    pub(super) queries: Vec<RecordedValues>,
    positions: HashMap<Option<String>, usize>,
    values: usize,
}

impl Values {
    /// Takes an output; returns what is wrong if it does not fit.
    pub(super) fn take(
        &mut self,
        query: Option<&str>,
        text: &str,
        counts: [u64; 2],
        reject: impl Fn(String, String) -> InputError,
    ) -> Result<()> {
        let value = number(text).map_err(|hint| {
            let error = reject(quoted(text), NUMBER.into());
            InputError { hint: hint.map(Into::into), ..error }
        })?;
        if self.values == MOST_VALUES {
            return Err(reject("one more output".into(), format!("at most {MOST_VALUES} outputs to bin")).into());
        }
        self.values += 1;
        if self.queries.last().is_none_or(|last| last.query.as_deref() != query) {
            let name = query.map(str::to_owned);
            if !self.positions.contains_key(&name) {
                self.positions.insert(name.clone(), self.queries.len());
                self.queries.push(RecordedValues { query: name.clone(), outputs: RealOutputs::default() });
            }
            let position = self.positions[&name];
            return self.queries[position].outputs.add(value, counts);
        }
        // The last query is the one that is meant.
        self.queries.last_mut().map_or(Ok(()), |last| last.outputs.add(value, counts))
    }

    /// The labels of a table as numbers.
    pub(super) fn of_table(file: &Path, table: Table<u64>) -> Result<Self> {
        let mut values = Self::default();
        for group in table.into_groups() {
            let place = group.place();
            for (label, counts) in group.labels.iter().zip(&group.values) {
                values.take(group.query.as_deref(), label, *counts, |found, expected| {
                    fault(file, place.clone(), format!("the outcome {found}"), expected)
                })?;
            }
        }
        Ok(values)
    }
}

/// A number that is not NaN; otherwise a hint, if one is known.
pub(super) fn number(text: &str) -> std::result::Result<f64, Option<&'static str>> {
    match text.parse::<f64>() {
        Ok(value) if value.is_nan() => Err(Some("record a failed answer as a number that no other answer has")),
        Ok(value) => Ok(value),
        Err(_) => Err(None),
    }
}
