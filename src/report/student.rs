//! The document of the recipe that trains students.

use super::content::Content;
use super::document::Document;
use super::recording::RecordingDocument;
use super::records::{Records, fields};
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
    pub budget: Number,
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
    /// The share of correct labels.
    pub label_accuracy: f64,
    /// The share of test images, none of them public, whose class the student predicts.
    pub student_accuracy: f64,
    /// Whether a query was refused; otherwise the queries ran out.
    pub exhausted: bool,
}

/// What was trained and recorded, with a row for each student.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudentDocument {
    /// The fields that every recipe has.
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
        let percent = |share: f64| format!("{:.2}%", 100.0 * share);
        Table::of(one.chain(means))
            .words("run", |line| line.0.clone())
            .short("budget", |line| line.1[0].budget.0)
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
        self.recording.content_with([Section::new("Students").heading("").table(self.table())])
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.students)
            .columns(fields!(row =>
                run, budget, delta, epsilon, order, queries, labels, success_rate, label_accuracy, student_accuracy,
                exhausted
            ))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Envelope, TrainingFact};

    #[test]
    fn several_runs_have_a_line_with_their_means() {
        let envelope = Envelope {
            schema: "leakbound.torch-student/1",
            command: "torch student".into(),
            version: "0",
            inputs: Vec::new(),
            options: serde_json::Value::Null,
            seed: 0,
            warnings: Vec::new(),
        };
        let student = |run: usize, labels| StudentRow {
            run,
            budget: Number(2.0),
            delta: 1e-5,
            epsilon: Number(1.5),
            order: 8.0,
            queries: 200,
            labels,
            success_rate: labels as f64 / 200.0,
            label_accuracy: 1.0,
            student_accuracy: 0.5,
            exhausted: true,
        };
        let recording = RecordingDocument {
            envelope,
            title: "Students".into(),
            device: "CPU".into(),
            recording: "s.npz".into(),
            arrays: Vec::new(),
            networks: 2,
            facts: vec![TrainingFact { name: "mean-accuracy", value: Number(0.5) }],
            figures: Vec::new(),
        };
        let text = StudentDocument { recording, students: vec![student(0, 100), student(1, 103)] }.text();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").filter(|word| !word.is_empty()).map(str::trim).collect())
            .collect();
        let row = |line: &str| rows.contains(&line.split('|').collect::<Vec<_>>());
        assert!(text.starts_with("Students\nCPU\n\n") && row("trained|2") && row("mean accuracy|0.5000"), "{text}");
        assert!(row("1|2|1.500|200|103|51.50%|100.00%|50.00%"), "{text}");
        assert!(row("mean|2|1.500|200.0|101.5|50.75%|100.00%|50.00%"), "{text}");
    }
}
