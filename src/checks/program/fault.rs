//! How a program fails.

use crate::error::one_line;
use crate::named::named;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The process ended.
    Crash,
    /// No answer came in time.
    TimeOut,
    /// The answer is NaN.
    NotANumber,
    /// The answer has the wrong form.
    Malformed,
    /// The line of the answer is too long.
    TooLong,
    /// A line came without a request.
    Unasked,
}

named!(FaultKind, "kind of failure", [
    Crash "crash", TimeOut "time-out", NotANumber "not-a-number", Malformed "malformed", TooLong "too-long",
    Unasked "unasked",
]);

/// The beginning of a line, safe to print.
pub(crate) fn quoted(line: &str) -> String {
    let start: String = line.chars().take(120).collect();
    format!("`{}{}`", one_line(&start), if start.len() < line.len() { "..." } else { "" })
}

/// A line with what Python writes where JSON has no word for a number: infinities and NaN as strings.
pub(crate) fn with_special_numbers_as_strings(line: &str) -> String {
    line.replace("-Infinity", "\"-inf\"").replace("Infinity", "\"inf\"").replace("NaN", "\"nan\"")
}
