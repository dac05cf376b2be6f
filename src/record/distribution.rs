//! The probabilities of the outcomes in both worlds, when they are given rather than estimated.

use super::fault::fault;
use super::input_file::{Digested, InputFile, InputReader, open};
use super::json::Share;
use super::json_table::json_table;
use super::lines::Lines;
use super::number::{PROBABILITY, probability};
use super::rows::csv_table;
use super::table::{Group, Table};
use super::text::{Text, sniff};
use crate::error::Result;
use serde::Serialize;
use std::io::BufRead;
use std::path::Path;

/// How far the probabilities of one world may be from summing to 1.
const SUM_TOLERANCE: f64 = 1e-9;

const COLUMNS: &str = "`outcome`, `p`, `q`, optionally with `query`";

/// The distribution of the outputs of one query under a dataset (`p`) and its neighbor (`q`).
///
/// Shapes: `labels`, `p` and `q` have one entry per outcome; `p` and `q` lie in [0, 1] and each sum to 1 within 1e-9.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedDistribution {
    /// The query's name; `None` if the file does not distinguish queries.
    pub query: Option<String>,
    /// Names of the outcomes.
    pub labels: Vec<String>,
    /// Probabilities under the dataset.
    pub p: Vec<f64>,
    /// Probabilities under its neighbor.
    pub q: Vec<f64>,
}

/// A file of distributions: their source, and the distribution of each query in the order of the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DistributionFile {
    /// The file.
    pub input: InputFile,
    /// At least one distribution.
    pub distributions: Vec<RecordedDistribution>,
}

/// Reads the distributions of the outputs in both worlds.
///
/// Formats, recognized by content: CSV with columns `outcome,p,q` and optionally `query`; JSON as an array of
/// `{"outcome", "p", "q", "query"?}`, as `{"queries": [{"query"?, "labels", "p", "q"}]}`, or as a single such query.
/// Limits and leniency are those of [`read_counts`](super::read_counts).
///
/// # Errors
/// As [`read_counts`](super::read_counts); also [`Error::Input`](crate::Error::Input) for a probability outside [0, 1],
/// NaN included, and for probabilities of one world that do not sum to 1 within 1e-9.
///
/// ```
/// # use leakbound::record::distribution_from_bytes;
/// let file = distribution_from_bytes("distribution.csv", b"outcome,p,q\nyes,0.6,0.5\nno,0.4,0.5\n")?;
/// assert_eq!(file.distributions[0].p, [0.6, 0.4]);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn read_distribution(path: impl AsRef<Path>) -> Result<DistributionFile> {
    let path = path.as_ref();
    read(path, open(path)?)
}

/// Reads what [`read_distribution`] reads from bytes in memory; `name` is the file's name in messages, and its
/// extension counts like that of a file.
///
/// # Errors
/// As [`read_distribution`].
pub fn distribution_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<DistributionFile> {
    read(name.as_ref(), InputReader::of_bytes(bytes.to_vec()))
}

fn read(file: &Path, reader: InputReader) -> Result<DistributionFile> {
    let mut digested = Digested::new(reader);
    let table = match sniff(file, &mut digested, "the distribution of the outputs")? {
        Text::Csv(reader) => read_csv(file, reader)?,
        Text::Json(text) => read_json(file, &text)?,
    };
    let groups = table.into_groups();
    if groups.is_empty() {
        return Err(fault(file, "whole file", "no outcome", "at least 1 outcome").into());
    }
    let distributions = groups.into_iter().map(|group| into_distribution(file, group)).collect::<Result<_>>()?;
    Ok(DistributionFile { input: digested.finish_unchanged(file)?, distributions })
}

fn into_distribution(file: &Path, group: Group<f64>) -> Result<RecordedDistribution> {
    let (p, q) = (group.side(0), group.side(1));
    for (name, side) in [("p", &p), ("q", &q)] {
        let sum: f64 = side.iter().sum();
        // At most 10,000 terms of at most 1: the rounding of the sum stays below 1e-11.
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let expected = "probabilities that sum to 1 within 1e-9";
            return Err(fault(file, group.place(), format!("{name} summing to {sum}"), expected).into());
        }
    }
    Ok(RecordedDistribution { query: group.query, labels: group.labels, p, q })
}

fn read_csv(file: &Path, reader: impl BufRead) -> Result<Table<f64>> {
    let mut lines = Lines::new(file, reader);
    let header = lines.header(COLUMNS)?;
    if !["outcome", "p", "q"].iter().any(|name| header.has(name)) {
        return Err(header.missing(COLUMNS).into());
    }
    csv_table(&header, &mut lines, ["p", "q"], |line, column, text| line.read(column, text, PROBABILITY, probability))
}

json_table!(
    Share as f64,
    [p, q] "an object with `outcome`, `p`, `q`",
    [p, q] "an object with `labels`, `p`, `q`",
    "`queries`, or one query's `labels`, `p` and `q`"
);

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, text: &str) -> String {
        distribution_from_bytes(name, text.as_bytes())
            .err()
            .map_or_else(|| "accepted".into(), |error| error.to_string())
    }

    #[test]
    fn all_formats_give_the_same_distribution() {
        let forms = [
            ("a.csv", "query,outcome,q,p\r\n3,a,0.5,0.25\r\n3,b,0.5,0.75\r\n"),
            ("a.json", r#"[{"query":3,"outcome":"a","p":0.25,"q":0.5},{"query":"3","outcome":"b","p":0.75,"q":0.5}]"#),
            ("a.json", r#"{"queries":[{"query":"3","labels":["a","b"],"p":[0.25,0.75],"q":[0.5,0.5]}]}"#),
            ("a.json", r#"{"query":3,"labels":["a","b"],"p":[0.25,0.75],"q":[0.5,0.5]}"#),
        ];
        let expected = RecordedDistribution {
            query: Some("3".into()),
            labels: vec!["a".into(), "b".into()],
            p: vec![0.25, 0.75],
            q: vec![0.5, 0.5],
        };
        for (name, text) in forms {
            assert_eq!(
                distribution_from_bytes(name, text.as_bytes()).unwrap().distributions,
                std::slice::from_ref(&expected)
            );
        }
    }

    #[test]
    fn a_certain_outcome_is_a_distribution() {
        assert_eq!(message("a.csv", "outcome,p,q\na,1,0\nb,0,1e0"), "accepted");
        assert_eq!(message("a.csv", "outcome,p,q\na,0.3333333333,1\nb,0.6666666667,0"), "accepted");
    }

    #[test]
    fn what_is_no_distribution_is_named() {
        assert_eq!(
            message("a.csv", "outcome,p,q\na,0.5,0.5\nb,0.5,0.4"),
            "a.csv: whole file: found q summing to 0.9, expected probabilities that sum to 1 within 1e-9"
        );
        assert_eq!(
            message("a.csv", "outcome,p,q\na,NaN,1"),
            "a.csv: line 2, column p: found `NaN`, expected a probability from 0 to 1"
        );
    }
}
