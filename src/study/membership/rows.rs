//! The rows of a membership answer.

use crate::bound::Validity;
use crate::interval::BinomialCounts;
use crate::membership::{Level, LevelMetrics, MembershipMetrics, SampleMetrics};
use crate::roc::Roc;
use crate::study::number::Number;
use serde::Serialize;

/// TPR at one target FPR, by the rule that guesses "member" if score > `above`.
///
/// The rule is a function of the non-members alone, so the number of members above it is binomial, as the proof of the
/// limits of TPR and FPR requires. The lowest accused score would decide the recorded guesses in the same way, but
/// others differently: it may be a member's, and a rule chosen among members has no such limits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TprRow {
    /// The FPR that the rule does not exceed on the recorded guesses.
    pub target_fpr: f64,
    /// "Member" is guessed if score > above; absent: always. It is a score of a non-member.
    pub above: Option<Number>,
    /// Share of the recorded non-members that this rule accuses.
    pub fpr: f64,
    /// Share of the recorded members that this rule finds.
    pub tpr: f64,
    /// Lower limit of the TPR of the rule "score > above" on any members; absent for selected samples.
    pub tpr_lower: Option<Number>,
    /// Upper limit of the TPR of the rule "score > above" on any members; absent for selected samples.
    pub tpr_upper: Option<Number>,
    /// Upper limit of the FPR of the rule "score > above" on any non-members; it may exceed the target. Absent for
    /// selected samples.
    pub fpr_upper: Option<Number>,
    /// Lower limit of the ROC at the target; absent for selected samples.
    pub curve_lower: Option<Number>,
    /// Upper limit of the ROC at the target; absent for selected samples.
    pub curve_upper: Option<Number>,
    /// Lower end when victims are resampled (heuristic); population only.
    pub bootstrap_lower: Option<Number>,
    /// Upper end when victims are resampled (heuristic); population only.
    pub bootstrap_upper: Option<Number>,
    /// The failure probability of each pair of limits: that of the attack, or for a class its share.
    pub failure_probability: f64,
    /// What the limits guarantee: `heuristic`, because guesses about one victim share its training; finite-sample if
    /// guesses were independent.
    pub validity: Validity,
}

/// One attack at one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelRow {
    /// The attack.
    pub attack: String,
    /// `population`, `class`, `top` or `most-vulnerable`.
    pub level: &'static str,
    /// The label of a class.
    pub label: Option<i64>,
    /// Samples pooled.
    pub samples: usize,
    /// Whether the samples were selected by these guesses; if so, their figures are optimistic and have no limits.
    pub chosen_on_data: bool,
    /// Guesses about members.
    pub members: u64,
    /// Guesses about non-members.
    pub non_members: u64,
    /// Area under the ROC.
    pub auc: f64,
    /// Ends of the AUC when victims are resampled (heuristic); population only.
    pub auc_bootstrap: Option<[f64; 2]>,
    /// Largest (TPR + TNR)/2; its threshold was chosen by these guesses.
    pub balanced_accuracy: f64,
    /// Its threshold, "member" if score ≥ threshold; absent: never guessing "member" is best. It has no limits.
    pub best_threshold: Option<Number>,
    /// Largest TPR - FPR.
    pub advantage: f64,
    /// TPR at each target FPR.
    pub at: Vec<TprRow>,
}

impl LevelRow {
    pub(super) fn new(attack: &str, level: &LevelMetrics, metrics: &MembershipMetrics) -> Self {
        let bootstrap = metrics.bootstrap.as_ref().filter(|_| level.level == Level::Population);
        let (name, label) = match level.level {
            Level::Population => ("population", None),
            Level::Class(label) => ("class", Some(label)),
            Level::Top(_) => ("top", None),
            Level::MostVulnerable => ("most-vulnerable", None),
        };
        let selected = level.level.is_selected();
        let at = level.at.iter().enumerate().map(|(place, at)| {
            let resampled = bootstrap.and_then(|bands| bands.tpr.get(place));
            let limit = |value: f64| (!selected).then_some(Number(value));
            TprRow {
                target_fpr: at.target.get(),
                above: at.above.map(Number),
                fpr: at.fpr_estimate(),
                tpr: at.tpr_estimate(),
                tpr_lower: limit(at.tpr.lower),
                tpr_upper: limit(at.tpr.upper),
                fpr_upper: limit(at.fpr_upper),
                curve_lower: limit(at.curve.lower),
                curve_upper: limit(at.curve.upper),
                bootstrap_lower: resampled.map(|interval| Number(interval.lower)),
                bootstrap_upper: resampled.map(|interval| Number(interval.upper)),
                failure_probability: at.tpr.failure_probability.get(),
                validity: Validity::Heuristic,
            }
        });
        Self {
            attack: attack.to_owned(),
            level: name,
            label,
            samples: level.samples,
            chosen_on_data: selected,
            members: level.members,
            non_members: level.non_members,
            auc: level.auc,
            auc_bootstrap: bootstrap.map(|bands| [bands.auc.lower, bands.auc.upper]),
            balanced_accuracy: level.best.balanced_accuracy,
            best_threshold: level.best.point.threshold.map(Number),
            advantage: level.best.advantage,
            at: at.collect(),
        }
    }
}

/// A point of a ROC.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RocSample {
    /// "Member" is guessed if score ≥ threshold; absent: never.
    pub threshold: Option<Number>,
    /// False-positive rate.
    pub fpr: f64,
    /// True-positive rate.
    pub tpr: f64,
}

/// Limits of the ROC at one FPR, each alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RocLimit {
    /// False-positive rate.
    pub fpr: f64,
    /// Lower limit of the TPR.
    pub tpr_lower: f64,
    /// Upper limit of the TPR.
    pub tpr_upper: f64,
}

/// The ROC of the population under one attack.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RocCurve {
    /// The attack.
    pub attack: String,
    /// Points from the origin; at most 400 of them.
    pub points: Vec<RocSample>,
    /// Limits, finite-sample if guesses are independent.
    pub limits: Vec<RocLimit>,
}

/// Points of a ROC that are kept.
const POINTS: usize = 400;

impl RocCurve {
    /// The points of a ROC for a figure, without limits.
    pub(in crate::study) fn of(attack: &str, roc: &Roc) -> Self {
        let points = roc.thinned(POINTS).into_iter().map(|point| RocSample {
            threshold: point.threshold.map(Number),
            fpr: roc.fpr(point),
            tpr: roc.tpr(point),
        });
        Self { attack: attack.to_owned(), points: points.collect(), limits: Vec::new() }
    }

    pub(super) fn new(attack: &str, metrics: &MembershipMetrics) -> Self {
        let limits = metrics.band.iter().map(|(fpr, interval)| RocLimit {
            fpr: fpr.get(),
            tpr_lower: interval.lower,
            tpr_upper: interval.upper,
        });
        Self { limits: limits.collect(), ..Self::of(attack, &metrics.roc) }
    }
}

/// A single sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleRow {
    /// Its place, from 0.
    pub sample: usize,
    /// Share of the victims trained on it that are found.
    pub tpr: f64,
    /// Area under its ROC.
    pub auc: f64,
    /// Lower limit of its TPR; the limits of all samples hold simultaneously.
    pub tpr_lower: Number,
    /// Upper limit of its FPR; the limits of all samples hold simultaneously.
    pub fpr_upper: Number,
}

/// Every single sample under one attack, the most vulnerable first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleCurve {
    /// The attack.
    pub attack: String,
    /// The FPR that the rule of each sample does not exceed.
    pub target_fpr: f64,
    /// The population's TPR at the same FPR.
    pub population_tpr: f64,
    /// The probability that any of the limits is wrong.
    pub failure_probability: f64,
    /// The samples.
    pub samples: Vec<SampleRow>,
}

impl SampleCurve {
    pub(super) fn new(attack: &str, metrics: &MembershipMetrics) -> Self {
        let level = &metrics.samples;
        let sample = |one: &SampleMetrics| SampleRow {
            sample: one.sample,
            tpr: one.tpr(),
            auc: one.auc,
            tpr_lower: Number(one.tpr_lower),
            fpr_upper: Number(one.fpr_upper),
        };
        Self {
            attack: attack.to_owned(),
            target_fpr: level.target.get(),
            population_tpr: metrics.roc.tpr(metrics.roc.at_fpr(level.target)),
            failure_probability: level.failure.get(),
            samples: level.ranked.iter().map(sample).collect(),
        }
    }
}

/// Whether samples are fit to measure with.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanaryRow {
    /// The attack.
    pub attack: String,
    /// Victims.
    pub victims: usize,
    /// Samples with both members and non-members.
    pub samples: usize,
    /// Samples that are members for every victim, or for none.
    pub without_both: usize,
    /// Accuracy of the victims on members, if known.
    pub accuracy: Option<f64>,
    /// Accuracy of the victims on non-members, if known.
    pub accuracy_outside: Option<f64>,
    /// Mean correlation of two samples' scores over the victims.
    pub mean_correlation: Option<f64>,
    /// Root mean squared correlation.
    pub rms_correlation: Option<f64>,
    /// Root mean squared correlation expected under independence.
    pub rms_expected: Option<f64>,
    /// p-value of independence.
    pub p_value: Option<f64>,
    /// A sample that the population hides.
    pub diluted_sample: Option<usize>,
}

impl CanaryRow {
    pub(super) fn new(attack: &str, metrics: &MembershipMetrics) -> Self {
        let share = |right: &BinomialCounts| right.successes() as f64 / right.trials() as f64;
        let test = metrics.independence;
        Self {
            attack: attack.to_owned(),
            victims: metrics.victims,
            samples: metrics.samples.ranked.len(),
            without_both: metrics.samples.without_both,
            accuracy: metrics.accuracy.map(|accuracy| share(&accuracy.members)),
            accuracy_outside: metrics.accuracy.map(|accuracy| share(&accuracy.non_members)),
            mean_correlation: test.map(|test| test.mean_correlation),
            rms_correlation: test.map(|test| test.rms_correlation),
            rms_expected: test.map(|test| test.rms_expected),
            p_value: test.map(|test| test.p_value),
            diluted_sample: metrics.dilution.map(|found| found.sample),
        }
    }
}
