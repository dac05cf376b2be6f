//! The document of `leakbound label-dp memorization`.

use super::counts::claims_text;
use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{LabelAnswer, Number, short, significant};
use serde::Serialize;

impl LabelAnswer {
    fn table(&self) -> TextTable {
        let header = ["method", "ε at least", "at most", "δ", "guess from", "guesses", "right", "failure", "validity"];
        let mut table = TextTable::new(&header, &[0, 8]);
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        for row in &self.epsilon {
            let threshold = row.threshold.map_or_else(|| "none".into(), short);
            table.row(vec![
                row.method.into(),
                significant(row.epsilon_lower.0, 6),
                row.epsilon_upper.map_or_else(String::new, |upper| significant(upper.0, 6)),
                short(row.delta),
                format!("{threshold} ({})", row.selection),
                count(row.guesses),
                count(row.right),
                significant(row.failure_probability, 3),
                row.validity.to_string(),
            ]);
        }
        table
    }
}

impl Render for LabelAnswer {
    fn text(&self, title: &str) -> String {
        format!("{title}\n\n") + &self.table().text() + &claims_text(&self.claims)
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            method: &'a str,
            selection: &'a str,
            threshold: Option<f64>,
            delta: f64,
            canaries: u64,
            guesses: Option<u64>,
            right: Option<u64>,
            epsilon_lower: String,
            epsilon_upper: Option<String>,
            failure_probability: f64,
            validity: &'a str,
        }
        csv_text(self.epsilon.iter().map(|row| Row {
            method: row.method,
            selection: row.selection,
            threshold: row.threshold,
            delta: row.delta,
            canaries: row.canaries,
            guesses: row.guesses,
            right: row.right,
            epsilon_lower: row.epsilon_lower.text(),
            epsilon_upper: row.epsilon_upper.map(Number::text),
            failure_probability: row.failure_probability,
            validity: row.validity.name(),
        }))
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        let mut page = Page::of_scores(envelope, title, &self.claims);
        page.add_table("ε of label privacy", self.table(), "");
        let failure = self.epsilon.first().map(|row| row.failure_probability);
        page.explain(failure, self.epsilon.iter().map(|row| row.validity));
        Some(page)
    }
}
