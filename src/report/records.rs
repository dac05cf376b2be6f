//! The flat table of an answer for other programs, written as CSV.

use crate::bound::{Direction, Validity};
use crate::error::{Error, Result};
use crate::study::Number;
use std::borrow::Cow;
use std::fmt::Display;

/// A value of a flat table, with every digit; empty if there is none.
#[derive(Debug, Clone)]
pub struct Cell<'a>(Cow<'a, str>);

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.into())
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self(text.into())
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self("".into()), Into::into)
    }
}

macro_rules! written {
    ($($type:ty: $write:expr),*) => {
        $(impl From<$type> for Cell<'_> {
            fn from(value: $type) -> Self {
                Self(Cow::Owned($write(value)))
            }
        })*
    };
}

written!(
    String: String::from,
    Number: Number::text,
    f64: |value| Number(value).text(),
    u64: |count: u64| count.to_string(),
    usize: |count: usize| count.to_string(),
    i64: |label: i64| label.to_string(),
    bool: |flag: bool| flag.to_string(),
    Direction: |direction: Direction| direction.name().to_owned(),
    Validity: |validity: Validity| validity.name().to_owned()
);

type Rows<'a, R> = Box<dyn Iterator<Item = R> + 'a>;
type Value<'a, R> = Box<dyn Fn(&R) -> Cell<'a> + 'a>;

/// One flat table for other programs. Rows are made while they are written: there may be millions.
pub struct Records<'a> {
    names: Vec<&'static str>,
    rows: Rows<'a, Vec<Cell<'a>>>,
}

impl<'a> Records<'a> {
    /// A table of these rows, to which columns are added.
    ///
    /// ```
    /// # use leakbound::report::Records;
    /// let records: Records = Records::of([("a", 0.25)]).column("run", |row| row.0).column("share", |row| row.1).into();
    /// assert_eq!(records.csv().unwrap(), "run,share\na,0.25\n");
    /// ```
    pub fn of<R>(rows: impl IntoIterator<Item = R, IntoIter: 'a>) -> RecordColumns<'a, R> {
        RecordColumns { rows: Box::new(rows.into_iter()), columns: Vec::new() }
    }

    /// A table of rows of different kinds under this header, whose names are separated by commas.
    pub(super) fn with<const N: usize>(header: &'static str, rows: impl Iterator<Item = [Cell<'a>; N]> + 'a) -> Self {
        Self { names: header.split(',').collect(), rows: Box::new(rows.map(Vec::from)) }
    }

    /// The table as CSV, an empty text without rows. Texts that a spreadsheet would take for a formula are marked as
    /// texts by an apostrophe before them.
    ///
    /// # Errors
    /// When it cannot be written as CSV.
    pub fn csv(self) -> Result<String> {
        let rejected = |error: &dyn Display| Error::rejected("CSV", error);
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut rows = self.rows.peekable();
        if rows.peek().is_some() {
            writer.write_record(&self.names).map_err(|error| rejected(&error))?;
        }
        for row in rows {
            for cell in &row {
                writer.write_field(&*as_text(&cell.0)).map_err(|error| rejected(&error))?;
            }
            writer.write_record(None::<&[u8]>).map_err(|error| rejected(&error))?;
        }
        let bytes = writer.into_inner().map_err(|error| rejected(&error))?;
        String::from_utf8(bytes).map_err(|error| rejected(&error))
    }
}

/// Rows that become [`Records`] column by column, so that name and value of a column are in one place.
pub struct RecordColumns<'a, R> {
    rows: Rows<'a, R>,
    columns: Vec<(&'static str, Value<'a, R>)>,
}

impl<'a, R> RecordColumns<'a, R> {
    /// Adds a column.
    #[must_use]
    pub fn column<C: Into<Cell<'a>>>(mut self, name: &'static str, value: impl Fn(&R) -> C + 'a) -> Self {
        self.columns.push((name, Box::new(move |row| value(row).into())));
        self
    }

    /// Adds columns that are named after [`fields!`] of the rows.
    pub(super) fn columns(self, add: impl FnOnce(Self) -> Self) -> Self {
        add(self)
    }

    /// Adds columns that only some tables have.
    #[must_use]
    pub fn when(self, wanted: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if wanted { add(self) } else { self }
    }
}

impl<'a, R: 'a> From<RecordColumns<'a, R>> for Records<'a> {
    fn from(table: RecordColumns<'a, R>) -> Self {
        let names = table.columns.iter().map(|column| column.0).collect();
        let columns = table.columns;
        let rows = table.rows.map(move |row| columns.iter().map(|column| column.1(&row)).collect());
        Self { names, rows: Box::new(rows) }
    }
}

/// A row of values of different types, for [`Records::with`].
macro_rules! cells {
    ($($value:expr),* $(,)?) => {
        [$($crate::report::records::Cell::from($value)),*]
    };
}
pub(super) use cells;

/// Columns that show these fields of a row, or of a part of it, under their names, for [`RecordColumns::columns`].
macro_rules! fields {
    ($row:ident => $($field:ident),+) => {
        |table| table$(.column(stringify!($field), |$row| $row.$field))+
    };
    ($row:ident.$part:tt => $($field:ident),+) => {
        |table| table$(.column(stringify!($field), |$row| $row.$part.$field))+
    };
}
pub(super) use fields;

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell that a spreadsheet shows as it is: the user's names may begin like a formula, which would be run when someone
/// else opens the file. Numbers stay numbers.
fn as_text(cell: &str) -> Cow<'_, str> {
    let harmless = !cell.starts_with(FORMULA) || cell.parse::<f64>().is_ok();
    if harmless { cell.into() } else { format!("'{cell}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_formulas_and_numbers_stay_numbers() {
        let names = [
            "=HYPERLINK(\"http://example.org\",\"x\")",
            "+1-1",
            "-a",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "-inf",
            "+5",
            "-1e-5",
            "a=b",
            "'=1",
        ];
        let records = Records::with("name,value,none", names.iter().map(|name| cells![*name, -1.5, None::<f64>]));
        let text = records.csv().unwrap();
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        let read: Vec<String> = reader.records().map(|row| row.unwrap().iter().collect::<Vec<_>>().join("|")).collect();
        let expected = names.map(|name| {
            let number = ["-inf", "+5", "-1e-5", "a=b", "'=1"].contains(&name);
            format!("{}{name}|-1.5|", if number { "" } else { "'" })
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn every_digit_is_kept_and_nothing_gives_an_empty_table() {
        let value = |value: f64| Records::from(Records::of([value]).column("value", |value| *value)).csv().unwrap();
        assert_eq!(
            [2.0, 0.1 + 0.2, 1e-300].map(value),
            ["value\n2.0\n", "value\n0.30000000000000004\n", "value\n1e-300\n"]
        );
        assert_eq!(Records::with::<1>("a", std::iter::empty()).csv().unwrap(), "");
    }
}
