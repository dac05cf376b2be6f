//! Plain text tables and CSV rows.

use super::fit::RULE;
use crate::error::{Error, Result};
use crate::study::Warning;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, LineStyle, Table};
use serde::Serialize;

/// A table as text and, in a page, as HTML. Columns that hold words are aligned left, all others right.
#[derive(Debug, Clone)]
pub(super) struct TextTable {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    pub(super) words: Vec<usize>,
}

impl TextTable {
    pub(super) fn new(header: &[&str], words: &[usize]) -> Self {
        Self { header: header.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new(), words: words.to_vec() }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table, each line without trailing spaces; [`fit`](super::fit::fit) brings it into the width of a terminal.
    pub(super) fn text(self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING.header_separator(LineStyle::none().fill(RULE).junction(RULE)));
        table.set_header(self.header);
        table.add_rows(self.rows);
        for index in 0..table.column_count() {
            if let Some(column) = table.column_mut(index) {
                let alignment = if self.words.contains(&index) { CellAlignment::Left } else { CellAlignment::Right };
                column.set_cell_alignment(alignment);
                column.set_padding((0, 2));
            }
        }
        let mut text: String = table.lines().map(|line| format!("  {}\n", line.trim_end())).collect();
        text.push('\n');
        text
    }
}

/// Warnings below the tables, one line each.
pub(super) fn warnings_text(warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("warning: {} (hint: {})\n", warning.message, warning.hint)).collect()
}

/// Rows with a header made of their field names. Texts that a spreadsheet would take for a formula are marked as texts
/// by an apostrophe before them.
pub(super) fn csv_text<R: Serialize>(rows: impl IntoIterator<Item = R>) -> Result<String> {
    let refused = |error: &dyn std::fmt::Display| Error::Refused { operation: "CSV", reason: error.to_string() };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| refused(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| refused(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| refused(&error))?;
    // Reading the rows again takes time, and hardly any begin so.
    let begins = |pair: &[u8]| b",\n\"".contains(&pair[0]) && FORMULA.contains(&char::from(pair[1]));
    if !text.starts_with(FORMULA) && !text.as_bytes().windows(2).any(begins) {
        return Ok(text);
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::with_capacity(text.len()));
    let mut row = csv::StringRecord::new();
    while reader.read_record(&mut row).map_err(|error| refused(&error))? {
        writer.write_record(row.iter().map(as_text)).map_err(|error| refused(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| refused(&error))?;
    String::from_utf8(bytes).map_err(|error| refused(&error))
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A cell that a spreadsheet shows as it is: the user's names may begin like a formula, which would be run when someone
/// else opens the file. Numbers stay numbers.
fn as_text(cell: &str) -> String {
    let harmless = !cell.starts_with(FORMULA) || cell.parse::<f64>().is_ok();
    if harmless { cell.to_owned() } else { format!("'{cell}") }
}

/// Names shown before the rest is counted.
const NAMES: usize = 12;

/// Names in a line, at most a dozen: a set may have thousands of outcomes, all of which are in JSON.
pub(super) fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text += &format!(", and {} more", names.len() - NAMES);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_formulas_and_numbers_stay_numbers() {
        #[derive(Serialize)]
        struct Row(&'static str, f64, &'static str);
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
        let text = csv_text(names.map(|name| Row(name, -1.5, ""))).unwrap();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let read: Vec<String> = reader.records().map(|row| row.unwrap().iter().collect::<Vec<_>>().join("|")).collect();
        let expected = names.map(|name| {
            let number = ["-inf", "+5", "-1e-5", "a=b", "'=1"].contains(&name);
            format!("{}{name}|-1.5|", if number { "" } else { "'" })
        });
        assert_eq!(read, expected);
        // Where there is nothing to mark, rows are written once.
        assert_eq!(csv_text([Row("a", 2.0, "")]).unwrap(), "a,2.0,\n");
    }
}
