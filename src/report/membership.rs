//! The document of `leakbound membership`.

mod comparison;

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{LevelRow, MembershipAnswer, Number, percent, short, significant};
use serde::Serialize;

/// The level for a reader.
fn level_words(row: &LevelRow) -> String {
    match (row.level, row.label) {
        ("class", Some(label)) => format!("class {label}"),
        ("top", _) => format!("top {} samples", row.samples),
        ("most-vulnerable", _) => "most vulnerable sample".into(),
        (level, _) => level.to_owned(),
    }
}

impl MembershipAnswer {
    /// The attack, who was attacked, and on how much.
    pub(super) fn title(&self) -> String {
        let models = self.models;
        format!(
            "Membership inference, {}: {} of {} models as victims, {} samples, {} view{}",
            self.attack,
            models.victims,
            models.models,
            models.samples,
            models.views,
            if models.views == 1 { "" } else { "s" }
        )
    }

    /// Several attacks in few lines; the page and the other forms have the rest.
    fn comparison_text(&self, failure: f64) -> String {
        let mut text = format!(
            "Attacks compared, with limits at failure probability {} as if guesses were independent (heuristic)\n",
            short(failure)
        );
        text += &self.comparison_table().text();
        if self.sample_level.iter().any(|curve| !curve.samples.is_empty()) {
            let share = self.sample_level.first().map_or(failure, |curve| curve.failure_probability);
            let each = if share < failure { "all attacks and samples" } else { "all samples of an attack" };
            text += &format!(
                "Most vulnerable sample of each attack, limits for {each} at once if victims are independent, failure \
                 probability {}\n",
                short(failure)
            );
            text += &self.samples_table(1).text();
        }
        text
    }

    /// Attack by level, with TPR at each FPR in percent.
    pub(super) fn levels_table(&self) -> TextTable {
        let targets: Vec<f64> =
            self.levels.first().into_iter().flat_map(|row| &row.at).map(|at| at.target_fpr).collect();
        let names: Vec<String> = targets.iter().map(|target| format!("TPR at FPR {}", percent(*target))).collect();
        let mut header = vec!["attack", "level", "guesses", "AUC", "balanced accuracy"];
        header.extend(names.iter().map(String::as_str));
        let mut table = TextTable::new(&header, &[0, 1]);
        for row in &self.levels {
            let mut cells = vec![
                row.attack.clone(),
                level_words(row),
                (row.members + row.non_members).to_string(),
                significant(row.auc, 4),
                significant(row.balanced_accuracy, 4),
            ];
            cells.extend(row.at.iter().map(|at| {
                let [lower, upper] = [at.tpr_lower.0, at.tpr_upper.0].map(percent);
                format!("{} [{}, {}]", percent(at.tpr), lower.trim_end_matches(" %"), upper.trim_end_matches(" %"))
            }));
            table.row(cells);
        }
        table
    }

    /// Bands of the population: of the rule, of the ROC, and over victims.
    pub(super) fn bands_table(&self) -> TextTable {
        let header = [
            "attack",
            "FPR",
            "TPR",
            "of the rule",
            "its FPR at most",
            "of the ROC at this FPR",
            "over victims (heuristic)",
        ];
        let mut table = TextTable::new(&header, &[0]);
        for row in self.levels.iter().filter(|row| row.level == "population") {
            for at in &row.at {
                let pair = |lower: f64, upper: f64| format!("[{}, {}]", percent(lower), percent(upper));
                table.row(vec![
                    row.attack.clone(),
                    percent(at.target_fpr),
                    percent(at.tpr),
                    pair(at.tpr_lower.0, at.tpr_upper.0),
                    percent(at.fpr_upper.0),
                    pair(at.curve_lower.0, at.curve_upper.0),
                    at.bootstrap_lower.zip(at.bootstrap_upper).map_or_else(|| "none".into(), |(l, u)| pair(l.0, u.0)),
                ]);
            }
        }
        table
    }

    /// The most vulnerable samples of each attack.
    pub(super) fn samples_table(&self, most: usize) -> TextTable {
        let header = ["attack", "sample", "TPR", "TPR at least", "FPR at most", "AUC"];
        let mut table = TextTable::new(&header, &[0]);
        for curve in &self.sample_level {
            for sample in curve.samples.iter().take(most) {
                table.row(vec![
                    curve.attack.clone(),
                    sample.sample.to_string(),
                    percent(sample.tpr),
                    percent(sample.tpr_lower.0),
                    percent(sample.fpr_upper.0),
                    significant(sample.auc, 4),
                ]);
            }
        }
        table
    }

    /// Fitness of the samples.
    pub(super) fn canaries_table(&self) -> TextTable {
        let header = [
            "attack",
            "samples",
            "in or out always",
            "accuracy inside",
            "outside",
            "rms correlation",
            "expected",
            "p-value",
        ];
        let mut table = TextTable::new(&header, &[0]);
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| significant(value, 3));
        for row in &self.canaries {
            table.row(vec![
                row.attack.clone(),
                row.samples.to_string(),
                row.without_both.to_string(),
                row.accuracy.map_or_else(String::new, percent),
                row.accuracy_outside.map_or_else(String::new, percent),
                number(row.rms_correlation),
                number(row.rms_expected),
                number(row.p_value),
            ]);
        }
        table
    }
}

impl Render for MembershipAnswer {
    fn text(&self, _: &str) -> String {
        let failure = self.levels.first().and_then(|row| row.at.first()).map_or(0.05, |at| at.failure_probability);
        let mut text = format!("{}\n\n", self.title());
        if self.is_comparison() {
            return text + &self.comparison_text(failure);
        }
        text += &format!(
            "Attack by level, with limits at failure probability {} as if guesses were independent (heuristic)\n",
            short(failure)
        );
        text += &self.levels_table().text();
        text += "Bands of the population\n";
        text += &self.bands_table().text();
        if self.sample_level.iter().any(|curve| !curve.samples.is_empty()) {
            let target = self.sample_level.first().map_or(0.0, |curve| curve.target_fpr);
            text += &format!(
                "Most vulnerable samples at FPR {}, limits for all samples at once if victims are independent\n",
                percent(target)
            );
            text += &self.samples_table(3).text();
        }
        text += "Samples as canaries\n";
        text + &self.canaries_table().text()
    }

    fn page(&self, envelope: &Envelope, _: &str) -> Option<Page> {
        Some(self.as_page(envelope))
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            attack: &'a str,
            level: &'a str,
            label: Option<i64>,
            samples: usize,
            members: u64,
            non_members: u64,
            auc: f64,
            balanced_accuracy: f64,
            target_fpr: f64,
            threshold: Option<String>,
            fpr: f64,
            tpr: f64,
            tpr_lower: String,
            tpr_upper: String,
            fpr_upper: String,
            curve_lower: String,
            curve_upper: String,
            bootstrap_lower: Option<String>,
            bootstrap_upper: Option<String>,
            failure_probability: f64,
            validity: &'a str,
        }
        let text = |number: Option<Number>| number.map(Number::text);
        let rows = self.levels.iter().flat_map(|row| row.at.iter().map(move |at| (row, at)));
        csv_text(rows.map(|(row, at)| Row {
            attack: &row.attack,
            level: row.level,
            label: row.label,
            samples: row.samples,
            members: row.members,
            non_members: row.non_members,
            auc: row.auc,
            balanced_accuracy: row.balanced_accuracy,
            target_fpr: at.target_fpr,
            threshold: text(at.threshold),
            fpr: at.fpr,
            tpr: at.tpr,
            tpr_lower: at.tpr_lower.text(),
            tpr_upper: at.tpr_upper.text(),
            fpr_upper: at.fpr_upper.text(),
            curve_lower: at.curve_lower.text(),
            curve_upper: at.curve_upper.text(),
            bootstrap_lower: text(at.bootstrap_lower),
            bootstrap_upper: text(at.bootstrap_upper),
            failure_probability: at.failure_probability,
            validity: at.validity.name(),
        }))
    }
}

#[cfg(test)]
mod tests;
