//! The document of `leakbound property distance`.

use super::document::{Document, Envelope};
use super::page::Page;
use super::table::{TextTable, csv_text, warnings_text};
use crate::error::Result;
use crate::study::{Number, significant};
use serde::Serialize;

/// How far the ensemble of one property value is from the student.
#[derive(Debug, Clone, Serialize)]
pub struct PropertyDistanceRow {
    /// The property value, counted from 0.
    pub value: usize,
    /// Mean divergence from the student in nats.
    pub distance: Number,
    /// Whether it is the nearest.
    pub inferred: bool,
}

/// The result of property inference by distance.
#[derive(Debug, Clone, Serialize)]
pub struct PropertyDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title line of the text.
    #[serde(skip)]
    pub title: String,
    /// The inferred property value, counted from 0.
    pub inferred: usize,
    /// Distance of the second nearest value minus that of the nearest.
    pub margin: Number,
    /// Permutation p-value.
    pub p_value: f64,
    /// Permutations.
    pub permutations: usize,
    /// All values.
    pub distances: Vec<PropertyDistanceRow>,
}

impl PropertyDocument {
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

impl Document for PropertyDocument {
    fn text(&self) -> String {
        let text = format!("{}\n{}\n\n", self.title, self.decision()) + &self.table().text();
        text + &warnings_text(&self.envelope.warnings)
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

    fn page(&self) -> Page {
        let mut page = Page::of_scores(&self.envelope, &format!("{}\n{}", self.title, self.decision()), &[]);
        page.add_table("Distances", self.table(), "");
        page
    }
}
