//! JSON with messages that state place, found and expected.

use super::fault::{fault, hinted, shortened};
use super::number::{COUNT, PROBABILITY};
use super::scalar::{List, scalar};
use super::table::{MAX_PAIRS, is_name};
use crate::counts::MAX_COUNT;
use crate::error::{InputError, Result};
use crate::json;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Unexpected};
use serde_json::error::Category;
use std::path::Path;

/// Reads a whole text as one value.
pub(super) fn parse<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    json::from_str(text).map_err(|error| explain(file, text, &error, 0).into())
}

/// Reads a line of a text as one value; `before` lines come before it.
pub(super) fn parse_line<T: DeserializeOwned>(file: &Path, line: &str, before: usize) -> Result<T> {
    json::from_str(line).map_err(|error| explain(file, line, &error, before).into())
}

/// Turns serde's sentence, `invalid type: FOUND, expected EXPECTED at line L column C`, into an [`InputError`].
fn explain(file: &Path, text: &str, error: &serde_json::Error, before: usize) -> InputError {
    let place = format!("line {}, character {}", before + error.line(), error.column());
    let sentence = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let sentence = sentence.strip_suffix(&suffix).unwrap_or(&sentence);
    let shown = |text: &str| shortened(text, 120);
    match error.classify() {
        Category::Eof => hinted(
            fault(file, place, "the end of the text", format!("JSON that is complete ({})", shown(sentence))),
            "the file may be cut off",
        ),
        Category::Data => {
            let (found, expected) = match sentence.split_once(", expected ") {
                Some((found, expected)) => (found, expected.to_owned()),
                None if sentence.starts_with("missing field") => {
                    ("an object without it", sentence.replace("missing field", "the field"))
                }
                None if sentence.starts_with("duplicate field") => (sentence, "each field once".to_owned()),
                None if sentence.starts_with("duplicate key") => (sentence, "each key once".to_owned()),
                None => (sentence, "the JSON of a recording".to_owned()),
            };
            let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
            fault(file, place, shown(found), shown(&expected))
        }
        Category::Syntax | Category::Io => {
            // The column counts bytes from 1 and is that of the offending byte.
            let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            let start = (0..=error.column().saturating_sub(1)).rev().find(|&byte| line.is_char_boundary(byte));
            let rest = start.and_then(|start| line.get(start..)).unwrap_or_default();
            fault(file, place, format!("`{}`", shortened(rest, 20)), format!("JSON ({})", shown(sentence)))
        }
    }
}

/// A count from 0 to 2^53.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count(pub(super) u64);

scalar!(Count, deserialize_u64, COUNT, |value| match value {
    Unexpected::Unsigned(count) if count <= MAX_COUNT => Ok(Count(count)),
    other => Err(other),
});

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share(pub(super) f64);

scalar!(Share, deserialize_f64, PROBABILITY, |value| match value {
    Unexpected::Float(share) if (0.0..=1.0).contains(&share) => Ok(Share(share)),
    Unexpected::Unsigned(share) if share <= 1 => Ok(Share(share as f64)),
    other => Err(other),
});

/// The name of an outcome or query: a text, or a whole number for its digits.
#[derive(Debug, Clone)]
pub(super) struct Name(pub(super) String);

/// What a name must be, for messages.
pub(super) const NAME_OR_NUMBER: &str = "a name of 1 to 1024 bytes without control characters, or a whole number";

scalar!(Name, deserialize_any, NAME_OR_NUMBER, |value| match value {
    Unexpected::Str(text) if is_name(text.trim()) => Ok(Name(text.trim().into())),
    Unexpected::Str(text) => Err(Unexpected::Str(text.trim())),
    Unexpected::Unsigned(number) => Ok(Name(number.to_string())),
    Unexpected::Signed(number) => Ok(Name(number.to_string())),
    other => Err(other),
});

/// An array limited to the number of outcomes of a file, so that a short text cannot fill the memory.
#[derive(Debug)]
pub(super) struct Bounded<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let expected = format!("an array of at most {MAX_PAIRS} entries");
        deserializer.deserialize_seq(List::new(MAX_PAIRS, expected)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: DeserializeOwned>(text: &str) -> String {
        parse::<T>(Path::new("t.json"), text).err().map_or_else(|| "accepted".into(), |error| error.to_string())
    }

    #[test]
    fn every_class_of_json_error_is_one_sentence() {
        insta::assert_snapshot!(
            [
                message::<Count>("-3"),
                message::<Count>("2.5"),
                message::<Count>("9007199254740993"),
                message::<Count>("\"3\""),
                message::<Share>("1.5"),
                message::<Share>("NaN"),
                message::<Name>("true"),
                message::<Name>("\"a\\u0007\""),
                message::<Bounded<Count>>("[1,\n2"),
                message::<Bounded<Count>>("[1,\n2é"),
                message::<Bounded<Count>>("[] x"),
                message::<Bounded<Bounded<Count>>>(&"[".repeat(200)),
                message::<serde_json::Value>("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2}}"),
            ]
            .join("\n"),
            @r#"
            t.json: line 1, character 2: found integer `-3`, expected a whole number from 0 to 2^53
            t.json: line 1, character 3: found floating point `2.5`, expected a whole number from 0 to 2^53
            t.json: line 1, character 16: found integer `9007199254740993`, expected a whole number from 0 to 2^53
            t.json: line 1, character 3: found string "3", expected a whole number from 0 to 2^53
            t.json: line 1, character 3: found floating point `1.5`, expected a probability from 0 to 1
            t.json: line 1, character 1: found `NaN`, expected JSON (expected value)
            t.json: line 1, character 4: found boolean `true`, expected a name of 1 to 1024 bytes without control characters, or a whole number
            t.json: line 1, character 9: found string "a\u{7}", expected a name of 1 to 1024 bytes without control characters, or a whole number
            t.json: line 2, character 1: found the end of the text, expected JSON that is complete (EOF while parsing a list); hint: the file may be cut off
            t.json: line 2, character 2: found `é`, expected JSON (expected `,` or `]`)
            t.json: line 1, character 4: found `x`, expected JSON (trailing characters)
            t.json: line 1, character 2: found sequence, expected a whole number from 0 to 2^53
            t.json: line 2, character 16: found duplicate key `c`, expected each key once
            "#
        );
        assert_eq!(message::<Name>("-7"), "accepted");
        assert_eq!(message::<Share>("1"), "accepted");
    }

    #[test]
    fn a_long_array_is_rejected() {
        let text = format!("[{}0]", "0,".repeat(MAX_PAIRS));
        assert!(message::<Bounded<Count>>(&text).contains("expected an array of at most 1048576 entries"));
    }
}
