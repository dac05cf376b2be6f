//! Plain text tables and CSV rows.

use super::document::Warning;
use crate::error::{Error, Result};
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

    /// The table, each line without trailing spaces.
    pub(super) fn text(self) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING.header_separator(LineStyle::none().fill('─').junction('─')));
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

/// Rows with a header made of their field names.
pub(super) fn csv_text<R: Serialize>(rows: impl IntoIterator<Item = R>) -> Result<String> {
    let refused = |error: &dyn std::fmt::Display| Error::Refused { operation: "CSV", reason: error.to_string() };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).map_err(|error| refused(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| refused(&error))?;
    String::from_utf8(bytes).map_err(|error| refused(&error))
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
