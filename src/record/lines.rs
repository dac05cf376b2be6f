//! CSV line by line in bounded memory.
//!
//! The csv crate is not used to read: it takes an unclosed quote for the start of a field that lasts to the end of the
//! file, accepts text after a closing quote, and counts lines only at the ends of records, so that a message about a
//! file with blank lines or CRLF would name the wrong line. Here a field ends with its line.

use super::fault::{fault, hinted, listed, no_utf8, quoted, several, unreadable};
use super::place::Place;
use crate::error::{InputError, Result};
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

/// The longest line read; more means that this is not a table of recorded outputs.
const MAX_LINE_BYTES: usize = 1 << 20;

/// The lines of a CSV file that hold something, numbered from 1 with blank lines counted.
pub(super) struct Lines<'a, R> {
    file: &'a Path,
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub(super) fn new(file: &'a Path, reader: R) -> Self {
        Self { file, reader, buffer: Vec::new(), number: 0 }
    }

    /// The next line that is not blank, without its line end.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        let limit = (MAX_LINE_BYTES, "a line of more than 1 MiB", "one row of a table a line");
        loop {
            if !next_line(self.file, &mut self.reader, &mut self.buffer, self.number + 1, limit)? {
                return Ok(None);
            }
            self.number += 1;
            if !self.buffer.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let (file, number) = (self.file, self.number);
        let text = std::str::from_utf8(&self.buffer).map_err(|error| no_utf8(file, number, &self.buffer, error))?;
        Ok(Some(Line { file, number, text: text.trim_end() }))
    }

    /// Hands each row to `each`, with the fields of some columns; there is at least one row.
    pub(super) fn each_row<const N: usize>(
        &mut self,
        header: &Header<'_>,
        columns: [Option<usize>; N],
        mut each: impl FnMut(&Line<'_>, [Cow<'_, str>; N]) -> Result<()>,
    ) -> Result<()> {
        let mut rows = 0u64;
        while let Some(line) = self.next()? {
            each(&line, line.fields(header, columns)?)?;
            rows += 1;
        }
        if rows == 0 { Err(header.alone().into()) } else { Ok(()) }
    }

    /// The header.
    pub(super) fn header(&mut self, expected: &str) -> Result<Header<'a>> {
        let file = self.file;
        let Some(line) = self.next()? else {
            return Err(fault(file, "whole file", "nothing but blank lines", expected).into());
        };
        let mut names = Vec::new();
        let mut rest = Some(line.text);
        while let Some(text) = rest {
            let (name, after) = next_field(text).map_err(|problem| line.malformed(problem))?;
            names.push(name.into_owned());
            rest = after;
        }
        Ok(Header { file, line: line.number, names })
    }
}

/// Puts the next line into a buffer, with its end; false at the end of the file. For a line longer than the limit,
/// returns what was found and what was expected.
pub(super) fn next_line(
    file: &Path,
    reader: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    number: u64,
    (most, found, expected): (usize, &str, &str),
) -> Result<bool> {
    buffer.clear();
    let read = reader.take(most as u64 + 1).read_until(b'\n', buffer).map_err(|source| unreadable(file, source))?;
    if buffer.len() > most {
        return Err(fault(file, format!("line {number}"), found, expected).into());
    }
    Ok(read > 0)
}

/// One line and its place.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    file: &'a Path,
    number: u64,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// The fields of some columns, in the order requested; a column the file does not have gives an empty field.
    pub(super) fn fields<const N: usize>(
        &self,
        header: &Header<'_>,
        columns: [Option<usize>; N],
    ) -> Result<[Cow<'a, str>; N]> {
        let mut fields = [const { Cow::Borrowed("") }; N];
        let mut width = 0;
        let mut rest = Some(self.text);
        while let Some(text) = rest {
            let (field, after) = next_field(text).map_err(|problem| self.malformed(problem))?;
            if let Some(slot) = columns.iter().position(|&column| column == Some(width)) {
                fields[slot] = field;
            }
            width += 1;
            rest = after;
        }
        if width != header.names.len() {
            let found = several(width, "field");
            let expected = format!("{} as in the header", header.names.len());
            return Err(fault(self.file, self.place(), found, expected).into());
        }
        Ok(fields)
    }

    /// Its number, counted from 1 with blank lines.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// A field of this line, for messages.
    pub(super) fn at(&self, column: &str) -> Place<'a> {
        Place { file: self.file, name: format!("line {}, column {column}", self.number) }
    }

    /// What `read` makes of a field; if it fails, a hint may be known.
    pub(super) fn read<T>(
        &self,
        column: &str,
        text: &str,
        expected: &str,
        read: impl Fn(&str) -> std::result::Result<T, Option<&'static str>>,
    ) -> Result<T> {
        read(text).map_err(|hint| {
            let error = self.at(column).fault(quoted(text), expected);
            InputError { hint: hint.map(Into::into), ..error }.into()
        })
    }

    /// This line as a whole, for messages.
    fn place(&self) -> String {
        format!("line {}", self.number)
    }

    fn malformed(&self, problem: Malformed) -> InputError {
        match problem {
            Malformed::Unclosed(text) => hinted(
                fault(self.file, self.place(), format!("{} without a closing quote", quoted(&text)), "a closing quote"),
                "a field ends on its line; a quote inside a field is doubled",
            ),
            Malformed::AfterQuote(text) => hinted(
                fault(self.file, self.place(), format!("{} after a closing quote", quoted(&text)), "a comma"),
                "a quote inside a field is doubled",
            ),
        }
    }
}

/// The names of the columns.
pub(super) struct Header<'a> {
    file: &'a Path,
    line: u64,
    names: Vec<String>,
}

impl Header<'_> {
    /// Whether a column is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|other| other == name)
    }

    /// The place of a column, `None` without it.
    pub(super) fn find(&self, name: &str) -> Result<Option<usize>> {
        let mut places = self.names.iter().enumerate().filter(|(_, other)| *other == name).map(|(index, _)| index);
        let first = places.next();
        if places.next().is_some() {
            return Err(self.fault(format!("the column `{name}` twice"), "each column once").into());
        }
        Ok(first)
    }

    /// The place of a required column.
    pub(super) fn require(&self, name: &str) -> Result<usize> {
        let column = self.find(name)?;
        column.ok_or_else(|| self.missing(&format!("the column `{name}`")).into())
    }

    /// The error for an unknown header.
    pub(super) fn missing(&self, expected: &str) -> InputError {
        let error = self.fault(format!("columns {}", listed(&self.names)), expected);
        match &self.names[..] {
            [only] if only.contains([';', '\t']) => hinted(error, "separate the columns by commas"),
            names
                if names.iter().any(|name| {
                    let lower = name.to_lowercase();
                    lower != *name && expected.contains(&format!("`{lower}`"))
                }) =>
            {
                hinted(error, "names of columns are written in lower case")
            }
            names if names.iter().any(|name| name.parse::<f64>().is_ok()) => {
                hinted(error, "the first line names the columns")
            }
            _ => error,
        }
    }

    /// An error of the header as a whole.
    pub(super) fn fault(&self, found: impl Into<String>, expected: &str) -> InputError {
        fault(self.file, format!("line {}", self.line), found, expected)
    }

    /// The error for a header that no row follows.
    pub(super) fn alone(&self) -> InputError {
        fault(self.file, format!("line {}", self.line), "a header without rows", "at least 1 row")
    }
}

/// What can be wrong with the quotes of a line.
enum Malformed {
    Unclosed(String),
    AfterQuote(String),
}

/// Splits the first field off a line: the field without the white space around it, and what follows the comma. Between
/// quotes everything is kept as it is and a doubled quote is one quote (RFC 4180).
fn next_field(text: &str) -> std::result::Result<(Cow<'_, str>, Option<&str>), Malformed> {
    let Some(quoted) = text.trim_start().strip_prefix('"') else {
        return Ok(match text.split_once(',') {
            Some((field, rest)) => (Cow::Borrowed(field.trim()), Some(rest)),
            None => (Cow::Borrowed(text.trim()), None),
        });
    };
    let mut field = Cow::Borrowed("");
    let mut rest = quoted;
    loop {
        let Some((piece, after)) = rest.split_once('"') else { return Err(Malformed::Unclosed(format!("\"{quoted}"))) };
        if field.is_empty() {
            field = Cow::Borrowed(piece)
        } else {
            field.to_mut().push_str(piece)
        }
        match after.strip_prefix('"') {
            Some(more) => {
                field.to_mut().push('"');
                rest = more;
            }
            None => {
                let after = after.trim_start();
                return match after.strip_prefix(',') {
                    Some(rest) => Ok((field, Some(rest))),
                    None if after.is_empty() => Ok((field, None)),
                    None => Err(Malformed::AfterQuote(after.into())),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn rows(text: &str) -> Result<Vec<[String; 2]>> {
        let mut lines = Lines::new(Path::new("t.csv"), text.as_bytes());
        let header = lines.header("columns")?;
        let columns = [header.find("a")?, header.find("b")?];
        let mut rows = Vec::new();
        while let Some(line) = lines.next()? {
            rows.push(line.fields(&header, columns)?.map(Cow::into_owned));
        }
        Ok(rows)
    }

    #[test]
    fn quotes_blank_lines_and_line_ends() {
        let rows = rows("\r\n b , x,a\r\n\r\n1,2, \" \"\"q\"\", \"\r\n \t\n\"\",,\"\"\"\"\n3,2,1").unwrap();
        assert_eq!(rows, [[" \"q\", ", "1"], ["\"", ""], ["1", "3"]]);
    }

    #[test]
    fn malformed_lines_are_named() {
        let message = |text| rows(text).unwrap_err().to_string();
        assert_eq!(
            message("a,b\n\n\"1,2\n3,4\n"),
            "t.csv: line 3: found `\"1,2` without a closing quote, expected a closing quote; \
             hint: a field ends on its line; a quote inside a field is doubled"
        );
        assert_eq!(
            message("a,b\n\"1\"x,2\n"),
            "t.csv: line 2: found `x,2` after a closing quote, expected a comma; \
             hint: a quote inside a field is doubled"
        );
        assert_eq!(message("a,b\n1\n"), "t.csv: line 2: found 1 field, expected 2 as in the header");
        assert_eq!(message("a,a\n"), "t.csv: line 1: found the column `a` twice, expected each column once");
    }

    #[test]
    fn a_line_without_end_is_rejected_after_one_mebibyte() {
        let mut lines = Lines::new(Path::new("t.csv"), BufReader::new(std::io::repeat(b'1')));
        assert_eq!(
            lines.next().err().unwrap().to_string(),
            "t.csv: line 1: found a line of more than 1 MiB, expected one row of a table a line"
        );
    }
}
