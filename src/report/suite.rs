//! The document of `leakbound run`.

use super::document::Render;
use super::table::{TextTable, csv_text};
use crate::error::{Result, one_line};
use crate::study::{StudyOutcome, SuiteAnswer};
use serde::Serialize;

const fn name(outcome: StudyOutcome) -> &'static str {
    match outcome {
        StudyOutcome::Passed => "passed",
        StudyOutcome::Refuted => "refuted",
        StudyOutcome::Failed => "failed",
    }
}

impl Render for SuiteAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = String::new();
        for study in &self.studies {
            let answer =
                study.message.as_ref().map_or_else(|| study.text.clone(), |line| format!("failed: {line}\n\n"));
            text += &format!("== {} ==\n{answer}", one_line(&study.name));
        }
        let mut table = TextTable::new(&["study", "command", "outcome"], &[0, 1, 2]);
        for study in &self.studies {
            table.row(vec![one_line(&study.name), study.command.clone(), name(study.outcome).into()]);
        }
        text + &format!("{title}\n\n") + &table.text()
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            name: &'a str,
            command: &'a str,
            outcome: StudyOutcome,
            message: Option<&'a str>,
        }
        csv_text(self.studies.iter().map(|study| Row {
            name: &study.name,
            command: &study.command,
            outcome: study.outcome,
            message: study.message.as_deref(),
        }))
    }
}
