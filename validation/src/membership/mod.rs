//! Attack by level by kind of canary on recorded shadow models: what Aerni, Zhang and Tramèr (2024) find, with bands.

mod shadow;

use crate::experiment::{Report, data_folder};
use leakbound::report::{Axis, Curves, Series, SeriesKind};
use leakbound::{
    AttackScores, Level, LevelMetrics, LiraPlan, LiraVariance, MembershipMetrics, MembershipPlan, MemoryScores, Result,
    lira, membership_metrics,
};
use shadow::{Shadows, plain_lira, threshold};
use std::path::{Path, PathBuf};

/// Kinds of canary: name, file, and the view that is the image itself.
const KINDS: [(&str, &str, usize); 2] =
    [("mislabelled", "fashion_lira_mislabelled.npz", 4), ("original", "fashion_lira_original.npz", 0)];
/// The place of FPR 0.1 % in the plan.
const SMALL: usize = 1;

/// Prints the table and draws the figures.
#[must_use]
pub fn report() -> Report {
    let plan = MembershipPlan::default();
    let mut report = Report::new(format!(
        "64 networks on Fashion-MNIST, each trained on 4,000 fixed images and a random half of 500 audit images, either \
         with their own labels or mislabelled at random; every model the victim of the 63 others. In brackets limits at \
         failure probability {}: of the rule that was found; of the ROC of the law at this FPR; percentiles over {} \
         resampled victims, seed {} (heuristic)",
        plan.failure,
        plan.resamples.unwrap_or(0),
        plan.seed
    ));
    if let Err(error) = tables(&mut report, &plan) {
        report.claim(false, error.to_string());
    }
    report
}

/// The file here or in the folder of recordings.
fn place(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    if here.exists() { here } else { data_folder().join(name) }
}

fn tables(report: &mut Report, plan: &MembershipPlan) -> Result<()> {
    let mut found: Vec<(&str, &str, MembershipMetrics)> = Vec::new();
    for (kind, file, view) in KINDS {
        let path = place(file);
        if !path.is_file() {
            report.line(format!("{kind}: {file} is not here; --data FOLDER says where it is"));
            continue;
        }
        let shadows = Shadows::read(&path)?;
        let (scores, correct) = (shadows.logit_scores(), shadows.correct(view));
        let views: Vec<usize> = (0..scores.dim().2).collect();
        let attack = |views: &[usize], variance: LiraVariance| -> Result<AttackScores> {
            let source = MemoryScores::double(scores.select(ndarray::Axis(2), views), shadows.keep.clone())?;
            Ok(lira(&source, &LiraPlan { variance, ..LiraPlan::default() })?.scores)
        };
        let mut attacks: Vec<(&str, AttackScores)> = vec![
            ("threshold", threshold(&scores, &shadows.keep, view)?),
            ("lira", attack(&[view], LiraVariance::PerSample)?),
            ("lira, pooled variance", attack(&[view], LiraVariance::Pooled)?),
        ];
        agrees(report, kind, &attacks[1].1, &plain_lira(&scores, &shadows.keep, &[view])?);
        if views.len() > 1 {
            attacks.push(("lira, pooled, 18 views", attack(&views, LiraVariance::Pooled)?));
        }
        for (attack, guesses) in attacks {
            let metrics = membership_metrics(&guesses, None, Some(correct.view()), plan)?;
            lines(report, kind, attack, &metrics);
            found.push((kind, attack, metrics));
        }
    }
    claims(report, &found);
    figures(report, &found);
    Ok(())
}

/// The library's LiRA is the formula written out.
fn agrees(report: &mut Report, kind: &str, guesses: &AttackScores, plain: &AttackScores) {
    let pairs = || guesses.scores().into_iter().zip(plain.scores()).map(|(a, b)| (*a, *b)).collect::<Vec<_>>();
    let worst = pairs().into_iter().map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
    report.claim(worst < 1e-9, format!("{kind}: LiRA as its formula reads, relative difference {worst:.1e}"));
}

fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

fn lines(report: &mut Report, kind: &str, attack: &str, metrics: &MembershipMetrics) {
    report.line(format!("{kind}, {attack}"));
    for level in &metrics.levels {
        let name = match level.level {
            Level::Population => "population".into(),
            Level::Class(label) => format!("class {label}"),
            Level::Top(count) => format!("top {count}"),
            Level::MostVulnerable => "most vulnerable".into(),
        };
        let mut line = format!(
            "  {name:<16} AUC {:.4}, balanced accuracy {:.4}, TPR in % at FPR 0, 0.1, 1 %:",
            level.auc, level.best.balanced_accuracy
        );
        for (place, at) in level.at.iter().enumerate() {
            line += &format!(" {} [{}, {}]", percent(at.tpr_estimate()), percent(at.tpr.lower), percent(at.tpr.upper));
            if level.level == Level::Population {
                line += &format!(" ROC [{}, {}]", percent(at.curve.lower), percent(at.curve.upper));
                if let Some(band) = metrics.bootstrap.as_ref().and_then(|bands| bands.tpr.get(place)) {
                    line += &format!(" victims [{}, {}]", percent(band.lower), percent(band.upper));
                }
            }
        }
        report.line(line);
    }
    let exposed = metrics.samples.ranked.iter().filter(|sample| sample.tpr_lower > sample.fpr_upper).count();
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

fn population(metrics: &MembershipMetrics) -> Option<&LevelMetrics> {
    metrics.levels.iter().find(|level| level.level == Level::Population)
}

/// The finding: canaries that imitate the most vulnerable samples show what the population hides.
fn claims(report: &mut Report, found: &[(&str, &str, MembershipMetrics)]) {
    let of = |kind: &str, attack: &str| {
        let row = found.iter().find(|row| row.0 == kind && row.1 == attack);
        row.and_then(|row| population(&row.2)).and_then(|level| level.at.get(SMALL))
    };
    for attack in ["lira", "lira, pooled variance"] {
        let (Some(canaries), Some(original)) = (of("mislabelled", attack), of("original", attack)) else { continue };
        report.claim(
            canaries.curve.lower > original.curve.upper,
            format!(
                "{attack}: TPR at FPR 0.1 % against mislabelled canaries is {:.1} times that against the population \
                 ({} % and {} %), and the limits of their ROCs are apart ({} above {})",
                canaries.tpr_estimate() / original.tpr_estimate(),
                percent(canaries.tpr_estimate()),
                percent(original.tpr_estimate()),
                percent(canaries.curve.lower),
                percent(original.curve.upper)
            ),
        );
    }
    let adapted = [of("mislabelled", "threshold"), of("mislabelled", "lira, pooled variance")];
    if let [Some(plain), Some(lira)] = adapted {
        report.claim(
            lira.curve.lower > plain.curve.upper,
            format!(
                "against mislabelled canaries the same score with one threshold for all finds {} %, LiRA {} %",
                percent(plain.tpr_estimate()),
                percent(lira.tpr_estimate())
            ),
        );
    }
    for (kind, attack, metrics) in found.iter().filter(|row| row.1 != "threshold") {
        let all = population(metrics).and_then(|level| level.at.get(SMALL)).map_or(f64::NAN, |at| at.tpr_estimate());
        let worst = metrics.samples.ranked.first();
        report.claim(
            worst.is_some_and(|worst| worst.tpr() > all),
            format!(
                "{kind}, {attack}: the most vulnerable sample has a TPR of {} %, the population of {} %",
                worst.map_or_else(String::new, |worst| percent(worst.tpr())),
                percent(all)
            ),
        );
    }
}

fn figures(report: &mut Report, found: &[(&str, &str, MembershipMetrics)]) {
    let shown = found.iter().filter(|row| row.1 == "threshold" || row.1 == "lira, pooled variance");
    let series = shown.clone().map(|(kind, attack, metrics)| {
        let roc = &metrics.roc;
        let points = roc.thinned(400).into_iter().skip(1).map(|point| [roc.fpr(point), roc.tpr(point)]).collect();
        let band = metrics.band.iter().map(|(fpr, limits)| [fpr.get(), limits.lower, limits.upper]).collect();
        Series::new(format!("{kind}, {attack}"), SeriesKind::Measured, points).with_band(band)
    });
    let curves = Curves {
        title: "ROC of membership inference on Fashion-MNIST shadow models".into(),
        description:
            "True-positive rate against false-positive rate over all guesses, with finite-sample limits of the ROC \
                      for independent guesses."
                .into(),
        x: Axis::log("false-positive rate"),
        y: Axis::log("true-positive rate"),
        series: series.collect(),
    };
    report.figure("membership-roc".into(), curves.draw().svg());
    let series = shown.map(|(kind, attack, metrics)| {
        let samples = metrics.samples.ranked.iter().enumerate();
        let points = samples.clone().map(|(rank, sample)| [rank as f64 + 1.0, sample.tpr()]).collect();
        let band = samples.map(|(rank, sample)| [rank as f64 + 1.0, sample.tpr_lower, sample.tpr()]).collect();
        Series::new(format!("{kind}, {attack}"), SeriesKind::Measured, points).with_band(band)
    });
    let curves = Curves {
        title: "TPR at FPR 0.1 % of every sample on its own, after figure 2 of Aerni et al. (2024)".into(),
        description:
            "Samples by falling TPR over 32 victims on each side, shaded down to the lower limit for all samples at \
                      once."
                .into(),
        x: Axis::log("rank of the sample"),
        y: Axis::linear("true-positive rate"),
        series: series.collect(),
    };
    report.figure("membership-samples".into(), curves.draw().svg());
}
