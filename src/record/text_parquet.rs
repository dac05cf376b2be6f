//! Sequences of tokens in a Parquet table, a row each.

use super::budget::Room;
use super::fault::{hinted, quoted};
use super::input_file::InputReader;
use super::json::{NAME_OR_NUMBER, Name};
use super::parquet::{Column, ParquetTable, Values};
use super::table::is_name;
use super::text_line::{TextLine, Tokens, Truth};
use super::text_lines::{Gathered, Lines, Unit, unused};
use crate::error::Result;
use half::f16;
use std::ops::Range;
use std::path::Path;

const MEMBER: &str = "member";
const DOCUMENT: &str = "document";
const TEXT: &str = "text";
const LOG_PROBABILITIES: &str = "log_probabilities";
/// Columns with a list of numbers in each row.
const LISTS: [&str; 7] = [
    LOG_PROBABILITIES,
    "log_probability_mean",
    "log_probability_deviation",
    "entropy",
    "reference_log_probabilities",
    "neighbor_losses",
    "candidate_losses",
];
/// Columns with a number in each row.
const NUMBERS: [&str; 2] = ["reference_loss", "zlib_bytes"];

/// Reads a table whose columns have the names of the keys of lines.
pub(super) fn read_table(path: &Path, reader: &InputReader, room: &mut Room) -> Result<Lines> {
    let names = [&LISTS[..], &NUMBERS, &[MEMBER, DOCUMENT, TEXT]].concat();
    let table = ParquetTable::open(path, reader, &names)?;
    for (name, expected) in
        [(LOG_PROBABILITIES, "the column `log_probabilities`, a list in each row"), (MEMBER, "the column `member`")]
    {
        if !table.has(name) {
            return Err(table.missing(expected).into());
        }
    }
    let mut gathered = Gathered::new(path, Unit::ROW);
    let mut first = 0;
    for group in 0..table.groups() {
        let columns = table.group(group, first, room)?;
        let mut cursors = columns.iter().map(Cursor::new).collect::<Result<Vec<_>>>()?;
        let rows = table.rows(group)?;
        for row in 0..rows {
            let mut line = TextLine::default();
            cursors.iter_mut().try_for_each(|cursor| cursor.take(row, &mut line))?;
            gathered.add(line, first + row + 1, room)?;
        }
        first += rows;
    }
    gathered.finish(unused(table.names(), &[]))
}

/// A column, and how many of its values were read.
struct Cursor<'a> {
    column: &'a Column,
    taken: usize,
}

impl<'a> Cursor<'a> {
    fn new(column: &'a Column) -> Result<Self> {
        let (expected, what) = if LISTS.contains(&column.name) {
            (1, "a list of numbers in each row")
        } else if NUMBERS.contains(&column.name) {
            (0, "a number in each row")
        } else {
            (0, "one value in each row")
        };
        if column.lists() == expected {
            return Ok(Self { column, taken: 0 });
        }
        let found = match column.lists() {
            0 => "one value in each row",
            1 => "a list in each row",
            _ => "a list of lists in each row",
        };
        Err(column.at(found, what).into())
    }

    /// Puts what is in the next row into its line.
    fn take(&mut self, row: usize, line: &mut TextLine) -> Result<()> {
        let column = self.column;
        let count = match column.lists() {
            0 => usize::from(column.present()[row]),
            _ => column.outer()[row],
        };
        let range = self.taken..self.taken + count;
        self.taken = range.end;
        let wrong = |expected: &str| Err(column.at_row(row, column.values.kind(), expected).into());
        match (column.name, &column.values) {
            (MEMBER, _) if range.is_empty() => return Err(column.at_row(row, "null", "true or false").into()),
            _ if range.is_empty() => {}
            (MEMBER, Values::Truth(values)) => line.member = Truth(values[range.start]),
            (MEMBER, Values::Whole(values)) => match values[range.start] {
                value @ (0 | 1) => line.member = Truth(value == 1),
                other => return Err(column.at_row(row, format!("`{other}`"), "true or false, 1 or 0").into()),
            },
            (MEMBER, _) => return wrong("true or false"),
            (DOCUMENT, Values::Whole(values)) => line.document = Some(Name(values[range.start].to_string())),
            (DOCUMENT, Values::Text(_)) => {
                let text = self.text(row, range.start)?;
                let name = text.trim();
                if !is_name(name) {
                    return Err(column.at_row(row, quoted(&text), NAME_OR_NUMBER).into());
                }
                line.document = Some(Name(name.into()));
            }
            (DOCUMENT, _) => return wrong("a name or a whole number"),
            (TEXT, Values::Text(_)) => line.text = Some(self.text(row, range.start)?),
            (TEXT, _) => return wrong("a text"),
            (name, values) => {
                let Some(numbers) = numbers(values, range) else { return wrong("numbers") };
                match name {
                    LOG_PROBABILITIES => line.log_probabilities = Tokens(numbers),
                    "log_probability_mean" => line.log_probability_mean = Some(numbers),
                    "log_probability_deviation" => line.log_probability_deviation = Some(numbers),
                    "entropy" => line.entropy = Some(numbers),
                    "reference_log_probabilities" => line.reference_log_probabilities = Some(Tokens(numbers)),
                    "reference_loss" => line.reference_loss = numbers.first().copied(),
                    "zlib_bytes" => line.zlib_bytes = numbers.first().copied(),
                    "neighbor_losses" => line.neighbor_losses = Some(numbers),
                    _ => line.candidate_losses = Some(numbers),
                }
            }
        }
        Ok(())
    }

    fn text(&self, row: usize, index: usize) -> Result<String> {
        let Values::Text(values) = &self.column.values else { return Ok(String::new()) };
        let text = std::str::from_utf8(values[index].data());
        text.map(str::to_owned).map_err(|_| {
            let error = self.column.at_row(row, "bytes that are not UTF-8 text", "UTF-8 text");
            hinted(error, "save the column as text").into()
        })
    }
}

/// Values as doubles, which hold them exactly but for whole numbers beyond 2^53.
fn numbers(values: &Values, range: Range<usize>) -> Option<Vec<f64>> {
    Some(match values {
        Values::Half(bits) => bits[range].iter().map(|&bits| f16::from_bits(bits).to_f64()).collect(),
        Values::Single(values) => values[range].iter().map(|&value| f64::from(value)).collect(),
        Values::Double(values) => values[range].to_vec(),
        Values::Whole(values) => values[range].iter().map(|&value| value as f64).collect(),
        Values::Truth(_) | Values::Text(_) => return None,
    })
}
