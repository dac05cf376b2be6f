//! The document of `leakbound label-dp memorization`.

use super::counts::claims_text;
use super::document::{Document, Envelope};
use super::page::Page;
use super::table::{TextTable, csv_text, warnings_text};
use crate::bound::Validity;
use crate::error::Result;
use crate::study::{Claim, Number, short, significant};
use serde::Serialize;

/// What the canaries say about ε.
#[derive(Debug, Clone, Serialize)]
pub struct LabelBoundRow {
    /// `label-guesses` or `antipodes`.
    pub method: &'static str,
    /// How the confidence threshold came about.
    pub selection: &'static str,
    /// From this confidence on the attack guesses; absent where no threshold gave anything.
    pub threshold: Option<f64>,
    /// δ.
    pub delta: f64,
    /// Canaries that the bound is about.
    pub canaries: u64,
    /// Guesses made of them, where each is about one pair of labels.
    pub guesses: Option<u64>,
    /// Right ones.
    pub right: Option<u64>,
    /// The lower bound of ε, or lower end of an interval.
    pub epsilon_lower: Number,
    /// The upper end of a heuristic interval.
    pub epsilon_upper: Option<Number>,
    /// The failure probability; nominal for a heuristic.
    pub failure_probability: f64,
    /// What is guaranteed.
    pub validity: Validity,
}

/// The result of a label-memorization audit.
#[derive(Debug, Clone, Serialize)]
pub struct LabelDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title line of the text.
    #[serde(skip)]
    pub title: String,
    /// Canaries of the file.
    pub canaries: u64,
    /// Classes.
    pub classes: usize,
    /// Bounds of ε.
    pub epsilon: Vec<LabelBoundRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
}

impl LabelDocument {
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

impl Document for LabelDocument {
    fn text(&self) -> String {
        let text = format!("{}\n\n", self.title) + &self.table().text() + &claims_text(&self.claims);
        text + &warnings_text(&self.envelope.warnings)
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

    fn page(&self) -> Page {
        let mut page = Page::of_scores(&self.envelope, &self.title, &self.claims);
        page.add_table("ε of label privacy", self.table(), "");
        let failure = self.epsilon.first().map(|row| row.failure_probability);
        page.explain(failure, self.epsilon.iter().map(|row| row.validity));
        page
    }
}
