//! The line that states what is wrong with an input: place, found, expected.

pub(super) use crate::error::shortened;
use crate::error::{Error, InputError, echo};
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::str::Utf8Error;

/// An input error without a hint; add one with `InputError { hint, ..fault(..) }` or [`hinted`].
pub(super) fn fault(
    file: &Path,
    place: impl Into<String>,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> InputError {
    InputError {
        file: file.to_path_buf(),
        place: place.into(),
        found: found.into(),
        expected: expected.into(),
        hint: None,
    }
}

/// The same error with advice on how to fix it.
pub(super) fn hinted(error: InputError, hint: impl Into<String>) -> InputError {
    InputError { hint: Some(hint.into()), ..error }
}

/// The error of a checkpoint that is not to be resumed.
#[must_use]
pub fn checkpoint_exists(file: &Path) -> InputError {
    let error = fault(file, "checkpoint", "a file that already exists", "a new file");
    hinted(error, "a run that resumes continues where it ends; remove it to start over")
}

/// The error of data of an array that cannot be unpacked.
pub(super) fn unpackable(file: &Path, place: String, reason: &dyn Display, expected: &str) -> InputError {
    let found = format!("data that cannot be unpacked ({})", shortened(&reason.to_string(), 100));
    hinted(fault(file, place, found, expected), "the file may be damaged")
}

/// The system's error on reading a file.
pub(super) fn unreadable(file: &Path, source: io::Error) -> Error {
    Error::Io { path: file.to_path_buf(), action: "read", source }
}

/// The line of a byte, counted from 1.
pub(super) fn line_of(bytes: &[u8], byte: usize) -> usize {
    1 + bytes[..byte].iter().filter(|&&byte| byte == b'\n').count()
}

/// The text of a file; `what` names its expected content.
pub(super) fn utf8<'a>(file: &Path, bytes: &'a [u8], what: &str) -> Result<&'a str, InputError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let place = format!("line {}", line_of(bytes, error.valid_up_to()));
        hinted(fault(file, place, "bytes that are not UTF-8", what), "save it as UTF-8")
    })
}

/// The error of the first byte that is not UTF-8, in this line.
pub(super) fn no_utf8(file: &Path, line: impl Display, bytes: &[u8], error: Utf8Error) -> InputError {
    let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
    let error = fault(file, format!("line {line}"), format!("the byte 0x{byte:02x}"), "UTF-8 text");
    hinted(error, "save the file as UTF-8")
}

/// The user's text between backticks, escaped and shortened; an empty text is called empty.
pub(super) fn quoted(text: &str) -> String {
    if text.is_empty() { "an empty field".into() } else { format!("`{}`", echo(text)) }
}

/// A number of things: `1 row`, `2 rows`, `2 classes`.
pub(super) fn several(count: usize, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Names in a sentence: `` `a`, `b` ``; only the first dozen, since a file may hold thousands.
pub(super) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let mut text = names.iter().take(12).map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        text.push_str(&format!(" and {} more", names.len() - 12));
    }
    if text.is_empty() { "none".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_wrote_stays_on_one_short_line() {
        assert_eq!(quoted("a\nb\u{1b}[31m"), "`a\\nb\\u{1b}[31m`");
        assert_eq!(quoted(""), "an empty field");
        assert_eq!(quoted(&"x".repeat(1000)).len(), crate::error::ECHO + 5);
        assert_eq!(quoted("Straße"), "`Straße`");
        assert_eq!(listed(&["a"; 14]).matches("`a`").count(), 12);
        assert_eq!(listed::<&str>(&[]), "none");
    }
}
