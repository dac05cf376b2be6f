//! The document of `leakbound rerun`.

use super::document::Render;
use super::table::{TextTable, csv_text};
use crate::error::{Result, echo};
use crate::study::RerunAnswer;
use serde::Serialize;
use serde_json::Value;

/// Differences shown in text.
const MOST: usize = 40;

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => echo(text),
        other => echo(&other.to_string()),
    }
}

impl Render for RerunAnswer {
    fn text(&self, title: &str) -> String {
        let outcome = match self.differences.len() {
            0 => format!("identical: all {} values are equal", self.compared),
            1 => format!("1 of {} values differs", self.compared),
            several => format!("{several} of {} values differ", self.compared),
        };
        let mut text = format!("{title}\n{}\n{outcome}\n\n", self.command_line);
        if self.identical {
            return text;
        }
        let mut table = TextTable::new(&["place", "recorded", "repeated"], &[0]);
        for difference in self.differences.iter().take(MOST) {
            table.row(vec![echo(&difference.place), cell(&difference.recorded), cell(&difference.repeated)]);
        }
        text += &table.text();
        if let Some(more) = self.differences.len().checked_sub(MOST).filter(|more| *more > 0) {
            text += &format!("  ({more} more in --format json)\n\n");
        }
        text
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            place: &'a str,
            recorded: String,
            repeated: String,
        }
        csv_text(self.differences.iter().map(|difference| Row {
            place: &difference.place,
            recorded: cell(&difference.recorded),
            repeated: cell(&difference.repeated),
        }))
    }
}
