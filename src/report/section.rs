//! The parts of a result, before presentation: tables with a title and notes.
//!
//! An answer defines its parts here; text and page are each written once, from these.

use crate::study::{percent, short, significant, significant_above, significant_below};
use std::fmt::Display;

/// The form that parts are made for: a page has room for more rows and words than a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines for a terminal.
    Text,
    /// A page with figures.
    Page,
}

/// One part of a result.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The heading on a page.
    pub(super) title: String,
    /// The line above the table in text.
    pub(super) heading: String,
    pub(super) body: Option<Body>,
    /// Paragraphs below.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    Table(Table),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// Lines that are complete, such as the output of another command.
    Lines(String),
}

impl Section {
    /// A part with this heading in text and on a page. A table without rows is left out, with its heading and notes.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        let title = title.into();
        Self { heading: title.clone(), title, ..Self::default() }
    }

    /// Replaces the heading in text; on a page, which keeps its short title, it becomes a paragraph.
    #[must_use]
    pub fn heading(self, heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..self }
    }

    /// The table.
    #[must_use]
    pub fn table(self, table: impl Into<Table>) -> Self {
        Self { body: Some(Body::Table(table.into())), ..self }
    }

    /// Names and their values, a line each.
    #[must_use]
    pub fn facts(self, facts: Vec<(String, String)>) -> Self {
        Self { body: Some(Body::Facts(facts)), ..self }
    }

    /// Lines that are shown as they are.
    #[must_use]
    pub fn lines(self, lines: String) -> Self {
        Self { body: Some(Body::Lines(lines)), ..self }
    }

    /// Paragraphs below the table, or without one.
    #[must_use]
    pub fn notes<N: Into<String>>(mut self, notes: impl IntoIterator<Item = N>) -> Self {
        self.notes.extend(notes.into_iter().map(Into::into));
        self
    }

    /// Whether there is something to show.
    pub(super) fn is_shown(&self) -> bool {
        match &self.body {
            None => !self.notes.is_empty(),
            Some(Body::Table(table)) => table.rows() > 0,
            Some(Body::Facts(facts)) => !facts.is_empty(),
            Some(Body::Lines(lines)) => !lines.is_empty(),
        }
    }
}

/// A table of cells that are written already, made by [`Table::of`].
#[derive(Debug, Clone, Default)]
pub struct Table {
    pub(super) columns: Vec<Column>,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    /// Words are aligned left, numbers right.
    pub(super) words: bool,
    pub(super) cells: Vec<String>,
}

impl Table {
    /// A table of these rows, to which columns are added.
    ///
    /// ```
    /// # use leakbound::report::Table;
    /// let table = Table::of([("a", 0.25), ("b", 1e-9)]).words("query", |row| row.0).number("D", 3, |row| row.1);
    /// ```
    #[must_use]
    pub fn of<R>(rows: impl IntoIterator<Item = R>) -> Columns<R> {
        Columns { rows: rows.into_iter().collect(), table: Self::default() }
    }

    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }
}

/// Rows that become a [`Table`] column by column, so that name, alignment and cells of a column are in one place.
#[derive(Debug, Clone)]
pub struct Columns<R> {
    rows: Vec<R>,
    table: Table,
}

impl<R> Columns<R> {
    /// Compiled once for each kind of rows, not for each column.
    fn column(mut self, name: String, words: bool, cell: &dyn Fn(&R) -> String) -> Self {
        let cells = self.rows.iter().map(cell).collect();
        self.table.columns.push(Column { name, words, cells });
        self
    }

    /// Words, aligned left.
    #[must_use]
    pub fn words<W: Display>(self, name: impl Into<String>, value: impl Fn(&R) -> W) -> Self {
        self.column(name.into(), true, &|row| value(row).to_string())
    }

    /// Counts, and numbers that are written already, aligned right.
    #[must_use]
    pub fn exact<W: Display>(self, name: impl Into<String>, value: impl Fn(&R) -> W) -> Self {
        self.column(name.into(), false, &|row| value(row).to_string())
    }

    /// Numbers with this many significant digits; the cell of a missing number is empty.
    #[must_use]
    pub fn number<N: Into<Option<f64>>>(self, name: impl Into<String>, digits: usize, value: impl Fn(&R) -> N) -> Self {
        self.exact(name, |row| value(row).into().map_or_else(String::new, |value| significant(value, digits)))
    }

    /// Lower bounds: as [`number`](Self::number), rounded down.
    #[must_use]
    pub fn at_least<N: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        digits: usize,
        value: impl Fn(&R) -> N,
    ) -> Self {
        self.exact(name, |row| value(row).into().map_or_else(String::new, |bound| significant_below(bound, digits)))
    }

    /// Upper bounds: as [`number`](Self::number), rounded up.
    #[must_use]
    pub fn at_most<N: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        digits: usize,
        value: impl Fn(&R) -> N,
    ) -> Self {
        self.exact(name, |row| value(row).into().map_or_else(String::new, |bound| significant_above(bound, digits)))
    }

    /// Numbers that a user gave, in the fewest digits that read back exactly.
    #[must_use]
    pub fn short(self, name: impl Into<String>, value: impl Fn(&R) -> f64) -> Self {
        self.column(name.into(), false, &|row| short(value(row)))
    }

    /// Shares in percent; the cell of a missing share is empty.
    #[must_use]
    pub fn percent<N: Into<Option<f64>>>(self, name: impl Into<String>, value: impl Fn(&R) -> N) -> Self {
        self.column(name.into(), false, &|row| value(row).into().map_or_else(String::new, percent))
    }

    /// Adds columns that only some tables have.
    #[must_use]
    pub fn when(self, wanted: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if wanted { add(self) } else { self }
    }

    /// Adds columns for each of these.
    #[must_use]
    pub fn each<T>(self, items: impl IntoIterator<Item = T>, add: impl FnMut(Self, T) -> Self) -> Self {
        items.into_iter().fold(self, add)
    }
}

impl<R> From<Columns<R>> for Table {
    fn from(columns: Columns<R>) -> Self {
        columns.table
    }
}
