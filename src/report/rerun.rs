//! Presentation of the answer of `leakbound rerun`.

use super::document::Render;
use super::records::Records;
use super::section::{Form, Section, Table};
use super::words::rest;
use crate::error::echo;
use crate::study::RerunAnswer;
use serde_json::Value;

/// Differences that are shown.
const MOST: usize = 40;

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => echo(text),
        other => echo(&other.to_string()),
    }
}

impl Render for RerunAnswer {
    fn title(&self, title: &str) -> String {
        let outcome = match self.differences.len() {
            0 => format!("identical: all {} values are equal", self.compared),
            1 => format!("1 of {} values differs", self.compared),
            several => format!("{several} of {} values differ", self.compared),
        };
        format!("{title}\n{}\n{outcome}", self.command_line)
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let table = Table::of(self.differences.iter().take(MOST))
            .words("place", |row| echo(&row.place))
            .exact("recorded", |row| cell(&row.recorded))
            .exact("repeated", |row| cell(&row.repeated));
        let more = rest(self.differences.len(), MOST, "differences");
        vec![Section::new("Differences").heading("").table(table).notes(more)]
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.differences)
            .column("place", |row| &row.place)
            .column("recorded", |row| cell(&row.recorded))
            .column("repeated", |row| cell(&row.repeated))
            .into()
    }
}
