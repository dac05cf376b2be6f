//! The document of the recipe that trains students.

use super::document::Document;
use super::recording::RecordingDocument;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{Number, short, significant};
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
    /// The rows of all runs, and with several runs their means.
    fn table(&self) -> TextTable {
        let header =
            ["run", "budget", "ε spent", "queries", "labels", "answered", "label accuracy", "student accuracy"];
        let mut table = TextTable::new(&header, &[0]);
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        for row in &self.students {
            table.row(vec![
                row.run.to_string(),
                short(row.budget),
                significant(row.epsilon.0, 4),
                row.queries.to_string(),
                row.labels.to_string(),
                percent(row.success_rate),
                percent(row.label_accuracy),
                percent(row.student_accuracy),
            ]);
        }
        let first: Vec<&StudentRow> = self.students.iter().filter(|row| row.run == 0).collect();
        if first.len() == self.students.len() {
            return table;
        }
        for (index, row) in first.iter().enumerate() {
            let same: Vec<&StudentRow> = self.students.iter().skip(index).step_by(first.len()).collect();
            let mean =
                |value: &dyn Fn(&StudentRow) -> f64| same.iter().map(|row| value(row)).sum::<f64>() / same.len() as f64;
            table.row(vec![
                "mean".into(),
                short(row.budget),
                significant(mean(&|row| row.epsilon.0), 4),
                format!("{:.1}", mean(&|row| row.queries as f64)),
                format!("{:.1}", mean(&|row| row.labels as f64)),
                percent(mean(&|row| row.success_rate)),
                percent(mean(&|row| row.label_accuracy)),
                percent(mean(&|row| row.student_accuracy)),
            ]);
        }
        table
    }
}

impl Document for StudentDocument {
    fn text(&self) -> String {
        self.recording.text_with(&self.table().text())
    }

    fn csv(&self) -> Result<String> {
        csv_text(&self.students)
    }
}
