//! Several attacks side by side, a row for each.

use super::level_words;
use crate::report::table::TextTable;
use crate::study::{MembershipAnswer, percent, significant};

impl MembershipAnswer {
    /// Whether there is something to compare.
    pub(in crate::report) fn is_comparison(&self) -> bool {
        self.roc.len() > 1
    }

    /// The attack that finds most of the population at the FPR by which samples are ranked; the first of several.
    pub(in crate::report) fn best_attack(&self) -> Option<&str> {
        let best = self.sample_level.iter().reduce(
            |best, next| {
                if next.population_tpr > best.population_tpr { next } else { best }
            },
        );
        best.map(|curve| curve.attack.as_str())
    }

    /// A row for each attack: the population at every FPR above 0, chosen samples at the one by which they are ranked, and
    /// how many samples are exposed beyond doubt.
    pub(in crate::report) fn comparison_table(&self) -> TextTable {
        let target = self.sample_level.first().map_or(0.0, |curve| curve.target_fpr);
        let mut names = vec!["attack".to_owned(), "AUC".into(), "balanced accuracy".into()];
        let first = self.sample_level.first().map_or("", |curve| curve.attack.as_str());
        // What each level is shown at, in the order of the first attack's rows.
        let mut columns: Vec<(String, f64)> = Vec::new();
        for row in self.levels.iter().filter(|row| row.attack == first && row.level != "class") {
            let population = row.level == "population";
            for at in &row.at {
                if at.target_fpr > 0.0 && (population || at.target_fpr == target) {
                    let words = if population { "TPR".into() } else { level_words(row) };
                    names.push(format!("{words} at FPR {}", percent(at.target_fpr)));
                    columns.push((level_words(row), at.target_fpr));
                }
            }
        }
        names.push("samples exposed".into());
        let mut table = TextTable::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[0]);
        for curve in &self.sample_level {
            let rows = || self.levels.iter().filter(|row| row.attack == curve.attack);
            let population = rows().find(|row| row.level == "population");
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| significant(value, 4));
            let mut cells = vec![
                curve.attack.clone(),
                number(population.map(|row| row.auc)),
                number(population.map(|row| row.balanced_accuracy)),
            ];
            for (level, target) in &columns {
                let row = rows().find(|row| level_words(row) == *level);
                let at = row.and_then(|row| row.at.iter().find(|at| at.target_fpr == *target));
                cells.push(at.map_or_else(String::new, |at| {
                    let [lower, upper] = [at.tpr_lower.0, at.tpr_upper.0].map(percent);
                    format!("{} [{}, {}]", percent(at.tpr), lower.trim_end_matches(" %"), upper.trim_end_matches(" %"))
                }));
            }
            let exposed = curve.samples.iter().filter(|sample| sample.tpr_lower.0 > sample.fpr_upper.0).count();
            cells.push(format!("{exposed} of {}", curve.samples.len()));
            table.row(cells);
        }
        table
    }
}
