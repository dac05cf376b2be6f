//! Several attacks side by side, a row for each.

use crate::report::section::{Columns, Table};
use crate::report::words;
use crate::study::{LevelRow, MembershipAnswer, SampleCurve, TprRow, percent};
use easy_ext::ext;

/// The level for a reader.
pub(super) fn level_words(row: &LevelRow) -> String {
    match (row.level, row.label) {
        ("class", Some(label)) => format!("class {label}"),
        ("top", _) => format!("top {} samples", row.samples),
        ("most-vulnerable", _) => "most vulnerable sample".into(),
        (level, _) => level.to_owned(),
    }
}

/// A TPR with the limits of the rule that was found, if it has any, all in percent.
pub(super) fn with_limits(at: &TprRow) -> String {
    let limits = at.tpr_lower.zip(at.tpr_upper);
    limits.map_or_else(|| percent(at.tpr), |(lower, upper)| words::with_limits(at.tpr, [lower.0, upper.0]))
}

#[ext(MembershipAnswerText)]
impl MembershipAnswer {
    /// Whether there is something to compare.
    pub(crate) fn is_comparison(&self) -> bool {
        self.roc.len() > 1
    }

    /// The attack that finds most of the population at the FPR by which samples are ranked; the first of several.
    pub(crate) fn best_attack(&self) -> Option<&str> {
        let best = self.sample_level.iter().reduce(
            |best, next| {
                if next.population_tpr > best.population_tpr { next } else { best }
            },
        );
        best.map(|curve| curve.attack.as_str())
    }

    /// A row for each attack: the population at every FPR above 0, chosen samples at the one by which they are ranked,
    /// and how many samples are exposed beyond doubt.
    pub(crate) fn comparison_table(&self) -> Columns<&SampleCurve> {
        let target = self.sample_level.first().map_or(0.0, |curve| curve.target_fpr);
        let first = self.sample_level.first().map_or("", |curve| curve.attack.as_str());
        // What each level is shown at, in the order of the first attack's rows.
        let rows = self.levels.iter().filter(|row| row.attack == first && row.level != "class");
        let shown = rows.flat_map(|row| row.at.iter().map(move |at| (row, at.target_fpr)));
        let shown = shown.filter(|(row, fpr)| *fpr > 0.0 && (row.level == "population" || *fpr == target));
        let level = |curve: &SampleCurve, words: &str| {
            self.levels.iter().find(|row| row.attack == curve.attack && level_words(row) == words)
        };
        let exposed = |curve: &SampleCurve| {
            let exposed = curve.samples.iter().filter(|sample| sample.tpr_lower.0 > sample.fpr_upper.0).count();
            format!("{exposed} of {}", curve.samples.len())
        };
        Table::of(&self.sample_level)
            .words("attack", |curve| &curve.attack)
            .number("AUC", 4, |curve| level(curve, "population").map(|row| row.auc))
            .number("balanced accuracy", 4, |curve| level(curve, "population").map(|row| row.balanced_accuracy))
            .each(shown, |table, (row, fpr)| {
                let words = level_words(row);
                let short = if row.level == "population" { "TPR" } else { &words };
                table.exact(format!("{short} at FPR {}", percent(fpr)), |curve| {
                    let at = level(curve, &words).and_then(|row| row.at.iter().find(|at| at.target_fpr == fpr));
                    at.map_or_else(String::new, with_limits)
                })
            })
            .exact("samples exposed", |curve| exposed(curve))
    }
}
