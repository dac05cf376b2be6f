//! How a program fails.

use crate::error::one_line;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// How a program failed to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// The kind of failure.
    pub kind: FaultKind,
    /// What was seen, on one line.
    pub message: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "kebab-case"))]
pub enum FaultKind {
    /// The process ended.
    Crash,
    /// No answer came in time.
    TimeOut,
    /// The answer is NaN.
    NotANumber,
    /// The answer is no answer.
    Malformed,
    /// The line of the answer is too long.
    TooLong,
    /// A line came that no request called for.
    Unasked,
}

impl FaultKind {
    const ALL: [Self; 6] =
        [Self::Crash, Self::TimeOut, Self::NotANumber, Self::Malformed, Self::TooLong, Self::Unasked];

    /// The name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::TimeOut => "time-out",
            Self::NotANumber => "not-a-number",
            Self::Malformed => "malformed",
            Self::TooLong => "too-long",
            Self::Unasked => "unasked",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Serialize for FaultKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FaultKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| D::Error::custom(format_args!("`{name}` is no kind of failure")))
    }
}

/// The beginning of a line, safe to print.
pub(crate) fn quoted(line: &str) -> String {
    let start: String = line.chars().take(120).collect();
    format!("`{}{}`", one_line(&start), if start.len() < line.len() { "..." } else { "" })
}

/// A line with what Python writes where JSON has no word for a number: infinities and NaN as strings.
pub(crate) fn with_special_numbers_as_strings(line: &str) -> String {
    line.replace("-Infinity", "\"-inf\"").replace("Infinity", "\"inf\"").replace("NaN", "\"nan\"")
}
