//! The figures of `leakbound membership`, and what its numbers mean.

use crate::report::membership::comparison::MembershipAnswerText;
use crate::report::{Axis, Curves, Drawing, Series, SeriesKind, meaning};
use crate::study::{MembershipAnswer, RocCurve, SampleCurve, ScoreHistogram, percent, short};
use easy_ext::ext;

/// Histograms that are drawn.
const SHOWN_HISTOGRAMS: usize = 6;
/// Curves that are drawn with their limits; of more, shades over shades would hide the curves.
const WITH_LIMITS: usize = 2;

#[ext(MembershipAnswerFigures)]
impl MembershipAnswer {
    pub(crate) fn drawings(&self) -> Vec<Drawing> {
        let best = self.best_attack().filter(|_| self.is_comparison());
        let histograms = self.score_histograms.iter().filter(|shown| best.is_none_or(|best| shown.attack == best));
        let figures = [self.roc_figure(), self.samples_figure()].into_iter().flatten();
        figures.chain(histograms.take(SHOWN_HISTOGRAMS).map(histogram)).collect()
    }

    pub(crate) fn roc_figure(&self) -> Option<Drawing> {
        let limits = self.roc.len() <= WITH_LIMITS;
        let series = self.roc.iter().map(|curve| roc_series(curve, limits)).collect::<Vec<_>>();
        let shaded = match limits {
            true => {
                "; shaded: finite-sample limits of the ROC at each false-positive rate, if guesses are independent."
            }
            false => ". Limits are in the table of bands.",
        };
        let figure = Curves {
            title: "ROC of the population on logarithmic axes".into(),
            description: format!("True-positive rate against false-positive rate over all guesses{shaded}"),
            x: Axis::log("false-positive rate"),
            y: Axis::log("true-positive rate"),
            series: [series, vec![chance(self.roc.iter())]].concat(),
        };
        (!self.roc.is_empty()).then(|| figure.draw())
    }

    pub(crate) fn samples_figure(&self) -> Option<Drawing> {
        let curves = || self.sample_level.iter().filter(|curve| curve.samples.len() > 1);
        let target = curves().next()?.target_fpr;
        let limits = curves().count() <= WITH_LIMITS;
        let shaded = match limits {
            true => {
                "; shaded down to the simultaneous lower limit for all samples. Flat lines: the whole population at \
                 the same FPR."
            }
            false => ". The population at the same FPR, and limits, are in the tables.",
        };
        let figure = Curves {
            title: format!("TPR at FPR {} of every sample on its own, the most vulnerable first", percent(target)),
            description: format!("Each sample attacked under every victim at its own threshold{shaded}"),
            x: Axis::log("rank of the sample"),
            y: Axis::linear("true-positive rate"),
            series: curves().flat_map(|curve| sample_series(curve, limits)).collect(),
        };
        Some(figure.draw())
    }

    pub(crate) fn explanation(&self) -> Vec<String> {
        let failure = self.failure_probability;
        let picked = match self.shared {
            true => {
                "All attacks share the failure probability of the limits, so that they hold for the attack that looks best."
            }
            false => "Limits of several attacks hold for each alone, and not for the one that looks best.",
        };
        let odds = format!("{} ({})", short(failure), meaning::one_in(failure));
        vec![
            format!(
                "TPR is the share of members that the attack finds, FPR the share of non-members that it accuses. The \
                 rule guesses member where score > above; `above` is the score of a non-member, the lowest with which \
                 no larger share of the given non-members is accused than the target. The limits in brackets are of \
                 the TPR of this rule, except with probability {odds}: it comes from the non-members alone, so that \
                 the members count as new. The FPR of the rule may be above the target; its own limit is next to it."
            ),
            "The limits of the ROC are of the TPR that the best threshold with this true FPR would have. At an FPR of 0, or \
             with few non-members, the lower one is 0: so small an FPR cannot be certified."
                .into(),
            "Both count guesses as independent. Guesses about one victim share its training; the band over victims \
             resamples whole victims and shows by how much that widens the picture. It has no finite-sample guarantee."
                .into(),
            "The population level shows what share of the samples is exposed. It can be made small by adding safe \
             samples, while one sample stays fully exposed. The sample level attacks every sample on its own, over the \
             victims. The largest of many is large by luck alone; the simultaneous limits for all samples account for \
             that."
                .into(),
            format!(
                "The best threshold, the top samples and the most vulnerable one are selected by the same guesses: their \
                 rates are too high by the selection, and have no limits. So is the rate of the best of several attacks. \
                 {picked}"
            ),
            "What this does not show: an attack that fails is not a proof of privacy. A stronger attack, an attack \
             made for the defense, or better canaries may succeed."
                .into(),
        ]
    }
}

pub(super) fn roc_series(curve: &RocCurve, with_limits: bool) -> Series {
    let points = curve.points.iter().filter(|point| point.threshold.is_some()).map(|point| [point.fpr, point.tpr]);
    let limits = curve.limits.iter().map(|limit| [limit.fpr, limit.tpr_lower, limit.tpr_upper]);
    let series = Series::new(&curve.attack, SeriesKind::Measured, steps(last_of_each(points.collect())));
    if with_limits { series.with_band(limits.collect()) } else { series }
}

/// Of points with the same FPR the highest: a vertical piece would hide in the rail of zero.
fn last_of_each(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for point in points {
        match kept.last_mut() {
            Some(last) if last[0] == point[0] => last[1] = last[1].max(point[1]),
            _ => kept.push(point),
        }
    }
    kept
}

/// A threshold keeps its TPR until the FPR allows the next one: a straight line between the two, on logarithmic axes at
/// that, would show rates that no threshold has.
fn steps(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let corners = points.windows(2).flat_map(|pair| [[pair[1][0], pair[0][1]], pair[1]]);
    points.first().copied().into_iter().chain(corners).collect()
}

/// TPR = FPR over the range of the curves.
pub(super) fn chance<'a>(curves: impl Iterator<Item = &'a RocCurve>) -> Series {
    let rates = curves.flat_map(|curve| curve.points.iter().map(|point| point.fpr)).filter(|fpr| *fpr > 0.0);
    let least = rates.fold(1.0, f64::min);
    let points = if least < 1.0 { vec![[least, least], [1.0, 1.0]] } else { vec![[1.0, 1.0]] };
    Series::new("guessing", SeriesKind::Reference, points)
}

/// Ranks that are drawn: all of the first, then fewer.
const DRAWN: f64 = 300.0;

fn sample_series(curve: &SampleCurve, with_limits: bool) -> Vec<Series> {
    let last = curve.samples.len();
    let mut ranks: Vec<usize> = (1..=last.min(20)).collect();
    ranks.extend((0..=DRAWN as u32).map(|step| (last as f64).powf(f64::from(step) / DRAWN) as usize));
    ranks.push(last);
    ranks.sort_unstable();
    ranks.dedup();
    let drawn = || ranks.iter().filter_map(|rank| Some((*rank as f64, curve.samples.get(rank.checked_sub(1)?)?)));
    let points = drawn().map(|(rank, sample)| [rank, sample.tpr]).collect();
    let limits = drawn().map(|(rank, sample)| [rank, sample.tpr_lower.0, sample.tpr]).collect();
    let flat = vec![[1.0, curve.population_tpr], [last as f64, curve.population_tpr]];
    let series = Series::new(&curve.attack, SeriesKind::Measured, points);
    match with_limits {
        false => vec![series],
        true => vec![
            series.with_band(limits),
            Series::new(format!("{}, population", curve.attack), SeriesKind::Reference, flat),
        ],
    }
}

fn histogram(histogram: &ScoreHistogram) -> Drawing {
    let steps = |counts: &[u64], infinite: [u64; 2]| {
        let mut points: Vec<[f64; 2]> = Vec::new();
        let edges = |index: usize| histogram.edges.get(index).map_or(f64::NAN, |edge| edge.0);
        for (index, &count) in counts.iter().enumerate() {
            points.push([edges(index), count as f64]);
            points.push([edges(index + 1), count as f64]);
        }
        if infinite[1] > 0 {
            points.push([f64::INFINITY, infinite[1] as f64]);
        }
        points
    };
    let inside = steps(&histogram.members, histogram.infinite_members);
    let outside = steps(&histogram.non_members, histogram.infinite_non_members);
    let filled = |points: &[[f64; 2]]| points.iter().map(|point| [point[0], 0.0, point[1]]).collect();
    let low = histogram.infinite_members[0] + histogram.infinite_non_members[0];
    let rest = if low > 0 { format!(" {low} scores of minus infinity are not drawn.") } else { String::new() };
    Curves {
        title: format!("Scores of sample {} under {}", histogram.sample, histogram.attack),
        description: format!("Victims that were trained on the sample and others, by the score of the attack.{rest}"),
        x: Axis::linear("score, high means member"),
        y: Axis::linear("victims"),
        series: vec![
            Series::new("trained on it", SeriesKind::Measured, inside.clone()).with_band(filled(&inside)),
            Series::new("not trained on it", SeriesKind::Measured, outside.clone()).with_band(filled(&outside)),
        ],
    }
    .draw()
}
