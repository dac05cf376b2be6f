//! Recorded counts of the outcomes in both worlds, from any of their formats.

use super::fault::fault;
use super::input_file::{Digested, InputFile, InputReader, open};
use super::table::{Group, Table, check_totals};
use super::text::{Text, sniff};
use super::{counts_csv, counts_json};
use crate::counts::PairedCounts;
use crate::error::Result;
use serde::Serialize;
use std::path::Path;

/// The counts of one query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedCounts {
    /// The query's name; `None` if the file does not distinguish queries.
    pub query: Option<String>,
    /// How often each outcome was seen under the dataset and under its neighbor.
    pub counts: PairedCounts,
}

/// A file of recorded counts: their source, and the counts of each query in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CountsFile {
    /// The file.
    pub input: InputFile,
    /// At least one query.
    pub queries: Vec<RecordedCounts>,
}

/// Reads recorded counts, or raw outputs which are counted while they are read.
///
/// Formats, recognized by content:
/// - CSV with columns `outcome,count,count_neighbor` and optionally `query`, in any order; other columns are ignored;
/// - CSV with columns `world,output` and optionally `query`, one row per sample, `world` being `s` or `s_prime`; read
///   in one pass, in memory that depends only on the number of distinct outcomes; the outcomes are sorted, by value if
///   all are whole numbers, otherwise by name;
/// - JSON: an array of `{"outcome", "count", "count_neighbor", "query"?}`;
/// - JSON: `{"queries": [{"query"?, "labels", "counts", "counts_neighbor"}]}`, or a single such query; other members of
///   the outermost object, such as a schema, are ignored.
///
/// Counts are whole numbers from 0 to 2^53 written with digits; a query has at most 10,000 outcomes, a file 1,048,576.
/// A byte-order mark, CRLF, blank lines and white space around fields are accepted; a field ends with its line.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; otherwise [`Error::Input`](crate::Error::Input), one
/// line that names file, place, what was found and what was expected: among others for a missing column, a row of
/// another length, a count that is negative, fractional or above 2^53, an outcome listed twice, a world without a
/// sample.
///
/// ```
/// # use leakbound::record::counts_from_bytes;
/// let file = counts_from_bytes("answers.csv", b"outcome,count,count_neighbor\nyes,60,50\nno,40,50\n")?;
/// assert_eq!(file.queries[0].counts.counts(), [60, 40]);
/// let error = counts_from_bytes("answers.csv", b"outcome,count,count_neighbor\nyes,-3,50\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "answers.csv: line 2, column count: found `-3`, expected a whole number from 0 to 2^53; \
///      hint: counts are never negative"
/// );
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn read_counts(path: impl AsRef<Path>) -> Result<CountsFile> {
    let path = path.as_ref();
    read(path, open(path)?)
}

/// Reads what [`read_counts`] reads from bytes in memory; `name` is the file's name in messages, and its extension
/// counts as a file's does.
///
/// # Errors
/// As [`read_counts`].
pub fn counts_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<CountsFile> {
    read(name.as_ref(), InputReader::of_bytes(bytes.to_vec()))
}

fn read(file: &Path, reader: InputReader) -> Result<CountsFile> {
    let mut digested = Digested::new(reader);
    let table = match sniff(file, &mut digested, "recorded counts")? {
        Text::Csv(reader) => counts_csv::read(file, reader)?,
        Text::Json(text) => counts_json::read_json(file, &text)?,
    };
    let queries = into_queries(file, table)?;
    Ok(CountsFile { input: digested.finish_unchanged(file)?, queries })
}

/// Checks the totals here, where the file is known; [`PairedCounts::new`] could only name the number.
fn into_queries(file: &Path, table: Table<u64>) -> Result<Vec<RecordedCounts>> {
    let groups = table.into_groups();
    if groups.is_empty() {
        return Err(fault(file, "whole file", "no outcome", "at least 1 outcome").into());
    }
    groups.into_iter().map(|group| into_query(file, group)).collect()
}

fn into_query(file: &Path, group: Group<u64>) -> Result<RecordedCounts> {
    let total = |side: usize| group.values.iter().fold(0u64, |sum, values| sum.saturating_add(values[side]));
    check_totals(file, group.query.as_deref(), [total(0), total(1)])?;
    let (counts, counts_neighbor) = (group.side(0), group.side(1));
    Ok(RecordedCounts { query: group.query, counts: PairedCounts::new(group.labels, counts, counts_neighbor)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_give_the_same_counts() {
        let forms: [(&str, &[u8]); 6] = [
            ("a.csv", b"\xef\xbb\xbfnote,count_neighbor , outcome,count\r\nx,5,a,6\r\n\r\nx, 5 ,\"b\",4\r\n"),
            (
                "a.csv",
                b"world,output\ns,a\ns,a\ns_prime,b\ns,a\ns,b\ns,b\ns,b\ns,b\ns,a\ns,a\ns,a\n\
                s_prime,b\ns_prime,b\ns_prime,b\ns_prime,b\ns_prime,a\ns_prime,a\ns_prime,a\ns_prime,a\ns_prime,a",
            ),
            (
                "a.json",
                br#"[{"outcome":"a","count":6,"count_neighbor":5},{"outcome":"b","count":4,"count_neighbor":5}]"#,
            ),
            ("a.json", br#"{"queries":[{"labels":["a","b"],"counts":[6,4],"counts_neighbor":[5,5]}]}"#),
            ("a.csv", br#" {"schema":"x","labels":["a","b"],"counts":[6,4],"counts_neighbor":[5,5]}"#),
            ("a", b"outcome,count,count_neighbor\na,6,5\nb,4,5"),
        ];
        for (name, bytes) in forms {
            let file = counts_from_bytes(name, bytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(file.input, InputFile::of_bytes(name, bytes));
            let [query] = &file.queries[..] else { panic!("one query") };
            assert_eq!(query.query, None);
            assert_eq!(query.counts.labels(), ["a", "b"]);
            assert_eq!(query.counts.counts(), [6, 4]);
            assert_eq!(query.counts.counts_neighbor(), [5, 5]);
        }
    }

    #[test]
    fn queries_come_in_the_order_of_the_file() {
        let text = b"query,outcome,count,count_neighbor\nq7,a,1,2\nq3,a,3,4\nq7,b,5,6\n";
        let file = counts_from_bytes("a.csv", text).unwrap();
        let names: Vec<_> = file.queries.iter().map(|query| query.query.as_deref()).collect();
        assert_eq!(names, [Some("q7"), Some("q3")]);
        assert_eq!(file.queries[0].counts.counts(), [1, 5]);
    }

    #[test]
    fn totals_above_2_to_53_are_rejected() {
        let text = b"outcome,count,count_neighbor\na,9007199254740992,1\nb,1,1\n";
        assert_eq!(
            counts_from_bytes("a.csv", text).unwrap_err().to_string(),
            "a.csv: whole file: found 9007199254740993 samples under the dataset (s), \
             expected at most 2^53 samples in each world"
        );
    }
}
