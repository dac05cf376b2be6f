//! JSON from users, read so that each key of an object occurs only once.
//!
//! serde_json silently takes the last of several values of one key. All JSON from users is read here; a test enforces
//! this for the other files of the library.

use crate::error::echo;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Error, Result};
use std::borrow::Cow;

/// Reads a text as one value.
///
/// ```
/// use leakbound::json;
///
/// assert_eq!(json::from_str::<serde_json::Value>(r#"{"a": [1, {"a": 2}]}"#)?["a"][0], 1);
/// let error = json::from_str::<serde_json::Value>("{\"a\": 1,\n \"\\u0061\": 2}").unwrap_err();
/// assert_eq!(error.to_string(), "duplicate key `a` at line 2 column 2");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The error of serde_json for a text that is not such a value; and, at any depth, the first key that an object has
/// twice, whatever its value, as an error of the category `Data` with the place of its opening quote.
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T> {
    let value = serde_json::from_str(text)?;
    let Some((key, start)) = repeated_key(text) else { return Ok(value) };
    let line = 1 + text[..start].matches('\n').count();
    let column = 1 + start - text[..start].rfind('\n').map_or(0, |end| end + 1);
    // The end of the sentence becomes the place of the error.
    Err(Error::custom(format!("duplicate key `{}` at line {line} column {column}", echo(&key))))
}

/// Reads bytes of a text in UTF-8 as one value.
///
/// # Errors
/// As [`from_str`].
pub fn from_slice<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    from_str(std::str::from_utf8(bytes).map_err(Error::custom)?)
}

/// The first key of a JSON text that occurs a second time in its object, and where that starts.
fn repeated_key(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let bytes = text.as_bytes();
    // Of each object that is open, how many keys those around it have; none of an array.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut keys: Vec<(Cow<'_, str>, usize)> = Vec::new();
    let mut first: Option<(Cow<'_, str>, usize)> = None;
    let (mut at, mut is_key) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => {
                open.push(Some(keys.len()));
                is_key = true;
            }
            b'[' => open.push(None),
            b',' => is_key = matches!(open.last(), Some(Some(_))),
            b':' => is_key = false,
            b'}' | b']' => {
                is_key = false;
                if let Some(before) = open.pop().flatten() {
                    keys[before..].sort_unstable();
                    let twice = keys[before..].windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| &pair[1]);
                    let found = twice.chain(&first).min_by_key(|(_, start)| *start).cloned();
                    first = found;
                    keys.truncate(before);
                }
            }
            b'"' => {
                let end = closing_quote(bytes, at);
                if is_key {
                    keys.push((key(&text[at..end]), at));
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    first
}

/// Behind the string that starts here.
fn closing_quote(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// A key without escapes: an escaped key may equal one that is not.
fn key(written: &str) -> Cow<'_, str> {
    let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
    match inside.contains('\\').then(|| serde_json::from_str(written)) {
        Some(Ok(meant)) => Cow::Owned(meant),
        Some(Err(_)) | None => Cow::Borrowed(inside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;
    use std::collections::BTreeMap;

    fn found(text: &str) -> String {
        from_str::<Value>(text).map_or_else(|error| error.to_string(), |_| "accepted".into())
    }

    #[test]
    fn keys_come_once_at_any_depth() {
        for (text, key, line, column) in [
            (r#"{"a":1,"a":1}"#, "a", 1, 8),
            (r#"{"a":1,"b":{"c":2},"a":null}"#, "a", 1, 20),
            (r#"[[{"x":{}},{"x":0,"y":1,"x":0}]]"#, "x", 1, 25),
            ("{\n \"é\": \"\\\"\",\n  \"\\u00e9\": []}", "é", 3, 3),
            (r#"{"": 1, "": 2}"#, "", 1, 9),
            // The one that comes first in the text, not the one of the object that ends first.
            (r#"{"a":1,"a":2,"b":{"c":1,"c":2}}"#, "a", 1, 8),
            (r#"{"a":1,"b":{"c":1,"c":2},"a":2}"#, "c", 1, 19),
            // Also in the parts that the type ignores.
            (r#"{"a":"}{,","b":[{"k":1},{"k":1,"k":1}]}"#, "k", 1, 32),
        ] {
            assert_eq!(found(text), format!("duplicate key `{key}` at line {line} column {column}"), "{text}");
            assert!(from_slice::<Value>(text.as_bytes()).is_err() && from_str::<serde::de::IgnoredAny>(text).is_err());
        }
        for text in [
            "{}",
            "[]",
            "\"{\\\"a\\\":1,\\\"a\\\":2}\"",
            "3",
            r#"{"a":{"a":{"a":[{"a":"a","b":"a"}]}}}"#,
            r#"[{"a":1},{"a":1}]"#,
            r#"{"a":["a","a"],"A":"a:a","\\":1,"\\\\":1}"#,
        ] {
            assert_eq!(found(text), "accepted", "{text}");
        }
        assert_eq!(from_str::<BTreeMap<String, f64>>(r#"{"a":1e400}"#).unwrap_err().line(), 1);
        assert!(from_slice::<Value>(b"\"\xff\"").unwrap_err().to_string().contains("utf-8"));
        // An error that names its own place keeps it.
        let error = from_str::<Value>("{\"a at line 7 column 7\":1,\n\"a at line 7 column 7\":1}").unwrap_err();
        assert_eq!((error.line(), error.column(), error.is_data()), (2, 1, true));
    }

    #[test]
    fn many_keys_take_no_quadratic_time() {
        let text: String = (0..200_000).map(|key| format!("\"{key}\":0,")).collect();
        assert_eq!(found(&format!("{{{text}\"x\":0}}")), "accepted");
        assert!(found(&format!("{{{text}\"7\":0}}")).starts_with("duplicate key `7` at line 1"));
        assert_eq!(found(&format!("{}1{}", "[".repeat(100), "]".repeat(100))), "accepted");
    }

    proptest! {
        /// What serde_json writes has no key twice, and what was read before is read alike.
        #[test]
        fn what_is_written_is_read(text in "\\PC{0,20}", number: f64, keys in prop::collection::btree_set("\\PC{0,6}", 0..6)) {
            let object: serde_json::Map<String, Value> = keys.into_iter().map(|key| (key, text.clone().into())).collect();
            let value = serde_json::json!([object, { "x": number, "y": [object] }, text]);
            let written = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(from_str::<Value>(&written).unwrap(), value);
        }

        #[test]
        fn no_text_is_a_panic(text in "[\\[\\]{}\":,\\\\a1 é]{0,30}") {
            let (own, other) = (from_str::<Value>(&text), serde_json::from_str::<Value>(&text));
            prop_assert!(own.is_ok() <= other.is_ok());
            let _ = repeated_key(&text);
        }
    }
}
