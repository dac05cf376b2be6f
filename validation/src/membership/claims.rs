//! The finding of Aerni, Zhang and Tramèr (2024), attack by attack: canaries that imitate the most vulnerable samples
//! show what the population hides, and so does looking at single samples.

use super::tables::{LARGER, SMALL, population};
use super::{Found, percent};
use crate::experiment::Report;
use leakbound::membership::{LevelMetrics, TprAtFpr};

/// Attacks with one rule for all samples, which do not know how hard a sample is.
const PLAIN: [&str; 6] = [
    "threshold",
    "threshold, top confidence",
    "threshold, entropy",
    "threshold, modified entropy",
    "trained attacker",
    "privacy-risk score",
];

/// Attacks that are too weak, or too unsteady, at FPR 0.1 %, and show the finding at 1 %.
const AT_ONE_PERCENT: [&str; 4] =
    ["threshold", "threshold, modified entropy", "trained attacker", "lira of carlini-2022, offline"];

/// Attacks that do not look at the label: a mislabeled image makes the models that know it less sure.
const WITHOUT_LABEL: [&str; 2] = ["threshold, top confidence", "threshold, entropy"];

/// All of it.
pub fn claims(report: &mut Report, found: &[Found]) {
    canaries_show_more(report, found);
    labels_are_needed(report, found);
    samples_are_known_apart(report, found);
    single_samples_show_more(report, found);
    report.line("");
}

/// Mislabeled canaries against the population, both with limits of their ROC.
fn canaries_show_more(report: &mut Report, found: &[Found]) {
    let both =
        |attack: &str, place| Some((at(found, "mislabeled", attack, place)?, at(found, "original", attack, place)?));
    for attack in names(found, "original").filter(|attack| !WITHOUT_LABEL.contains(attack)) {
        let late = AT_ONE_PERCENT.contains(&attack);
        let Some((canaries, all)) = both(attack, if late { LARGER } else { SMALL }) else { continue };
        let line = format!(
            "{attack}: TPR at FPR {} % against mislabeled canaries is {:.1} times that against the population \
                 ({} % and {} %), and the limits of their ROCs are apart ({} above {})",
            if late { "1" } else { "0.1" },
            canaries.tpr_estimate() / all.tpr_estimate(),
            percent(canaries.tpr_estimate()),
            percent(all.tpr_estimate()),
            percent(canaries.curve.lower),
            percent(all.curve.upper)
        );
        report.claim(canaries.curve.lower > all.curve.upper, line);
    }
}

/// Where the label is not looked at, members among mislabeled samples look less like members than others do.
fn labels_are_needed(report: &mut Report, found: &[Found]) {
    for attack in WITHOUT_LABEL {
        let (Some(canaries), Some(all)) = (metrics(found, "mislabeled", attack), metrics(found, "original", attack))
        else {
            continue;
        };
        let band = |found: &Found| found.metrics.bootstrap.as_ref().map(|bands| bands.auc);
        let (Some(low), Some(high)) = (band(canaries), band(all)) else { continue };
        let auc = |found: &Found| population(&found.metrics).map_or(f64::NAN, |level: &LevelMetrics| level.auc);
        let line = format!(
            "{attack}, without the label, turns round: AUC {:.4} [{:.4}, {:.4}] against mislabeled canaries, {:.4} \
                 [{:.4}, {:.4}] against the population (over victims)",
            auc(canaries),
            low.lower,
            low.upper,
            auc(all),
            high.lower,
            high.upper
        );
        report.claim(low.upper < 0.5 && 0.5 < high.lower, line);
    }
}

/// The adapted attack against those with one rule for all samples.
fn samples_are_known_apart(report: &mut Report, found: &[Found]) {
    for attack in PLAIN {
        let adapted = ["lira", "lira, pooled variance"].map(|lira| at(found, "mislabeled", lira, SMALL));
        let (Some(plain), [Some(lira), Some(pooled)]) = (at(found, "mislabeled", attack, SMALL), adapted) else {
            continue;
        };
        let line = format!(
            "against mislabeled canaries {attack}, one rule for all, finds {} % at FPR 0.1 %, LiRA {} %, with pooled \
                 variance {} %",
            percent(plain.tpr_estimate()),
            percent(lira.tpr_estimate()),
            percent(pooled.tpr_estimate())
        );
        report.claim(lira.curve.lower.min(pooled.curve.lower) > plain.curve.upper, line);
    }
}

/// The most vulnerable sample against the population: as found, and beyond doubt.
fn single_samples_show_more(report: &mut Report, found: &[Found]) {
    for Found { kind, attack, metrics } in found {
        let all = population(metrics).and_then(|level| level.at.get(SMALL)).map_or(f64::NAN, |at| at.tpr_estimate());
        let worst = metrics.samples.ranked.first();
        let line = format!(
            "{kind}, {attack}: the most vulnerable sample has a TPR of {} %, the population of {} %",
            worst.map_or_else(String::new, |worst| percent(worst.tpr())),
            percent(all)
        );
        report.claim(worst.is_some_and(|worst| worst.tpr() > all), line);
    }
    for Found { attack, metrics, .. } in found.iter().filter(|found| found.kind == "original") {
        let words = metrics.dilution.map_or_else(String::new, |hidden| {
            format!(
                "sample {} has a TPR of at least {} % at an FPR of at most {} %, where the population has at most {} %",
                hidden.sample,
                percent(hidden.tpr_lower),
                percent(hidden.fpr_upper),
                percent(hidden.population_tpr_upper)
            )
        });
        report.claim(metrics.dilution.is_some(), format!("original, {attack}, for all samples at once: {words}"));
    }
}

fn names<'a>(found: &'a [Found], kind: &'a str) -> impl Iterator<Item = &'static str> + 'a {
    found.iter().filter(move |found| found.kind == kind).map(|found| found.attack)
}

fn metrics<'a>(found: &'a [Found], kind: &str, attack: &str) -> Option<&'a Found> {
    found.iter().find(|found| found.kind == kind && found.attack == attack)
}

/// An attack on the population at one of the FPRs.
fn at<'a>(found: &'a [Found], kind: &str, attack: &str, place: usize) -> Option<&'a TprAtFpr> {
    population(&metrics(found, kind, attack)?.metrics)?.at.get(place)
}
