//! The single error type: every variant carries the quantity, the value found and the domain expected.

use std::borrow::Borrow;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Everything that can go wrong in leakbound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number lies outside the domain of the quantity it is meant for.
    #[error("{quantity} = {} is not in {domain}", readable(*value))]
    Domain {
        /// The quantity in the field's words, such as `Rényi order`.
        quantity: &'static str,
        /// The value that was given.
        value: f64,
        /// The legal domain, such as `(1, inf)`.
        domain: &'static str,
    },
    /// A text cannot be read as the quantity it is meant for.
    #[error("{quantity} `{}` cannot be read; expected {expected}", echo(value))]
    Syntax {
        /// The quantity in the field's words.
        quantity: &'static str,
        /// The text that was given.
        value: String,
        /// The accepted values.
        expected: &'static str,
    },
    /// Two objects that must agree in size do not, or one has an impossible size.
    #[error("{quantity} has length {found}; expected {}", bounded(expected))]
    Length {
        /// The object that has the length.
        quantity: &'static str,
        /// The length found.
        found: usize,
        /// The length or range of lengths expected.
        expected: String,
    },
    /// An iteration ended before it reached its tolerance; no value is returned instead.
    #[error("{quantity} did not converge: residual {residual:e} after {iterations} steps, tolerance {tolerance:e}")]
    NoConvergence {
        /// The computation.
        quantity: &'static str,
        /// The last measure of error.
        residual: f64,
        /// The largest error accepted.
        tolerance: f64,
        /// Steps taken.
        iterations: usize,
    },
    /// A well-formed request that cannot be carried out, with the reason.
    #[error("{operation}: {}", bounded(reason))]
    Rejected {
        /// The operation requested.
        operation: &'static str,
        /// Why it is not carried out.
        reason: String,
    },
    /// A device, a library or memory is missing.
    #[error("{operation}: {}", bounded(reason))]
    Unavailable {
        /// The operation requested.
        operation: &'static str,
        /// What is missing.
        reason: String,
    },
    /// Two figures of one quantity exclude each other. One of them is wrong, so neither is shown.
    #[error(
        "internal error: {quantity}: {lower_name} = {} is above {upper_name} = {}; please report this command",
        readable(*lower),
        readable(*upper)
    )]
    Contradiction {
        /// The quantity.
        quantity: String,
        /// The exact value or lower bound.
        lower_name: String,
        /// Its value.
        lower: f64,
        /// The upper bound, or the exact value below a lower bound.
        upper_name: String,
        /// Its value.
        upper: f64,
    },
    /// A progress callback ended the work early.
    #[error("the work was interrupted")]
    Interrupted,
    /// A file contains something unexpected.
    #[error(transparent)]
    Input(Box<InputError>),
    /// The operating system could not read or write a file.
    #[error("{}: cannot {action}: {source}", shown(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The action, such as `read` or `write`.
        action: &'static str,
        /// The reason given by the system.
        source: std::io::Error,
    },
}

impl Error {
    /// [`Error::Length`] for an unexpected length.
    pub fn length(quantity: &'static str, found: usize, expected: impl Display) -> Self {
        Self::Length { quantity, found, expected: expected.to_string() }
    }

    /// [`Error::NoConvergence`] for a computation.
    pub const fn no_convergence(quantity: &'static str, residual: f64, tolerance: f64, iterations: usize) -> Self {
        Self::NoConvergence { quantity, residual, tolerance, iterations }
    }

    /// [`Error::Syntax`] for a given text.
    pub fn syntax(quantity: &'static str, value: impl Into<String>, expected: &'static str) -> Self {
        Self::Syntax { quantity, value: value.into(), expected }
    }

    /// [`Error::Rejected`] with its reason.
    pub fn rejected(operation: &'static str, reason: impl Display) -> Self {
        Self::Rejected { operation, reason: reason.to_string() }
    }

    /// Accepts a legal value.
    ///
    /// # Errors
    /// [`Error::Domain`] for any other value.
    #[doc(hidden)]
    pub fn check_domain(legal: bool, quantity: &'static str, value: f64, domain: &'static str) -> Result<()> {
        if legal { Ok(()) } else { Err(Self::Domain { quantity, value, domain }) }
    }

    /// Accepts values that are all legal.
    ///
    /// # Errors
    /// [`Error::Domain`] with the first illegal value.
    #[doc(hidden)]
    pub fn check_domain_of_all(
        values: impl IntoIterator<Item = impl Borrow<f64>>,
        legal: impl Fn(f64) -> bool,
        quantity: &'static str,
        domain: &'static str,
    ) -> Result<()> {
        let mut values = values.into_iter().map(|value| *value.borrow());
        values.try_for_each(|value| Self::check_domain(legal(value), quantity, value, domain))
    }

    /// Accepts a fitting length.
    ///
    /// # Errors
    /// [`Error::Length`] for any other length.
    #[doc(hidden)]
    pub fn check_length(fits: bool, quantity: &'static str, found: usize, expected: impl Display) -> Result<()> {
        if fits { Ok(()) } else { Err(Self::length(quantity, found, expected)) }
    }

    /// Accepts the expected number of things.
    ///
    /// # Errors
    /// [`Error::Length`] for any other number; its text gives the expected number followed by ` outcomes` or `, one per
    /// sample`.
    #[doc(hidden)]
    pub fn check_size(quantity: &'static str, found: usize, wanted: usize, of: &str) -> Result<()> {
        Self::check_length(found == wanted, quantity, found, format_args!("{wanted}{of}"))
    }

    /// Accepts what can be done.
    ///
    /// # Errors
    /// [`Error::Rejected`] with the reason for anything else.
    #[doc(hidden)]
    pub fn check_possible(possible: bool, operation: &'static str, reason: impl Display) -> Result<()> {
        if possible { Ok(()) } else { Err(Self::rejected(operation, reason)) }
    }

    /// The kind of the error. Work interrupted by the system is [`ErrorKind::Interrupted`], as is work ended by a
    /// callback.
    ///
    /// ```
    /// use leakbound::error::ErrorKind;
    /// use leakbound::quantity::Order;
    ///
    /// assert_eq!(Order::new(0.5).unwrap_err().kind(), ErrorKind::Domain);
    /// ```
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Domain { .. } => ErrorKind::Domain,
            Self::Syntax { .. } => ErrorKind::Syntax,
            Self::Length { .. } => ErrorKind::Length,
            Self::NoConvergence { .. } => ErrorKind::NoConvergence,
            Self::Rejected { .. } => ErrorKind::Rejected,
            Self::Unavailable { .. } => ErrorKind::Unavailable,
            Self::Contradiction { .. } => ErrorKind::Contradiction,
            Self::Interrupted => ErrorKind::Interrupted,
            Self::Input(_) => ErrorKind::Input,
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::Interrupted => ErrorKind::Interrupted,
            Self::Io { .. } => ErrorKind::Io,
        }
    }

    /// Why something is not done, for a message that already names it; for any other error, the whole message.
    #[doc(hidden)]
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Rejected { reason, .. } => reason.clone(),
            other => other.to_string(),
        }
    }
}

/// The kinds of errors: a closed list, so that a program can handle each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A number lies outside its domain.
    Domain,
    /// A text cannot be read.
    Syntax,
    /// Sizes do not match, or are impossible.
    Length,
    /// An iteration ended before it reached its tolerance.
    NoConvergence,
    /// A well-formed request cannot be carried out.
    Rejected,
    /// A device, a library or memory is missing.
    Unavailable,
    /// Two figures of one quantity exclude each other: an error in this library.
    Contradiction,
    /// A callback, a signal or a program ended the work.
    Interrupted,
    /// A file contains something unexpected.
    Input,
    /// The system could not read or write a file.
    Io,
}

/// One error at one place of one file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {}: found {}, expected {}{}",
    shown(file), bounded(place), bounded(found), bounded(expected), hint_suffix(hint.as_deref())
)]
pub struct InputError {
    /// The file as the user named it.
    pub file: PathBuf,
    /// Where in the file: line and column name, array name and index, or `whole file`.
    pub place: String,
    /// The value found there.
    pub found: String,
    /// What was expected instead.
    pub expected: String,
    /// How to fix it, if known.
    pub hint: Option<String>,
}

fn hint_suffix(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("; hint: {}", bounded(hint)))
}

/// A path as part of one line; of a very long path, the beginning and the end, which names the file.
fn shown(path: &Path) -> String {
    let line = one_line(&path.to_string_lossy());
    let length = line.chars().count();
    if length <= LONGEST_PATH {
        return line;
    }
    let end: String = line.chars().skip(length - (LONGEST_PATH - ECHO / 2)).collect();
    shortened(&line, ECHO / 2) + &end
}

/// The longest piece of user text that a message repeats, in characters; the rest is replaced by `...`.
#[doc(hidden)]
pub const ECHO: usize = 80;
/// The longest path, in characters.
const LONGEST_PATH: usize = 2 * ECHO;
/// The longest part of a message: lists of accepted values are shorter.
const LONGEST_PART: usize = 1000;

/// A value, name or key as repeated in a message: on one line, with at most [`ECHO`] characters.
#[must_use]
#[doc(hidden)]
pub fn echo(text: &str) -> String {
    shortened(text, ECHO)
}

/// At most `limit` characters of a text, escaping everything that would break the line or rewrite the terminal.
#[doc(hidden)]
pub fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => one_line(text),
        Some((end, _)) => one_line(&text[..end]) + "...",
    }
}

/// A part of a message; every message passes through here. Texts between backticks and words of more than [`ECHO`]
/// characters are cut, wherever they were inserted.
#[must_use]
#[doc(hidden)]
pub fn bounded(text: &str) -> String {
    if text.len() <= ECHO {
        return one_line(text);
    }
    let quoted = text.split('`').count() - 1;
    let mut bounded = String::new();
    for (index, piece) in text.split('`').enumerate() {
        if index > 0 {
            bounded.push('`');
        }
        // Between one backtick and the next.
        if index % 2 == 1 && index < quoted {
            bounded += &echo(piece);
        } else {
            bounded.extend(piece.split_inclusive(' ').map(echo));
        }
    }
    shortened(&bounded, LONGEST_PART)
}

/// A text in which everything that would break its line or rewrite the terminal is escaped.
#[must_use]
#[doc(hidden)]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if breaks_line(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Characters that are not shown as they are and that no name contains: control characters, Unicode line breaks, marks
/// that change the direction of writing, and code points that are not characters, which XML does not allow.
#[doc(hidden)]
pub fn breaks_line(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}')
        || u32::from(character) & 0xfffe == 0xfffe
}

/// A number that reads back exactly, in powers of ten if it would otherwise have more than sixteen digits.
#[doc(hidden)]
pub fn readable(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// A count for a message, rounded up: a count of 2^53 + 1 must not be shown as 2^53.
pub(crate) fn count_above(count: u64) -> f64 {
    let value = count as f64;
    if (value as u64) < count { value.next_up() } else { value }
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

/// A result of leakbound.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_names_quantity_value_and_domain() {
        let messages = [
            Error::Domain { quantity: "noise scale", value: -1.0, domain: "(0, inf)" }.to_string(),
            Error::Domain { quantity: "noise scale", value: 1e300, domain: "(0, inf)" }.to_string(),
            Error::Syntax { quantity: "noise", value: "gauss".into(), expected: "gaussian:sigma=S or laplace:scale=B" }
                .to_string(),
            Error::Length { quantity: "histogram", found: 0, expected: "1 to 10000".into() }.to_string(),
            Error::NoConvergence { quantity: "root", residual: 0.5, tolerance: 1e-3, iterations: 9 }.to_string(),
            Error::Rejected { operation: "composition", reason: "teachers are shared".into() }.to_string(),
            Error::Unavailable { operation: "device cuda", reason: "there is no GPU".into() }.to_string(),
            Error::from(InputError {
                file: "a.csv".into(),
                place: "line 3, column count".into(),
                found: "`-1`".into(),
                expected: "a whole number from 0 to 2^53".into(),
                hint: Some("counts are never negative".into()),
            })
            .to_string(),
            Error::Syntax { quantity: "noise", value: "\u{9b}x".repeat(50_000), expected: "gaussian:sigma=S" }
                .to_string(),
            Error::Rejected {
                operation: "options",
                reason: format!("query `{}` and key={}", "long name ".repeat(9), "é".repeat(100)),
            }
            .to_string(),
            Error::Io {
                path: "/folder".repeat(1000).into(),
                action: "write",
                source: std::io::Error::new(std::io::ErrorKind::NotFound, "no such file"),
            }
            .to_string(),
            Error::Io {
                path: "a\nb.csv".into(),
                action: "read",
                source: std::io::Error::new(std::io::ErrorKind::NotFound, "no such file"),
            }
            .to_string(),
        ];
        insta::assert_snapshot!(messages.join("\n"), @r"
        noise scale = -1 is not in (0, inf)
        noise scale = 1e300 is not in (0, inf)
        noise `gauss` cannot be read; expected gaussian:sigma=S or laplace:scale=B
        histogram has length 0; expected 1 to 10000
        root did not converge: residual 5e-1 after 9 steps, tolerance 1e-3
        composition: teachers are shared
        device cuda: there is no GPU
        a.csv: line 3, column count: found `-1`, expected a whole number from 0 to 2^53; hint: counts are never negative
        noise `\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x\u{9b}x...` cannot be read; expected gaussian:sigma=S
        options: query `long name long name long name long name long name long name long name long name ...` and key=éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé...
        /folder/folder/folder/folder/folder/fold...r/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder: cannot write: no such file
        a\nb.csv: cannot read: no such file
        ");
    }
}
