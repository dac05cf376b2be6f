//! Compositions: releases of mechanisms and how often each was made, as a file.

use super::fault::{fault, hinted, quoted, unreadable};
use super::input_file::{InputFile, open};
use super::scenario_keys::line;
use crate::counts::MAX_COUNT;
use crate::error::{Error, InputError, Result, readable};
use crate::histogram::VoteHistogram;
use crate::mechanism::{self, Mechanism, Relation};
use serde::Deserialize;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// The largest file.
const MAX_BYTES: u64 = 16 << 20;

/// Releases of one file, in their order.
#[derive(Debug, Clone)]
pub struct ReleaseList {
    /// The file.
    pub input: InputFile,
    /// At least one.
    pub releases: Vec<Release>,
}

/// A mechanism that was run so many times with fresh randomness.
#[derive(Debug, Clone)]
pub struct Release {
    /// The mechanism.
    pub mechanism: Arc<dyn Mechanism>,
    /// Its data; for one record the count 0, whose neighbor is 1.
    pub data: VoteHistogram,
    /// How many times, at least 1.
    pub times: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "tables [[release]]")]
struct Keys {
    release: Vec<Spanned<ReleaseKeys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a release with the key `mechanism`")]
struct ReleaseKeys {
    mechanism: Spanned<String>,
    times: Option<Spanned<i64>>,
    histogram: Option<Spanned<Vec<u64>>>,
}

/// What a file may hold whose name ends in `.toml`.
#[derive(Deserialize)]
struct FirstLook {
    release: Option<toml::Value>,
}

/// The text of a file, for the places of its values.
#[derive(Clone, Copy)]
struct Text<'a> {
    file: &'a Path,
    text: &'a str,
}

impl Text<'_> {
    fn fault(
        self,
        span: &Range<usize>,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        fault(self.file, format!("line {}, {key}", line(self.text, span.start)), found, expected)
    }
}

/// Whether a file is TOML with releases; a file that is no TOML has none.
///
/// # Errors
/// [`Error::Io`] when it cannot be read.
pub fn has_releases(path: impl AsRef<Path>) -> Result<bool> {
    let bytes = read(path.as_ref())?;
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    Ok(toml::from_str::<FirstLook>(text).is_ok_and(|look| look.release.is_some()))
}

/// Reads a file of releases in TOML:
/// ```toml
/// # DP-SGD, and a survey.
/// [[release]]
/// mechanism = "subsampled-gaussian:sigma=0.8,rate=0.01"
/// times = 10_000
///
/// [[release]]
/// mechanism = "randomized-response:sigma=2"
/// histogram = [1, 0, 0]
/// ```
///
/// | key | value |
/// |---|---|
/// | `mechanism` | the text form of a mechanism, see [`mechanism`](crate::mechanism) |
/// | `times` | how many times it was run, 1 to 2^53 (1) |
/// | `histogram` | votes per class, or the answers to queries; of the vote of one voter, 1 for its class and 0 for the others. Mechanisms that release a number have none |
///
/// A file has at most 16 MiB.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names file, place, what was
/// found and what was expected.
pub fn read_releases(path: impl AsRef<Path>) -> Result<ReleaseList> {
    let file = path.as_ref();
    releases_from_bytes(file, &read(file)?)
}

/// Reads what [`read_releases`] reads from bytes in memory; `name` stands for the file in messages.
///
/// ```
/// # use leakbound::record::releases_from_bytes;
/// let list = releases_from_bytes("a.toml", b"[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 10\n")?;
/// assert_eq!((list.releases[0].times, list.releases[0].mechanism.to_string()), (10, "gaussian:sigma=2".into()));
/// let error = releases_from_bytes("a.toml", b"[[release]]\nmechanism = 'gauss:sigma=2'\n").unwrap_err().to_string();
/// assert!(error.starts_with("a.toml: line 2, mechanism: found `gauss:sigma=2`: `gauss` is none"), "{error}");
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # Errors
/// As [`read_releases`].
pub fn releases_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<ReleaseList> {
    let file = name.as_ref();
    if bytes.len() as u64 > MAX_BYTES {
        let expected = format!("releases in at most {} MiB of TOML", MAX_BYTES >> 20);
        return Err(fault(file, "whole file", format!("more than {} MiB", MAX_BYTES >> 20), expected).into());
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        hinted(fault(file, format!("line {line}"), "bytes that are no UTF-8", "releases in TOML"), "save it as UTF-8")
    })?;
    let keys: Keys = toml::from_str(text).map_err(|error| {
        let place = error.span().map_or_else(|| "whole file".into(), |span| format!("line {}", line(text, span.start)));
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        let hint = "a release is a table [[release]] with `mechanism = \"gaussian:sigma=2\"`, and `times` if it is \
                    made more than once";
        hinted(fault(file, place, message, "releases in TOML"), hint)
    })?;
    if keys.release.is_empty() {
        return Err(fault(file, "whole file", "no release", "at least one table [[release]]").into());
    }
    let text = Text { file, text };
    let releases = keys.release.into_iter().map(|release| release_of(text, release)).collect::<Result<_>>()?;
    Ok(ReleaseList { input: InputFile::of_bytes(file, bytes), releases })
}

/// The file, or what of it shows that it is too large.
fn read(file: &Path) -> Result<Vec<u8>> {
    let (mut reader, mut bytes) = (open(file)?, Vec::new());
    reader.by_ref().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| unreadable(file, source))?;
    reader.check_unchanged(file)?;
    Ok(bytes)
}

fn release_of(text: Text<'_>, release: Spanned<ReleaseKeys>) -> Result<Release> {
    let whole = release.span();
    let ReleaseKeys { mechanism: spec, times, histogram } = release.into_inner();
    let mechanism = mechanism::parse(spec.get_ref()).map_err(|error| {
        let found = match error {
            Error::Rejected { reason, .. } => reason,
            Error::Domain { quantity, value, domain } => format!("{quantity} = {} is not in {domain}", readable(value)),
            other => other.to_string(),
        };
        let expected = "the text form of a mechanism, such as gaussian:sigma=2";
        text.fault(&spec.span(), "mechanism", format!("{}: {found}", quoted(spec.get_ref())), expected)
    })?;
    let times = match times {
        None => 1,
        Some(times) => {
            u64::try_from(*times.get_ref()).ok().filter(|times| (1..=MAX_COUNT).contains(times)).ok_or_else(|| {
                text.fault(&times.span(), "times", times.get_ref().to_string(), "a whole number from 1 to 2^53")
            })?
        }
    };
    let data = data_of(text, &whole, mechanism.kind().relation, histogram)?;
    Ok(Release { mechanism, data, times })
}

/// The data of a release, as its relation has them.
fn data_of(
    text: Text<'_>,
    whole: &Range<usize>,
    relation: Relation,
    histogram: Option<Spanned<Vec<u64>>>,
) -> Result<VoteHistogram> {
    if relation == Relation::OneRecord {
        return match histogram {
            None => VoteHistogram::new(vec![0]),
            Some(given) => {
                let found = format!("a histogram of {} counts", given.get_ref().len());
                Err(text.fault(&given.span(), "histogram", found, "none: this mechanism releases a number").into())
            }
        };
    }
    let (words, example) = relation.data_in_words();
    let expected = format!("the {words}, such as {example:?}");
    let Some(given) = histogram else {
        return Err(text.fault(whole, "histogram", "no key `histogram`", expected).into());
    };
    let span = given.span();
    let data = VoteHistogram::new(given.into_inner())
        .map_err(|error| text.fault(&span, "histogram", error.to_string(), &*expected))?;
    let votes = data.counts().iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    if relation == Relation::OneVoter && votes != 1 {
        return Err(text.fault(&span, "histogram", format!("{votes} votes"), expected).into());
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(text: &str) -> String {
        releases_from_bytes("r.toml", text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn releases_are_read_with_their_data() {
        let text = "[[release]]\nmechanism = 'subsampled-gaussian:sigma=0.8,rate=0.01'\ntimes = 10_000\n\
                    [[release]]\nmechanism = 'gnmax:sigma=2'\nhistogram = [3, 1]\n";
        let list = releases_from_bytes("r.toml", text.as_bytes()).unwrap();
        let read: Vec<_> =
            list.releases.iter().map(|release| (release.times, release.data.counts().to_vec())).collect();
        assert_eq!(read, [(10_000, vec![0]), (1, vec![3, 1])]);
    }

    #[test]
    fn what_is_no_release_is_rejected_in_one_line() {
        for (text, words) in [
            ("", "r.toml: line 1: found missing field `release`"),
            ("release = []", "r.toml: whole file: found no release"),
            ("[[release]]\ntimes = 2", "missing field `mechanism`"),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntime = 3", "unknown field `time`"),
            ("[[release]]\nmechanism = 'gaussian:sigma=0'", "line 2, mechanism: found `gaussian:sigma=0`: sigma: "),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 0", "line 3, times: found 0, expected a whole"),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 1.5", "line 3: found invalid type: floating"),
            (
                "[[release]]\nmechanism = 'gaussian:sigma=2'\nhistogram = [1]",
                "line 3, histogram: found a histogram of 1 counts, expected none: this mechanism releases a number",
            ),
            ("[[release]]\nmechanism = 'gnmax:sigma=2'", "line 1, histogram: found no key `histogram`, expected votes"),
            (
                "[[release]]\nmechanism = 'randomized-response:sigma=2'\nhistogram = [2, 0]",
                "line 3, histogram: found 2 votes, expected the vote of one voter",
            ),
        ] {
            let error = rejected(text);
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
        assert!(releases_from_bytes("r.toml", b"\xff").is_err());
    }
}
