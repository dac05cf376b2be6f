//! The document of `leakbound audit scores`.

use super::counts::claims_text;
use super::document::Render;
use super::envelope::Envelope;
use super::figure::{Axis, Curves, Series, SeriesKind};
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::bound::{Direction, Validity};
use crate::error::Result;
use crate::study::{Number, ScoreBoundRow, ScoresAnswer, short, significant};
use serde::Serialize;

/// Thresholds shown before the rest is left to JSON.
const SHOWN: usize = 12;

impl ScoresAnswer {
    fn bounds(&self) -> TextTable {
        let header = ["quantity", "direction", "at least", "threshold", "method", "selection", "failure", "validity"];
        let mut table = TextTable::new(&header, &[0, 1, 4, 5, 7]);
        for (quantity, row) in self.rows() {
            let at = match (row.delta, row.epsilon) {
                (Some(delta), _) => format!(" at δ = {}", short(delta)),
                (_, Some(epsilon)) => format!(" at ε = {}", short(epsilon)),
                _ => String::new(),
            };
            table.row(vec![
                format!("{quantity}{at}"),
                row.direction.map_or_else(|| "both".into(), |direction| direction.to_string()),
                significant(row.lower.0, 6),
                row.threshold.map_or_else(String::new, |threshold| significant(threshold.0, 5)),
                row.method.into(),
                row.selection.into(),
                significant(row.failure_probability, 3),
                row.validity.to_string(),
            ]);
        }
        table
    }

    fn rows(&self) -> impl Iterator<Item = (&'static str, &ScoreBoundRow)> {
        let epsilon = self.epsilon.iter().map(|row| ("ε", row));
        let mu = self.mu.iter().map(|row| ("μ", row));
        let implied = self.epsilon_of_mu.iter().map(|row| ("ε of that μ", row));
        epsilon.chain(mu).chain(implied).chain(self.delta.iter().map(|row| ("δ", row)))
    }

    fn rate_table(&self, most: usize) -> TextTable {
        let header = ["threshold", "members at or above", "TPR from", "others at or above", "FPR to"];
        let mut table = TextTable::new(&header, &[]);
        // Evenly, the ends included.
        let shown = self.rates.len().min(most);
        for index in 0..shown {
            let point = &self.rates[if shown < 2 { 0 } else { index * (self.rates.len() - 1) / (shown - 1) }];
            table.row(vec![
                significant(point.threshold.0, 5),
                point.true_positives.to_string(),
                significant(point.tpr_lower.0, 5),
                point.false_positives.to_string(),
                significant(point.fpr_upper.0, 5),
            ]);
        }
        table
    }

    fn one_run_text(&self) -> String {
        self.one_run.as_ref().map_or_else(String::new, |row| {
            format!(
                "One run: {} of {} guesses are right ({} canaries called members, {} called non-members, of {} that the \
                 bound is about; {})\n\n",
                row.right,
                row.guessed_members + row.guessed_non_members,
                row.guessed_members,
                row.guessed_non_members,
                row.canaries,
                row.selection
            )
        })
    }

    fn curve(&self) -> Curves {
        let limits: Vec<[f64; 2]> = self.rates.iter().map(|point| [point.fpr_upper.0, point.tpr_lower.0]).collect();
        let valid = self.epsilon.iter().all(|row| row.validity == Validity::FiniteSample);
        let kind = if valid { SeriesKind::Lower } else { SeriesKind::Heuristic };
        Curves {
            title: "ROC curve of the attack, and what is certain of it".into(),
            description:
                "True positive rate against false positive rate: as recorded, and the corner of the limits at \
                          each threshold looked at."
                    .into(),
            x: Axis::log("false positive rate"),
            y: Axis::log("true positive rate"),
            series: vec![
                Series::new("recorded", SeriesKind::Reference, self.roc.clone()),
                Series::new(if valid { "limits" } else { "limits (heuristic)" }, kind, limits),
            ],
        }
    }
}

impl Render for ScoresAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n\n");
        text += &self.one_run_text();
        text += &self.bounds().text();
        if !self.rates.is_empty() {
            text += &self.rate_table(SHOWN).text();
        }
        text + &claims_text(&self.claims)
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            quantity: &'a str,
            method: &'a str,
            selection: &'a str,
            direction: &'a str,
            delta: Option<f64>,
            epsilon: Option<f64>,
            threshold: Option<String>,
            lower: String,
            failure_probability: f64,
            validity: &'a str,
        }
        let names = [&self.epsilon, &self.mu, &self.epsilon_of_mu, &self.delta];
        let names = names.into_iter().zip(["epsilon", "mu", "epsilon-of-mu", "delta"]);
        csv_text(names.flat_map(|(rows, quantity)| rows.iter().map(move |row| (quantity, row))).map(
            |(quantity, row)| Row {
                quantity,
                method: row.method,
                selection: row.selection,
                direction: row.direction.map_or("both", Direction::name),
                delta: row.delta,
                epsilon: row.epsilon,
                threshold: row.threshold.map(Number::text),
                lower: row.lower.text(),
                failure_probability: row.failure_probability,
                validity: row.validity.name(),
            },
        ))
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        let mut page = Page::of_scores(envelope, title, &self.claims);
        if !self.rates.is_empty() {
            page.add_figure(self.curve().draw());
        }
        page.add_table("Lower bounds", self.bounds(), self.one_run_text());
        let note = match self.epsilon.first().map(|row| row.selection) {
            Some("multi-split") => {
                "One threshold and its limits for each split; the bounds are medians over the splits."
            }
            Some("naive") => "Limits at each vertex of the hull, without a correction for their number.",
            _ => "All of these limits hold at once.",
        };
        page.add_table("Limits of both rates", self.rate_table(200), note);
        let failure = self.epsilon.first().map(|row| row.failure_probability);
        let validities = self.rows().map(|(_, row)| row.validity);
        page.explain(failure, validities);
        Some(page)
    }
}
