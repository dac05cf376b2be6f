//! Datasets that a program is run on.

use crate::error::{Error, Result};
use crate::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A dataset: a list of records of any kind (numbers, strings, lists, objects).
///
/// Under a norm relation the records are the numbers of a vector, such as the answers of a query.
///
/// ```
/// # use leakbound::black_box::Dataset;
/// let dataset: Dataset = "[1, 2.5, 3]".parse()?;
/// assert_eq!((dataset.records().len(), dataset.numbers()), (3, Some(vec![1.0, 2.5, 3.0])));
/// assert!("{}".parse::<Dataset>().is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Dataset(Vec<Value>);

impl Dataset {
    /// A dataset of these records.
    #[must_use]
    pub const fn new(records: Vec<Value>) -> Self {
        Self(records)
    }

    /// A dataset of numbers.
    #[must_use]
    pub fn of_numbers(numbers: &[f64]) -> Self {
        Self(numbers.iter().map(|&number| plain(number)).collect())
    }

    /// The records.
    #[must_use]
    pub fn records(&self) -> &[Value] {
        &self.0
    }

    /// The records as numbers, if all of them are.
    #[must_use]
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.0.iter().map(Value::as_f64).collect()
    }
}

/// A number as a record: whole numbers without a point, as they are usually written.
pub(super) fn plain(number: f64) -> Value {
    let whole = number as i64;
    if whole as f64 == number && whole.unsigned_abs() < 1 << 53 { whole.into() } else { number.into() }
}

impl std::str::FromStr for Dataset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let expected = "a JSON array of records, such as [1, 2, 3] or [{\"age\": 31}], each key once";
        json::from_str(text).map_err(|_| Error::syntax("dataset", text, expected))
    }
}

impl fmt::Display for Dataset {
    /// As JSON on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
