//! The document of `leakbound property distance`.

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{PropertyAnswer, significant};
use serde::Serialize;

impl PropertyAnswer {
    fn table(&self) -> TextTable {
        let mut table = TextTable::new(&["property value", "mean KL(student ‖ member)", ""], &[2]);
        for row in &self.distances {
            let inferred = if row.inferred { "inferred" } else { "" };
            table.row(vec![row.value.to_string(), significant(row.distance.0, 6), inferred.into()]);
        }
        table
    }

    fn decision(&self) -> String {
        format!(
            "Property value {}, nearer than the next by {} nats; as clear a margin without a property has probability {} \
             ({} permutations of the members)",
            self.inferred,
            significant(self.margin.0, 4),
            significant(self.p_value, 3),
            self.permutations
        )
    }
}

impl Render for PropertyAnswer {
    fn text(&self, title: &str) -> String {
        format!("{title}\n{}\n\n", self.decision()) + &self.table().text()
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row {
            value: usize,
            distance: String,
            inferred: bool,
        }
        csv_text(self.distances.iter().map(|row| Row {
            value: row.value,
            distance: row.distance.text(),
            inferred: row.inferred,
        }))
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        let mut page = Page::of_scores(envelope, &format!("{title}\n{}", self.decision()), &[]);
        page.add_table("Distances", self.table(), "");
        Some(page)
    }
}
