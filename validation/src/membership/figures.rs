//! Figures of the experiment.

use super::Found;
use crate::experiment::Report;
use leakbound::report::{Axis, Curves, Series, SeriesKind};

/// ROC and sample level of one threshold for all and of the attack made for few models.
pub fn figures(report: &mut Report, found: &[Found]) {
    let shown = found.iter().filter(|found| matches!(found.attack, "threshold" | "lira, pooled variance"));
    let series = shown.clone().map(|Found { kind, attack, metrics }| {
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
    let series = shown.map(|Found { kind, attack, metrics }| {
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
