//! The document of the recipe that trains students.

use super::content::Content;
use super::document::Document;
use super::recording::RecordingDocument;
use super::records::Records;
use super::section::{Columns, Form, Section, Table};
use crate::study::Number;
use serde::Serialize;

/// A student and the labels that it was trained on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudentRow {
    /// The run, counted from 0.
    pub run: usize,
    /// The budget.
    pub budget: f64,
    /// Its δ.
    pub delta: f64,
    /// ε of what was spent.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// Queries asked.
    pub queries: u64,
    /// Queries answered.
    pub labels: u64,
    /// Their ratio.
    pub success_rate: f64,
    /// The share of right labels.
    pub label_accuracy: f64,
    /// The share of test images, none of them public, of which the student predicts the class.
    pub student_accuracy: f64,
    /// Whether a query was turned away; otherwise the queries ran out.
    pub exhausted: bool,
}

/// What was trained and recorded, with a row for each student.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudentDocument {
    /// What every recipe says.
    #[serde(flatten)]
    pub recording: RecordingDocument,
    /// Run by run.
    pub students: Vec<StudentRow>,
}

impl StudentDocument {
    /// The students of each line of the table: one of a run, and with several runs those of all with the same budget.
    fn table(&self) -> Columns<(String, Vec<&StudentRow>)> {
        let one = self.students.iter().map(|row| (row.run.to_string(), vec![row]));
        let budgets = self.students.iter().filter(|row| row.run == 0).count();
        let means = if budgets == self.students.len() { 0 } else { budgets };
        let all = |index| self.students.iter().skip(index).step_by(budgets).collect::<Vec<_>>();
        let means = (0..means).map(|index| ("mean".to_owned(), all(index)));
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        Table::of(one.chain(means))
            .words("run", |line| line.0.clone())
            .short("budget", |line| line.1[0].budget)
            .number("ε spent", 4, |line| mean(&line.1, |row| row.epsilon.0))
            .exact("queries", |line| count(&line.1, |row| row.queries))
            .exact("labels", |line| count(&line.1, |row| row.labels))
            .exact("answered", |line| percent(mean(&line.1, |row| row.success_rate)))
            .exact("label accuracy", |line| percent(mean(&line.1, |row| row.label_accuracy)))
            .exact("student accuracy", |line| percent(mean(&line.1, |row| row.student_accuracy)))
    }
}

fn mean(rows: &[&StudentRow], value: impl Fn(&StudentRow) -> f64) -> f64 {
    rows.iter().map(|row| value(row)).sum::<f64>() / rows.len() as f64
}

/// A count, or the mean of several.
fn count(rows: &[&StudentRow], value: impl Fn(&StudentRow) -> u64) -> String {
    match rows {
        [row] => value(row).to_string(),
        rows => format!("{:.1}", mean(rows, |row| value(row) as f64)),
    }
}

impl Document for StudentDocument {
    fn content(&self, _: Form) -> Content {
        self.recording.content_with(Some(Section::new("Students").heading("").table(self.table())))
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.students)
            .column("run", |row| row.run)
            .column("budget", |row| row.budget)
            .column("delta", |row| row.delta)
            .column("epsilon", |row| row.epsilon)
            .column("order", |row| row.order)
            .column("queries", |row| row.queries)
            .column("labels", |row| row.labels)
            .column("success_rate", |row| row.success_rate)
            .column("label_accuracy", |row| row.label_accuracy)
            .column("student_accuracy", |row| row.student_accuracy)
            .column("exhausted", |row| row.exhausted)
            .into()
    }
}
