//! Presentation of the answer of `leakbound run`.

use super::document::Render;
use super::records::Records;
use super::section::{Form, Section, Table};
use crate::error::one_line;
use crate::study::{StudyOutcome, SuiteAnswer};

const fn name(outcome: StudyOutcome) -> &'static str {
    match outcome {
        StudyOutcome::Passed => "passed",
        StudyOutcome::Refuted => "refuted",
        StudyOutcome::Failed => "failed",
    }
}

impl Render for SuiteAnswer {
    fn sections(&self, form: Form) -> Vec<Section> {
        let texts = self.studies.iter().map(|study| {
            let failed = |line: &String| format!("failed: {line}\n\n");
            let name = one_line(&study.name);
            let lines = study.message.as_ref().map_or_else(|| study.text.clone(), failed);
            let heading = if form == Form::Text { format!("== {name} ==") } else { String::new() };
            Section::new(name).heading(heading).lines(lines)
        });
        let outcomes = Table::of(&self.studies)
            .words("study", |study| one_line(&study.name))
            .words("command", |study| &study.command)
            .words("outcome", |study| name(study.outcome));
        // A reader of a terminal sees the last lines first.
        texts.chain([Section::new("Outcomes").table(outcomes)]).collect()
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.studies)
            .column("name", |study| &study.name)
            .column("command", |study| &study.command)
            .column("outcome", |study| name(study.outcome))
            .column("message", |study| study.message.as_ref())
            .into()
    }
}
