//! The table of the experiment, attack by level, and what is behind it.

use super::{Found, percent};
use crate::experiment::Report;
use leakbound::bound::Interval;
use leakbound::membership::{Level, LevelMetrics, MembershipMetrics};

/// The places of FPR 0.1 % and 1 % in the plan.
pub const SMALL: usize = 1;
pub const LARGER: usize = 2;

pub fn level(metrics: &MembershipMetrics, wanted: impl Fn(Level) -> bool) -> Option<&LevelMetrics> {
    metrics.levels.iter().find(|level| wanted(level.level))
}

pub fn population(metrics: &MembershipMetrics) -> Option<&LevelMetrics> {
    level(metrics, |level| level == Level::Population)
}

/// Samples whose TPR is above their FPR whatever the luck, all at once.
pub fn exposed(metrics: &MembershipMetrics) -> usize {
    metrics.samples.ranked.iter().filter(|sample| sample.tpr_lower > sample.fpr_upper).count()
}

/// A share in percent with its limits, three digits.
fn banded(share: f64, limits: Interval) -> String {
    let [share, lower, upper] = [share, limits.lower, limits.upper].map(|share| {
        let places = if share >= 0.0995 { 1 } else { 2 };
        format!("{:.places$}", 100.0 * share)
    });
    format!("{share} [{lower}, {upper}]")
}

/// Attack by level.
pub fn levels<'a>(report: &mut Report, kind: &str, found: impl Iterator<Item = &'a Found>) {
    let mut rows = vec![
        ["attack", "AUC", "balanced", "0.1 %", "1 %", "top 10, 0.1 %", "1 %", "most vulnerable", "exposed"]
            .map(String::from),
    ];
    for Found { attack, metrics, .. } in found {
        let Some(all) = population(metrics) else { continue };
        let selected = |level: Option<&LevelMetrics>, place: usize| {
            level.and_then(|level| level.at.get(place)).map_or_else(String::new, |at| percent(at.tpr_estimate()))
        };
        let curve = |place: usize| all.at.get(place).map_or_else(String::new, |at| banded(at.tpr_estimate(), at.curve));
        let top = level(metrics, |level| matches!(level, Level::Top(_)));
        let worst = level(metrics, |level| level == Level::MostVulnerable);
        rows.push([
            (*attack).into(),
            format!("{:.4}", all.auc),
            format!("{:.4}", all.best.balanced_accuracy),
            curve(SMALL),
            curve(LARGER),
            selected(top, SMALL),
            selected(top, LARGER),
            selected(worst, SMALL),
            exposed(metrics).to_string(),
        ]);
    }
    if rows.len() > 1 {
        report.line(format!(
            "{kind}: TPR in % at FPR 0.1 % and 1 %, population with limits of the ROC, samples that the same \
             guesses selected without limits; exposed: samples of 500 beyond doubt"
        ));
        aligned(report, &rows);
    }
}

/// Every class on its own, the ends only.
pub fn classes<'a>(report: &mut Report, kind: &str, found: impl Iterator<Item = &'a Found>) {
    let mut rows =
        vec![["attack", "lowest AUC", "highest AUC", "lowest TPR at 0.1 %", "highest TPR at 0.1 %"].map(String::from)];
    for Found { attack, metrics, .. } in found {
        let classes = || {
            metrics.levels.iter().filter_map(|level| match level.level {
                Level::Class(label) => Some((label, level)),
                _ => None,
            })
        };
        let auc = classes().map(|(label, level)| (level.auc, format!("{:.4} (class {label})", level.auc)));
        let tpr = classes().filter_map(|(label, level)| {
            let at = level.at.get(SMALL)?;
            Some((at.tpr_estimate(), format!("{} (class {label})", banded(at.tpr_estimate(), at.tpr))))
        });
        let (auc, tpr) = (ends(auc), ends(tpr));
        let [low, high] = auc;
        let [less, more] = tpr;
        rows.push([(*attack).into(), low, high, less, more]);
    }
    if rows.len() > 1 {
        report.line(format!("{kind}: the classes on their own; limits of the rule"));
        aligned(report, &rows);
    }
}

/// The words beside the smallest and the largest number.
fn ends(numbers: impl Iterator<Item = (f64, String)>) -> [String; 2] {
    let mut sorted: Vec<(f64, String)> = numbers.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let word = |entry: Option<&(f64, String)>| entry.map_or_else(String::new, |entry| entry.1.clone());
    [word(sorted.first()), word(sorted.last())]
}

/// Columns of equal width, the first one of words.
fn aligned<const N: usize>(report: &mut Report, rows: &[[String; N]]) {
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            line += &if column == 0 { format!("  {cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        report.line(line);
    }
    report.line("");
}

/// Everything that is known of one attack but its classes.
pub fn details(report: &mut Report, found: &Found) {
    let Found { kind, attack, metrics } = found;
    report.line(format!("{kind}, {attack}"));
    for level in &metrics.levels {
        let name = match level.level {
            Level::Population => "population".into(),
            Level::Class(_) => continue,
            Level::Top(count) => format!("top {count}"),
            Level::MostVulnerable => "most vulnerable".into(),
        };
        let mut line = format!(
            "  {name:<16} AUC {:.4}, balanced accuracy {:.4}, TPR in % at FPR 0, 0.1, 1 %:",
            level.auc, level.best.balanced_accuracy
        );
        for (place, at) in level.at.iter().enumerate() {
            line += &format!(" {}", percent(at.tpr_estimate()));
            if !level.level.is_selected() {
                line += &format!(" [{}, {}]", percent(at.tpr.lower), percent(at.tpr.upper));
            }
            if level.level == Level::Population {
                line += &format!(" ROC [{}, {}]", percent(at.curve.lower), percent(at.curve.upper));
                if let Some(band) = metrics.bootstrap.as_ref().and_then(|bands| bands.tpr.get(place)) {
                    line += &format!(" victims [{}, {}]", percent(band.lower), percent(band.upper));
                }
            }
        }
        report.line(line);
    }
    let exposed = exposed(metrics);
    let worst = metrics.samples.ranked.first();
    let worst = worst.map_or_else(String::new, |worst| {
        format!(
            "worst sample {}: TPR at least {} % at FPR at most {} %; ",
            worst.sample,
            percent(worst.tpr_lower),
            percent(worst.fpr_upper)
        )
    });
    report.line(format!(
        "  all samples at once: {worst}{exposed} of {} exposed beyond doubt",
        metrics.samples.ranked.len()
    ));
    if let (Some(accuracy), Some(test)) = (metrics.accuracy, metrics.independence) {
        report.line(format!(
            "  canaries: accuracy inside {:.3}, outside {:.3}; rms correlation of samples {:.4} ({:.4} expected), p-value {:.3}; \
             diluted: {}",
            accuracy.members.successes() as f64 / accuracy.members.trials() as f64,
            accuracy.non_members.successes() as f64 / accuracy.non_members.trials() as f64,
            test.rms_correlation,
            test.rms_expected,
            test.p_value,
            metrics.dilution.map_or_else(|| "none".into(), |found| format!("sample {}", found.sample))
        ));
    }
    report.line("");
}
