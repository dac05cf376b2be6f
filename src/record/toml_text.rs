//! The text of a TOML file, for the places of its values.

use super::fault::{fault, quoted, utf8};
use crate::error::{Error, InputError, Result, readable};
use std::ops::Range;
use std::path::Path;

/// A text that knows its lines.
#[derive(Debug)]
pub(super) struct TomlText<'a> {
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    /// Where lines end.
    ends: Vec<usize>,
}

impl<'a> TomlText<'a> {
    /// The text in the bytes of a file, in UTF-8; `what` names the expected content.
    pub(super) fn of_bytes(file: &'a Path, bytes: &'a [u8], what: &str) -> Result<Self> {
        let text = utf8(file, bytes, what)?;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(place, _)| place).collect();
        Ok(Self { file, text, ends })
    }

    /// The line of a byte, counted from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        1 + self.ends.partition_point(|&end| end < byte)
    }

    /// The place that a parser complains of.
    pub(super) fn place(&self, error: &toml::de::Error) -> String {
        error.span().map_or_else(|| "whole file".into(), |span| format!("line {}", self.line(span.start)))
    }

    /// The rejection of a file that is not TOML; `what` names the expected content.
    pub(super) fn not_toml(&self, error: &toml::de::Error, what: &str) -> InputError {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        fault(self.file, self.place(error), message, what)
    }

    /// Something wrong with the value of a key.
    pub(super) fn fault(
        &self,
        span: &Range<usize>,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        fault(self.file, format!("line {}, {key}", self.line(span.start)), found, expected)
    }

    /// The rejection of a value by a type of the library, with the place of the value.
    pub(super) fn explain(&self, span: &Range<usize>, key: &str, error: Error) -> Error {
        let (found, expected) = match error {
            Error::Domain { quantity, value, domain } => {
                (format!("{quantity} = {}", readable(value)), format!("a value in {domain}"))
            }
            Error::Length { quantity, found, expected } => (format!("{quantity} of length {found}"), expected),
            Error::Syntax { value, expected, .. } => (quoted(&value), expected.to_owned()),
            Error::Rejected { operation, reason } => (reason, format!("a possible {operation}")),
            other => return other,
        };
        self.fault(span, key, found, expected).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_lines() {
        let text = TomlText::of_bytes(Path::new("a.toml"), b"a\nbc\n\nd", "letters").unwrap();
        // A line ends with its line break.
        let lines: Vec<usize> = (0..8).map(|byte| text.line(byte)).collect();
        assert_eq!(lines, [1, 1, 2, 2, 2, 3, 4, 4]);
        let error = TomlText::of_bytes(Path::new("a.toml"), b"a\nb\xff", "letters").unwrap_err().to_string();
        assert_eq!(error, "a.toml: line 2: found bytes that are not UTF-8, expected letters; hint: save it as UTF-8");
    }
}
