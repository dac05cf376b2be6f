//! Real-valued outputs of both worlds, before they are put into bins.

use super::counts_csv::read_values;
use super::counts_json;
use super::fault::fault;
use super::input_file::{Digested, InputFile, open};
use super::table::check_totals;
use super::text::{Text, sniff};
use super::values::{RecordedValues, Values};
use crate::error::Result;
use std::io::Read;
use std::path::Path;

/// A file of real-valued outputs: their source, and those of each query in the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueFile {
    /// The file.
    pub input: InputFile,
    /// At least one query.
    pub queries: Vec<RecordedValues>,
}

/// Reads what [`read_counts`](super::read_counts) reads, if every output is a number, with any number of different
/// values: raw outputs as CSV with columns `world,output[,query]`, or counts in any of their formats. Numbers are
/// written as `0.5`, `-1e-3` or `inf`; `nan` is rejected.
///
/// # Errors
/// As [`read_counts`](super::read_counts), and [`Error::Input`](crate::Error::Input) for an output that is not a
/// number.
///
/// # Example
/// ```
/// # use leakbound::record::values_from_bytes;
/// let file = values_from_bytes("t.csv", b"world,output\ns,0.25\ns_prime,-1.5\ns,0.5\n")?;
/// assert_eq!(file.queries[0].outputs.totals(), [2, 1]);
/// let error = values_from_bytes("t.csv", b"world,output\ns,0.25\ns_prime,cat\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "t.csv: line 3, column output: found `cat`, expected a number, to be counted in bins"
/// );
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn read_value_file(path: impl AsRef<Path>) -> Result<ValueFile> {
    let path = path.as_ref();
    read(path, open(path)?)
}

/// Reads what [`read_value_file`] reads from bytes in memory; `name` is the file's name in messages.
///
/// # Errors
/// As [`read_value_file`].
pub fn values_from_bytes(name: impl AsRef<Path>, bytes: &[u8]) -> Result<ValueFile> {
    read(name.as_ref(), bytes)
}

fn read(file: &Path, reader: impl Read) -> Result<ValueFile> {
    let mut digested = Digested::new(reader);
    let values = match sniff(file, &mut digested, "recorded outputs")? {
        Text::Csv(reader) => read_values(file, reader)?,
        Text::Json(text) => Values::of_table(file, counts_json::read_json(file, &text)?)?,
    };
    let queries = values.queries;
    if queries.is_empty() {
        return Err(fault(file, "whole file", "no outcome", "at least 1 outcome").into());
    }
    for query in &queries {
        check_totals(file, query.query.as_deref(), query.outputs.totals())?;
    }
    Ok(ValueFile { input: digested.finish(file)?, queries })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_give_the_same_values() {
        let forms: [&[u8]; 3] = [
            b"query,world,output\na,s,1.5\na,s_prime,inf\nb,s,2\nb,s_prime,-1e3\na,s,1.5\n",
            b"query,outcome,count,count_neighbor\na,1.5,2,0\na,inf,0,1\nb,2,1,0\nb,-1e3,0,1\n",
            br#"{"queries":[{"query":"a","labels":["1.5","inf"],"counts":[2,0],"counts_neighbor":[0,1]},
                {"query":"b","labels":["2","-1e3"],"counts":[1,0],"counts_neighbor":[0,1]}]}"#,
        ];
        for form in forms {
            let file = values_from_bytes("a", form).unwrap_or_else(|error| panic!("{error}"));
            let totals: Vec<_> =
                file.queries.iter().map(|query| (query.query.as_deref(), query.outputs.totals())).collect();
            assert_eq!(totals, [(Some("a"), [2, 1]), (Some("b"), [1, 1])]);
        }
    }

    #[test]
    fn what_is_no_number_is_named_with_its_place() {
        let message = |text: &str| values_from_bytes("t", text.as_bytes()).unwrap_err().to_string();
        assert!(message("world,output\ns,1\ns_prime,nan\n").starts_with("t: line 3, column output: found `nan`"));
        assert!(message("world,output\ns,1\n").contains("0 samples under the neighbor"));
        assert!(message("outcome,count,count_neighbor\na,1,1\n").contains("the outcome `a`"), "labels");
        assert!(message("[]").contains("no outcome"));
    }
}
