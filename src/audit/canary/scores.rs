//! Scores of canaries and the points of their ROC curve.

use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::order;
use crate::roc::{Roc, RocPoint};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Scores of an attack on canaries that were trained on (members) and on canaries that were not. **High means member**;
/// scores with the opposite meaning are [`flipped`](Self::flipped) first.
///
/// Scores may be equal and may be infinite; a threshold t calls a canary a member if its score is at least t, so equal
/// scores stay together.
///
/// ```
/// # use leakbound::audit::CanaryScores;
/// let scores = CanaryScores::new(vec![0.0, 1.0, 1.0, 2.0], vec![0.0, 0.0, 1.0, 1.0])?;
/// let [true_positives, false_positives] = scores.counts(1.0)?;
/// assert_eq!((true_positives.successes(), false_positives.successes()), (3, 2));
/// assert!(CanaryScores::new(vec![f64::NAN], vec![0.0]).is_err());
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CanaryScores {
    /// In decreasing order.
    members: Vec<f64>,
    /// In decreasing order.
    others: Vec<f64>,
    roc: Roc,
}

impl CanaryScores {
    /// Checks and stores the scores; their order is irrelevant.
    ///
    /// # Errors
    /// [`Error::Length`] if a side has no score, [`Error::Domain`] for a score that is NaN.
    pub fn new(members: Vec<f64>, others: Vec<f64>) -> Result<Self> {
        for (scores, quantity) in [(&members, "scores of members"), (&others, "scores of non-members")] {
            Error::check_length(!scores.is_empty(), quantity, 0, "at least 1")?;
            Error::check_domain_of_all(scores, |score| !score.is_nan(), "score of a canary", "[-inf, inf]")?;
        }
        Self::sorted(members, others)
    }

    /// Scores of canaries, each with its coin: whether the canary is a member.
    pub(super) fn of_coins(canaries: impl IntoIterator<Item = (bool, f64)>) -> Result<Self> {
        let [members, others] = sides(canaries);
        Self::new(members, others)
    }

    fn sorted(mut members: Vec<f64>, mut others: Vec<f64>) -> Result<Self> {
        // A zero has no sign, so -0 and 0 are also equal in this order.
        for scores in [&mut members, &mut others] {
            scores.iter_mut().for_each(|score| *score += 0.0);
            order::falling(scores);
        }
        let roc = Roc::new(&members, &others)?;
        Ok(Self { members, others, roc })
    }

    /// The same canaries with every score negated: for scores where low means member.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn flipped(self) -> Result<Self> {
        let negated = |scores: Vec<f64>| scores.into_iter().map(|score| -score).collect();
        Self::sorted(negated(self.members), negated(self.others))
    }

    /// Scores of members in decreasing order.
    #[must_use]
    pub fn members(&self) -> &[f64] {
        &self.members
    }

    /// Scores of the others in decreasing order.
    #[must_use]
    pub fn others(&self) -> &[f64] {
        &self.others
    }

    /// The numbers of members and of others at or above a threshold, each out of all of its kind.
    ///
    /// # Errors
    /// [`Error::Domain`] for a threshold that is NaN.
    pub fn counts(&self, threshold: f64) -> Result<[BinomialCounts; 2]> {
        Error::check_domain(!threshold.is_nan(), "threshold", threshold, "[-inf, inf]")?;
        let at_least = |scores: &[f64]| scores.partition_point(|score| *score >= threshold) as u64;
        self.of_point(RocPoint {
            threshold: Some(threshold),
            true_positives: at_least(&self.members),
            false_positives: at_least(&self.others),
        })
    }

    pub(super) fn of_point(&self, point: RocPoint) -> Result<[BinomialCounts; 2]> {
        Ok([
            BinomialCounts::new(point.true_positives, self.members.len() as u64)?,
            BinomialCounts::new(point.false_positives, self.others.len() as u64)?,
        ])
    }

    /// The ROC of the scores.
    #[must_use]
    pub const fn roc(&self) -> &Roc {
        &self.roc
    }

    /// The points of the ROC at the distinct scores of members, from the highest down. A threshold between two of them
    /// has the true positives of the next higher one and no fewer false positives, so it proves nothing more.
    #[must_use]
    pub fn corners(&self) -> Vec<RocPoint> {
        let mut found = 0;
        let rises = |point: &RocPoint| point.true_positives > std::mem::replace(&mut found, point.true_positives);
        self.roc.points().filter(rises).collect()
    }

    /// Two random parts, the first with `share` of each side (rounded down, at least 1 canary and at most all but 1).
    ///
    /// # Errors
    /// [`Error::Rejected`] with fewer than 2 canaries on a side.
    pub(super) fn split(&self, share: f64, stream: &mut ChaCha8Rng) -> Result<[Self; 2]> {
        let [members, others] = [self.members.len(), self.others.len()];
        let reason =
            format_args!("{members} members and {others} others cannot be split in two; declare a threshold instead");
        Error::check_possible(members >= 2 && others >= 2, "split of canaries", reason)?;
        let mut parts = |scores: &[f64]| {
            let mut shuffled = scores.to_vec();
            shuffled.shuffle(stream);
            let first = ((scores.len() as f64 * share) as usize).clamp(1, scores.len() - 1);
            let rest = shuffled.split_off(first);
            [shuffled, rest]
        };
        let ([first, second], [first_others, second_others]) = (parts(&self.members), parts(&self.others));
        Ok([Self::sorted(first, first_others)?, Self::sorted(second, second_others)?])
    }
}

/// The scores of members and those of the others.
pub(super) fn sides(canaries: impl IntoIterator<Item = (bool, f64)>) -> [Vec<f64>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    canaries.into_iter().for_each(|(member, score)| sides[usize::from(!member)].push(score));
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;

    #[test]
    fn the_hull_of_tied_scores() {
        let scores = CanaryScores::new(vec![0.0, 1.0, 1.0, 2.0], vec![0.0, 0.0, 1.0, 1.0]).unwrap();
        let hull: Vec<_> =
            scores.roc().hull().into_iter().map(|p| (p.cut(), p.true_positives, p.false_positives)).collect();
        assert_eq!(hull, [(f64::INFINITY, 0, 0), (2.0, 1, 0), (1.0, 3, 2), (0.0, 4, 4)]);
        let equal = CanaryScores::new(vec![-0.0; 3], vec![0.0; 2]).unwrap();
        assert_eq!((equal.roc().hull().len(), equal.corners().len()), (2, 1));
        assert_eq!(equal.clone().flipped().unwrap(), equal);
    }

    #[test]
    fn odd_scores() {
        assert!(CanaryScores::new(vec![], vec![1.0]).is_err() && CanaryScores::new(vec![1.0], vec![]).is_err());
        assert!(CanaryScores::new(vec![1.0], vec![f64::NAN]).is_err());
        let scores = CanaryScores::new(vec![f64::INFINITY, 1.0], vec![f64::NEG_INFINITY]).unwrap();
        assert!(scores.counts(f64::NAN).is_err());
        assert_eq!(scores.corners().len(), 2);
        assert!(scores.split(0.5, &mut ChaCha8Rng::seed_from_u64(0)).is_err());
    }

    #[test]
    fn no_share_leaves_a_part_without_a_canary() {
        let scores = CanaryScores::new(vec![1.0; 4], vec![0.0; 3]).unwrap();
        for (share, expected) in [(1.0, [3, 2]), (0.0, [1, 1])] {
            let [first, second] = scores.split(share, &mut ChaCha8Rng::seed_from_u64(0)).unwrap();
            assert_eq!([first.members().len(), first.others().len()], expected);
            assert_eq!([second.members().len(), second.others().len()], [4 - expected[0], 3 - expected[1]]);
        }
    }

    proptest! {
        /// Every point of the curve is on or below the hull; counts agree with a direct count; splits lose nothing.
        #[test]
        fn points_are_counts_below_the_hull(
            members in prop::collection::vec(-3i32..3, 2..20), others in prop::collection::vec(-3i32..3, 2..20),
        ) {
            let floats = |scores: &[i32]| scores.iter().map(|&score| f64::from(score)).collect::<Vec<_>>();
            let scores = CanaryScores::new(floats(&members), floats(&others)).unwrap();
            let hull = scores.roc().hull();
            for point in scores.corners() {
                let direct = |scores: &[i32]| scores.iter().filter(|&&score| f64::from(score) >= point.cut()).count();
                prop_assert_eq!(point.true_positives, direct(&members) as u64);
                prop_assert_eq!(point.false_positives, direct(&others) as u64);
                let x = point.false_positives as f64;
                let below = hull.windows(2).any(|pair| {
                    let [a, b] = [pair[0], pair[1]].map(|p| [p.false_positives as f64, p.true_positives as f64]);
                    let y = if b[0] > a[0] { a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]) } else { b[1] };
                    a[0] <= x && x <= b[0] && point.true_positives as f64 <= y + 1e-9
                });
                prop_assert!(below);
            }
            let [first, second] = scores.split(0.5, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
            let mut all = [first.members(), second.members()].concat();
            order::falling(&mut all);
            prop_assert_eq!(&all[..], scores.members());
            prop_assert_eq!(first.others().len() + second.others().len(), others.len());
        }
    }
}
