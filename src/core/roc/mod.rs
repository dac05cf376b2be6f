//! The receiver operating characteristic of scores: true and false positives at every threshold.

mod point;
mod sorted;

pub use point::RocPoint;

use crate::error::{Error, Result};
use crate::quantity::Probability;
use sorted::{Step, counts, descending, point};

/// The ROC of membership scores: one point for each distinct score, so that ties are decided together.
///
/// A threshold t guesses "member" if score ≥ t. With P members and N non-members,
/// TPR(t) = #{members: score ≥ t}/P and FPR(t) = #{non-members: score ≥ t}/N.
///
/// Scores may be infinite; -0 and 0 are the same score. Construction sorts each class on a separate thread.
///
/// # Example
/// ```
/// # use leakbound::quantity::Probability;
/// # use leakbound::roc::Roc;
/// let roc = Roc::new(&[0.0, 4.0, 6.0, 7.0], &[1.0, 2.0, 3.0, 5.0])?;
/// assert_eq!(roc.auc(), 0.6875);
/// // Without a false accusation two members are found, with one of four accused another one.
/// assert_eq!(roc.at_fpr(Probability::new(0.0)?).true_positives, 2);
/// assert_eq!(roc.at_fpr(Probability::new(0.25)?).true_positives, 3);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Roc {
    members: u64,
    non_members: u64,
    steps: Vec<Step>,
}

/// The threshold that best separates the two classes, chosen on the same guesses: its figures are optimistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestThreshold {
    /// The point.
    pub point: RocPoint,
    /// (TPR + TNR)/2.
    pub balanced_accuracy: f64,
    /// TPR - FPR, the membership advantage of Yeom et al. (2018).
    pub advantage: f64,
}

/// The largest number of guesses in a class: counts of points have 32 bits.
const MOST: usize = u32::MAX as usize - 1;

impl Roc {
    /// The ROC of the scores of both classes; high means member.
    ///
    /// # Errors
    /// [`Error::Length`] for a class without scores or with more than 2^32 - 2, [`Error::Domain`] for NaN.
    pub fn new(members: &[f64], non_members: &[f64]) -> Result<Self> {
        for (quantity, found) in [("scores of members", members.len()), ("scores of non-members", non_members.len())] {
            Error::check_length((1..=MOST).contains(&found), quantity, found, "1 to 2^32 - 2")?;
        }
        for scores in [members, non_members] {
            // Without a branch per score, the test takes no time compared with the sort.
            let no_nan = !scores.iter().fold(false, |nan, score| nan | score.is_nan());
            Error::check_domain(no_nan, "score of an attack", f64::NAN, "[-inf, inf]")?;
        }
        let steps = descending(members, non_members);
        Ok(Self { members: members.len() as u64, non_members: non_members.len() as u64, steps })
    }

    /// P, the number of guesses about members.
    #[must_use]
    pub const fn members(&self) -> u64 {
        self.members
    }

    /// N, the number of guesses about non-members.
    #[must_use]
    pub const fn non_members(&self) -> u64 {
        self.non_members
    }

    /// Number of points: one per distinct score, plus the origin.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len() + 1
    }

    /// Always false: a ROC has at least two points.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The point at a place from 0, the origin, to `len() - 1`, where all are guessed to be members; `None` beyond.
    #[must_use]
    pub fn point(&self, place: usize) -> Option<RocPoint> {
        match place.checked_sub(1) {
            None => Some(RocPoint { threshold: None, true_positives: 0, false_positives: 0 }),
            Some(step) => self.steps.get(step).map(point),
        }
    }

    /// All points from the origin, with decreasing thresholds.
    pub fn points(&self) -> impl ExactSizeIterator<Item = RocPoint> + '_ {
        // In range by construction; the origin is a placeholder for the impossible case.
        let origin = RocPoint { threshold: None, true_positives: 0, false_positives: 0 };
        (0..self.len()).map(move |place| self.point(place).unwrap_or(origin))
    }

    /// TPR of a point.
    #[must_use]
    pub fn tpr(&self, point: RocPoint) -> f64 {
        point.true_positives as f64 / self.members as f64
    }

    /// FPR of a point.
    #[must_use]
    pub fn fpr(&self, point: RocPoint) -> f64 {
        point.false_positives as f64 / self.non_members as f64
    }

    /// The area under the curve, not under its hull: P(member scores higher) + P(equal)/2 over pairs of both classes.
    ///
    /// Twice the number of pairs is a whole number below 2^65, so the result is the exact one, rounded once or twice.
    ///
    /// # References
    /// Mann and Whitney (1947), "On a test of whether one of two random variables is stochastically larger than the
    /// other"; Bamber (1975), "The area above the ordinal dominance graph and the area below the receiver operating
    /// characteristic graph".
    #[must_use]
    pub fn auc(&self) -> f64 {
        let (mut before, mut doubled) = ([0u64; 2], 0u128);
        for step in &self.steps {
            let [hits, alarms] = counts(step);
            // A trapezoid between two points: each non-member of the tie against the members above it and half of the
            // tie.
            doubled += u128::from(alarms - before[1]) * u128::from(before[0] + hits);
            before = [hits, alarms];
        }
        doubled as f64 / (2 * u128::from(self.members) * u128::from(self.non_members)) as f64
    }

    /// The point with the most true positives whose FPR is at most `target`: the lowest threshold with few enough false
    /// positives.
    ///
    /// The frequency of false positives, as a double, never exceeds the target.
    #[must_use]
    pub fn at_fpr(&self, target: Probability) -> RocPoint {
        self.within(self.allowed(target))
    }

    /// The largest number of false positives whose share of N, as a double, is at most `target`.
    pub fn allowed(&self, target: Probability) -> u64 {
        let within = |count: u64| count as f64 / self.non_members as f64 <= target.get();
        let near = (target.get() * self.non_members as f64).floor() as u64;
        // The product is off by less than one unit.
        let from = near.saturating_sub(1);
        (from..=(near + 1).min(self.non_members)).rev().find(|&count| within(count)).unwrap_or(0)
    }

    /// The point of the lowest threshold with at most this many false positives.
    pub fn within(&self, false_positives: u64) -> RocPoint {
        let place = self.steps.partition_point(|step| counts(step)[1] <= false_positives);
        self.point(place).unwrap_or(RocPoint { threshold: None, true_positives: 0, false_positives: 0 })
    }

    /// The score of the non-member that ranks next after this many false positives, ties counted; `None` if all are
    /// above.
    pub fn next_non_member(&self, false_positives: u64) -> Option<f64> {
        let place = self.steps.partition_point(|step| counts(step)[1] <= false_positives);
        self.steps.get(place).map(|step| step.0)
    }

    /// At most `most` points or two, for figures and files: the best ones at counts of false positives that are spaced
    /// evenly, and evenly in their logarithm, including both ends.
    ///
    /// ```
    /// # use leakbound::roc::Roc;
    /// let scores: Vec<f64> = (0..100_000).map(f64::from).collect();
    /// let thinned = Roc::new(&scores, &scores)?.thinned(200);
    /// assert!(thinned.len() <= 200 && thinned.iter().filter(|point| point.false_positives < 100).count() > 20);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn thinned(&self, most: usize) -> Vec<RocPoint> {
        if self.len() <= most {
            return self.points().collect();
        }
        let half = most.saturating_sub(2) / 2;
        let all = self.non_members as f64;
        let share = |index: usize| index as f64 / half as f64;
        let counts = (0..half).flat_map(|index| [all * share(index), all.powf(share(index)).floor()]);
        let mut counts: Vec<u64> = counts.map(|count| count as u64).chain([0, self.non_members]).collect();
        counts.sort_unstable();
        counts.dedup();
        let mut points: Vec<RocPoint> = counts.into_iter().map(|count| self.within(count)).collect();
        points.insert(0, RocPoint { threshold: None, true_positives: 0, false_positives: 0 });
        points.dedup();
        points
    }

    /// The threshold with the largest TPR - FPR; the highest one in a tie.
    ///
    /// It is chosen on the same guesses that evaluate it, so its advantage is positive even on noise.
    #[must_use]
    pub fn best_threshold(&self) -> BestThreshold {
        let (members, non_members) = (i128::from(self.members), i128::from(self.non_members));
        let (mut best, mut largest) = (0, 0i128);
        for (index, step) in self.steps.iter().enumerate() {
            let [hits, alarms] = counts(step);
            // Exact: with a difference of quotients, rounding would choose among ties.
            let advantage = i128::from(hits) * non_members - i128::from(alarms) * members;
            if advantage > largest {
                (best, largest) = (index + 1, advantage);
            }
        }
        let advantage = largest as f64 / (members * non_members) as f64;
        let origin = RocPoint { threshold: None, true_positives: 0, false_positives: 0 };
        let point = self.point(best).unwrap_or(origin);
        BestThreshold { point, balanced_accuracy: 0.5 + advantage / 2.0, advantage }
    }

    /// The corners of the upper concave hull, starting at the origin: the trade-offs attained by randomizing between
    /// two thresholds. Points in the middle of an edge are left out.
    ///
    /// # References
    /// Provost and Fawcett (2001), "Robust classification for imprecise environments".
    #[must_use]
    pub fn hull(&self) -> Vec<RocPoint> {
        let mut hull: Vec<RocPoint> = Vec::new();
        for point in self.points() {
            while let [.., before, last] = hull[..] {
                let rise = |from: RocPoint, to: RocPoint| {
                    let run = i128::from(to.false_positives) - i128::from(from.false_positives);
                    (i128::from(to.true_positives) - i128::from(from.true_positives), run)
                };
                let ((rise_in, run_in), (rise_out, run_out)) = (rise(before, last), rise(last, point));
                // The last point is a corner only if the curve bends down there.
                if rise_in * run_out > rise_out * run_in {
                    break;
                }
                hull.pop();
            }
            hull.push(point);
        }
        hull
    }
}

#[cfg(test)]
mod tests;
