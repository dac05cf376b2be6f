//! Compositions as TOML files.

use super::composition::{ComposedReleases, Release, ReleaseBundle, ReleaseList, ReleasePart, countable};
use super::fault::{fault, hinted, quoted};
use super::input_file::{InputFile, read_up_to};
use super::toml_text::TomlText;
use crate::accountant::Runs;
use crate::counts::MAX_COUNT;
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::mechanism::{self, DataKind};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;

/// The largest file.
pub(super) const MAX_BYTES: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "tables [[release]]")]
struct Keys {
    group: Option<Spanned<i64>>,
    release: Vec<Spanned<ReleaseKeys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a release with the key `mechanism`, or with releases of its own")]
struct ReleaseKeys {
    mechanism: Option<Spanned<String>>,
    times: Option<Spanned<i64>>,
    histogram: Option<Spanned<Vec<u64>>>,
    release: Option<Vec<Spanned<ReleaseKeys>>>,
    select: Option<Spanned<SelectKeys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `runs` and `mean`")]
struct SelectKeys {
    runs: Spanned<serde_json::Value>,
    mean: Option<f64>,
    shape: Option<f64>,
}

/// What a file may hold whose name ends in `.toml`.
#[derive(Deserialize)]
struct FirstLook {
    release: Option<toml::Value>,
}

/// Whether a file is TOML with releases; a file that is not TOML has none.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when it cannot be read.
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
/// | `histogram` | votes per class, or the answers to queries; for the vote of one voter, 1 for its class and 0 for the others. Mechanisms that release a number have none |
/// | `release` | instead of `mechanism`: tables `[[release.release]]`, which were made one after the other, `times` times as a whole |
/// | `select` | with `release`: only the best of a random number of runs of them was published, `{ runs = "poisson", mean = 10 }` or `{ runs = "negative-binomial", shape = 1, mean = 10 }`; see [`Runs`] |
///
/// `group = 3` before the first table means that one person has up to 3 records.
///
/// A file has at most 16 MiB.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, place, what was found and what was expected.
pub fn read_releases(path: impl AsRef<Path>) -> Result<ReleaseList> {
    let file = path.as_ref();
    releases_from_bytes(file, &read(file)?)
}

/// Reads what [`read_releases`] reads from bytes in memory; `name` is the file's name in messages.
///
/// ```
/// # use leakbound::record::releases_from_bytes;
/// let list = releases_from_bytes("a.toml", b"[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 10\n")?;
/// assert_eq!((list.releases.count(), list.releases.group), (10, 1));
/// let error = releases_from_bytes("a.toml", b"[[release]]\nmechanism = 'gauss:sigma=2'\n").unwrap_err().to_string();
/// assert!(error.starts_with("a.toml: line 2, mechanism: found `gauss:sigma=2`: unknown mechanism `gauss`"), "{error}");
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
    let text = &TomlText::of_bytes(file, bytes, "releases in TOML")?;
    let keys: Keys = toml::from_str(text.text).map_err(|error| {
        let hint = "a release is a table [[release]] with `mechanism = \"gaussian:sigma=2\"`, and `times` if it is \
                    made more than once";
        hinted(text.not_toml(&error, "releases in TOML"), hint)
    })?;
    if keys.release.is_empty() {
        return Err(fault(file, "whole file", "no release", "at least one table [[release]]").into());
    }
    let group = times_of(text, "group", keys.group)?;
    let parts: Vec<ReleasePart> =
        keys.release.into_iter().map(|release| part_of(text, release)).collect::<Result<_>>()?;
    countable(file, &parts, 1)?;
    Ok(ReleaseList { input: InputFile::of_bytes(file, bytes), releases: ComposedReleases { parts, group } })
}

/// The file, or enough of it to show that it is too large.
pub(super) fn read(file: &Path) -> Result<Vec<u8>> {
    read_up_to(file, MAX_BYTES)
}

fn part_of(text: &TomlText<'_>, release: Spanned<ReleaseKeys>) -> Result<ReleasePart> {
    let whole = release.span();
    let ReleaseKeys { mechanism, times, histogram, release: parts, select } = release.into_inner();
    let place = format!("line {}", text.line(whole.start));
    match (mechanism, parts) {
        (Some(mechanism), None) => {
            if let Some(select) = select {
                let expected = "tables [[release.release]] to select the best of";
                return Err(text.fault(&select.span(), "select", "a release of one mechanism", expected).into());
            }
            let keys = LeafKeys { mechanism, times, histogram };
            release_of(text, &whole, keys).map(ReleasePart::Release)
        }
        (None, Some(parts)) => {
            if let Some(histogram) = histogram {
                let (found, expected) = ("a release of several", "the histogram in each of them");
                return Err(text.fault(&histogram.span(), "histogram", found, expected).into());
            }
            if parts.is_empty() {
                return Err(text.fault(&whole, "release", "no release", "at least one").into());
            }
            let times = times_of(text, "times", times)?;
            let select = select.map(|select| runs_of(text, select)).transpose()?;
            let parts = parts.into_iter().map(|part| part_of(text, part)).collect::<Result<_>>()?;
            Ok(ReleasePart::Bundle(ReleaseBundle { parts, times, select, place }))
        }
        (Some(_), Some(_)) => {
            let (found, expected) = ("the keys `mechanism` and `release`", "one of them");
            Err(text.fault(&whole, "release", found, expected).into())
        }
        (None, None) => {
            let (found, expected) = ("no key `mechanism`", "the text form of a mechanism, such as gaussian:sigma=2");
            Err(text.fault(&whole, "mechanism", found, expected).into())
        }
    }
}

/// A whole number, 1 without one.
fn times_of(text: &TomlText<'_>, key: &str, times: Option<Spanned<i64>>) -> Result<u64> {
    let Some(times) = times else { return Ok(1) };
    let found = u64::try_from(*times.get_ref()).ok().filter(|times| (1..=MAX_COUNT).contains(times));
    found.ok_or_else(|| {
        text.fault(&times.span(), key, times.get_ref().to_string(), "a whole number from 1 to 2^53").into()
    })
}

fn runs_of(text: &TomlText<'_>, select: Spanned<SelectKeys>) -> Result<Runs> {
    let span = select.span();
    let SelectKeys { runs, mean, shape } = select.into_inner();
    let name = match runs.get_ref().as_str() {
        Some(name @ ("poisson" | "negative-binomial")) => name,
        _ => {
            let expected = "`poisson` or `negative-binomial`, the distribution of the number of runs";
            let error = text.fault(&runs.span(), "select, runs", runs.get_ref().to_string(), expected);
            let hint = "the best of a fixed number of runs costs what all of them cost: `times` without `select`";
            return Err(if runs.get_ref().is_string() { error } else { hinted(error, hint) }.into());
        }
    };
    let Some(mean) = mean else {
        return Err(text.fault(&span, "select", "no key `mean`", "`mean`, the expected number of runs").into());
    };
    let runs = match (name, shape) {
        ("poisson", None) => Runs::poisson(mean),
        ("poisson", Some(_)) => {
            return Err(text.fault(&span, "select", "a shape of a Poisson number of runs", "`mean` alone").into());
        }
        (_, Some(shape)) => Runs::negative_binomial(shape, mean),
        (_, None) => {
            let expected = "`shape`, such as 1 for a geometric and 0 for a logarithmic number of runs";
            return Err(text.fault(&span, "select", "no key `shape`", expected).into());
        }
    };
    runs.map_err(|error| text.fault(&span, "select", error.reason(), "a distribution of the number of runs").into())
}

/// A release of one mechanism as it is written.
struct LeafKeys {
    mechanism: Spanned<String>,
    times: Option<Spanned<i64>>,
    histogram: Option<Spanned<Vec<u64>>>,
}

fn release_of(text: &TomlText<'_>, whole: &Range<usize>, release: LeafKeys) -> Result<Release> {
    let LeafKeys { mechanism: spec, times, histogram } = release;
    let mechanism = mechanism::parse(spec.get_ref()).map_err(|error| {
        let expected = "the text form of a mechanism, such as gaussian:sigma=2";
        text.fault(&spec.span(), "mechanism", format!("{}: {}", quoted(spec.get_ref()), error.reason()), expected)
    })?;
    let times = times_of(text, "times", times)?;
    let data = data_of(text, whole, mechanism.kind().data, histogram)?;
    let place = format!("line {}", text.line(spec.span().start));
    Ok(Release { mechanism, data, times, distance: 1, place })
}

/// The data of a release, by its kind.
fn data_of(
    text: &TomlText<'_>,
    whole: &Range<usize>,
    kind: DataKind,
    histogram: Option<Spanned<Vec<u64>>>,
) -> Result<VoteHistogram> {
    if kind == DataKind::OneRecord {
        return match histogram {
            None => VoteHistogram::new(vec![0]),
            Some(given) => {
                let found = format!("a histogram of {} counts", given.get_ref().len());
                Err(text.fault(&given.span(), "histogram", found, "none: this mechanism releases a number").into())
            }
        };
    }
    let (words, example) = kind.data_in_words();
    let expected = format!("the {words}, such as {example:?}");
    let Some(given) = histogram else {
        return Err(text.fault(whole, "histogram", "no key `histogram`", expected).into());
    };
    let span = given.span();
    let data = VoteHistogram::new(given.into_inner())
        .map_err(|error| text.fault(&span, "histogram", error.to_string(), &*expected))?;
    let votes = data.counts().iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    if kind == DataKind::OneVoter && votes != 1 {
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
        let read = list.releases.parts.iter().map(|part| match part {
            ReleasePart::Release(release) => (release.times, release.data.counts().to_vec(), release.place.clone()),
            ReleasePart::Bundle(_) => panic!("no bundle"),
        });
        let expected = [(10_000, vec![0], "line 2".to_owned()), (1, vec![3, 1], "line 5".to_owned())];
        assert_eq!(read.collect::<Vec<_>>(), expected);
    }

    /// Tables in tables, in any of the forms of TOML, with selections and a group.
    #[test]
    fn releases_of_releases_are_read() {
        let text = "group = 2\n[[release]]\ntimes = 5\nselect = { runs = 'negative-binomial', shape = 1, mean = 10 }\n\
                    [[release.release]]\nmechanism = 'laplace:sigma=2'\ntimes = 3\n\
                    [[release]]\ntimes = 4\n\
                    release = [{ mechanism = 'gaussian:sigma=2', times = 7 }, { mechanism = 'laplace:sigma=2' }]\n";
        let list = releases_from_bytes("r.toml", text.as_bytes()).unwrap();
        // A selection publishes one output.
        assert_eq!((list.releases.group, list.releases.count()), (2, 5 + 4 * 8));
        let [ReleasePart::Bundle(first), ReleasePart::Bundle(second)] = &list.releases.parts[..] else { panic!() };
        assert_eq!((first.times, first.place.as_str()), (5, "line 2"));
        assert_eq!(first.select, Some(Runs::negative_binomial(1.0, 10.0).unwrap()));
        assert!(second.select.is_none() && second.parts.len() == 2);
    }

    #[test]
    fn what_is_no_release_is_rejected_in_one_line() {
        for (text, words) in [
            ("", "r.toml: line 1: found missing field `release`"),
            ("release = []", "r.toml: whole file: found no release"),
            ("[[release]]\ntimes = 2", "line 1, mechanism: found no key `mechanism`, expected the text form"),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\nrelease = []", "found the keys `mechanism` and `release`"),
            ("[[release]]\nrelease = []", "line 1, release: found no release, expected at least one"),
            ("group = 0\n[[release]]\nmechanism = 'gaussian:sigma=2'", "line 1, group: found 0, expected a whole"),
            (
                "[[release]]\nmechanism = 'gaussian:sigma=2'\nselect = { runs = 'poisson', mean = 2 }",
                "line 3, select: found a release of one mechanism, expected tables [[release.release]]",
            ),
            (
                "[[release]]\nselect = { runs = 'poisson', mean = 0 }\nrelease = [{ mechanism = 'gaussian:sigma=2' }]",
                "line 2, select: found mean number of runs = 0 is not in (0, 2^53]",
            ),
            (
                "[[release]]\nselect = { runs = 'negative-binomial', mean = 2 }\nrelease = [{ mechanism = 'gaussian:sigma=2' }]",
                "line 2, select: found no key `shape`",
            ),
            (
                "[[release]]\nselect = { runs = 'binomial', mean = 2 }\nrelease = [{ mechanism = 'gaussian:sigma=2' }]",
                "line 2, select, runs: found \"binomial\", expected `poisson` or `negative-binomial`, the distribution of",
            ),
            (
                "[[release]]\nselect = { runs = 40 }\nrelease = [{ mechanism = 'gaussian:sigma=2' }]",
                "line 2, select, runs: found 40, expected `poisson` or `negative-binomial`, the distribution of the number \
                 of runs; hint: the best of a fixed number of runs costs what all of them cost: `times` without `select`",
            ),
            (
                "[[release]]\nselect = { runs = 'poisson' }\nrelease = [{ mechanism = 'gaussian:sigma=2' }]",
                "line 2, select: found no key `mean`",
            ),
            (
                "[[release]]\ntimes = 9007199254740992\nrelease = [{ mechanism = 'gaussian:sigma=2', times = 2 }]",
                "line 3: found more than 2^53 releases",
            ),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntime = 3", "unknown field `time`"),
            ("[[release]]\nmechanism = 'gaussian:sigma=0'", "line 2, mechanism: found `gaussian:sigma=0`: sigma: "),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 0", "line 3, times: found 0, expected a whole"),
            ("[[release]]\nmechanism = 'gaussian:sigma=2'\ntimes = 1.5", "line 3: found invalid type: floating"),
            (
                "[[release]]\nmechanism = 'gaussian:sigma=2'\nhistogram = [1]",
                "line 3, histogram: found a histogram of 1 counts, expected none: this mechanism releases a number",
            ),
            (
                "[[release]]\nmechanism = 'gnmax:sigma=2'",
                "line 1, histogram: found no key `histogram`, expected the votes",
            ),
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
