//! Simultaneous limits of both rates at every threshold, however the threshold is chosen.

use super::scores::CanaryScores;
use crate::audit::rectangle::Rectangle;
use crate::error::Result;
use crate::interval::{BerkJones, BinomialCounts, ProportionLimit, clopper_pearson_lower};
use crate::quantity::FailureProbability;
use crate::roc::RocPoint;

/// The largest number of thresholds in the band: more prove hardly more.
const MOST_THRESHOLDS: usize = 4096;

/// Rectangles [TPR_l, 1] × [0, FPR_u] at thresholds among the scores, which hold simultaneously except with the failure
/// probability.
///
/// Thresholds are scores, so they depend on the data: a limit valid at one predetermined threshold is not valid at
/// them. These limits are valid:
///
/// **DKW.** S(t) ≥ K(t)/n - √(ln(1/f)/(2n)) at every t, for f ≤ 1/2 (Massart 1990): tight in the middle.
///
/// **Berk and Jones**, for up to 4096 scores: [`BerkJones`], whose level is that of the band as a whole: tight at the
/// ends.
///
/// **Bonferroni over counts**, for more scores. Let n scores have the survival function S(t) = P(X ≥ t), K(t) of them ≥
/// t, and let p_k be the Clopper-Pearson lower limit of k among n at level a. For a fixed k ≥ 1 the thresholds with
/// S(t) < p_k are a half line; on it K(t) ≥ k happens for some t only if it happens in the limit at the left end, where
/// K is binomial with success probability at most p_k: probability at most P(Bin(n, p_k) ≥ k) = a. The union over k =
/// 1..n fails with probability at most n a, for any distribution, including ties. So a = f/n, where n is the number of
/// canaries, not of distinct scores.
///
/// Half of the failure probability goes to each side of the data, and half of that to each of the two bands; the
/// tighter limit is used. The upper limit of the false positive rate is the mirror image: others below t instead of
/// members at or above it.
pub(super) fn uniform_rectangles(
    scores: &CanaryScores,
    failure: FailureProbability,
) -> Result<Vec<(RocPoint, Rectangle)>> {
    let each = failure.split(2);
    let band = |scores| move || UniformLower::new(scores, each);
    let (members, others) = rayon::join(band(scores.members()), band(scores.others()));
    let (members, others) = (members?, others?);
    let mut rectangles = Vec::new();
    let mut last: Option<(u64, ProportionLimit)> = None;
    for point in thinned(scores) {
        let [inside, inside_others] = scores.of_point(point)?;
        let p_low = members.limit(inside)?;
        // Neighboring thresholds often have the same false positives.
        let low_below = match last {
            Some((count, limit)) if count == point.false_positives => limit,
            _ => others.limit(inside_others.mirrored())?,
        };
        last = Some((point.false_positives, low_below));
        let (p, q) = ([p_low, ProportionLimit::ONE], [ProportionLimit::ZERO, low_below.mirrored()]);
        rectangles.push((point, Rectangle::from_limits(p, q, failure)));
    }
    Ok(rectangles)
}

/// All corners, or enough of them: every vertex of the hull, and others spread evenly. A band that holds for all
/// thresholds holds for some of them.
fn thinned(scores: &CanaryScores) -> Vec<RocPoint> {
    let corners = scores.corners();
    if corners.len() <= MOST_THRESHOLDS {
        return corners;
    }
    let step = corners.len().div_ceil(MOST_THRESHOLDS);
    let mut points: Vec<RocPoint> = corners.into_iter().step_by(step).collect();
    points.extend(scores.roc().hull());
    points.sort_by_key(|point| (point.true_positives, point.false_positives));
    points.dedup_by_key(|point| (point.true_positives, point.false_positives));
    points
}

/// Simultaneous lower limits of a survival function at every threshold: the larger of two.
struct UniformLower {
    ends: Ends,
    width: f64,
}

/// The limit that is tight at the ends.
enum Ends {
    Exact(BerkJones),
    /// The limits of Clopper and Pearson, all at one level.
    Bonferroni(FailureProbability),
}

impl UniformLower {
    /// A band that fails with probability at most `failure`.
    fn new(scores: &[f64], failure: FailureProbability) -> Result<Self> {
        let (size, each) = (scores.len(), failure.split(2));
        let ends = if BerkJones::fits(size as u64) {
            Ends::Exact(BerkJones::new(size as u64, each)?)
        } else {
            Ends::Bonferroni(each.split(size))
        };
        // The one-sided inequality holds for probabilities up to one half.
        let log = -each.get().min(0.5).ln();
        Ok(Self { ends, width: (log / (2.0 * size as f64)).sqrt() + 1e-15 })
    }

    fn limit(&self, counts: BinomialCounts) -> Result<ProportionLimit> {
        let exact = match &self.ends {
            Ends::Exact(band) => band.lower(counts.successes()),
            Ends::Bonferroni(level) => clopper_pearson_lower(counts, *level)?,
        };
        let uniform = counts.successes() as f64 / counts.trials() as f64 - self.width;
        Ok(if uniform > exact.value { ProportionLimit::at_least(uniform) } else { exact })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::assert_rarely_wrong;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Members are uniform, others uniform on a third of it, some scores rounded to ties: the band holds everywhere in
    /// at least 1 - f of the audits. A correct program fails with probability 3e-5 at most (four standard errors).
    #[test]
    fn the_band_holds_at_all_thresholds_at_once() {
        const AUDITS: usize = 1_000;
        const FAILURE: f64 = 0.3;
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let mut wrong = 0;
        for audit in 0..AUDITS {
            let ties = if audit % 2 == 0 { 1e9 } else { 8.0 };
            let mut draw = |n: usize, scale: f64| -> Vec<f64> {
                (0..n).map(|_| (stream.random::<f64>() * scale * ties).floor() / ties).collect()
            };
            let scores = CanaryScores::new(draw(40, 1.0), draw(60, 1.0)).unwrap();
            let rectangles = uniform_rectangles(&scores, FailureProbability::new(FAILURE).unwrap()).unwrap();
            let holds = rectangles.iter().all(|(point, rectangle)| {
                // P(floor(U T)/T ≥ t) at a multiple t of 1/T.
                let truth = 1.0 - point.cut();
                rectangle.inside()[0].value <= truth + 1e-9 && truth <= rectangle.inside_neighbor()[1].value + 1e-9
            });
            wrong += usize::from(!holds);
        }
        assert_rarely_wrong(wrong, AUDITS, FAILURE, 4.0);
    }

    #[test]
    fn many_scores_are_thinned_and_keep_their_hull() {
        let members: Vec<f64> = (0..20_000).map(f64::from).collect();
        let scores = CanaryScores::new(members, (0..20_000).map(|i| f64::from(i) - 500.5).collect()).unwrap();
        let points = thinned(&scores);
        assert!(points.len() <= MOST_THRESHOLDS + scores.roc().hull().len());
        assert!(points.windows(2).all(|pair| pair[0].true_positives <= pair[1].true_positives));
        let all = uniform_rectangles(&scores, FailureProbability::new(1e-300).unwrap()).unwrap();
        assert!(all.iter().all(|(_, rectangle)| rectangle.inside()[0].value >= 0.0));
    }
}
