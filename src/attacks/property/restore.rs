//! The public points that a student was trained on, restored by membership inference.

use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::membership::AttackScores;
use crate::order;

/// Points assumed to be those that the student was trained on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredPoints {
    /// Their indices, the most certain first.
    pub points: Vec<usize>,
    /// How many of them it was trained on.
    pub right: BinomialCounts,
}

/// The `labeled` public points of highest score for one victim, taken for the labeled ones.
///
/// PATE labels some public points and trains the student on these alone, so membership in the student's training data
/// is membership in the labeled part, and any membership attack restores it: for
/// [`property_distance`](crate::property::property_distance) if the labeled points are not known. Their labels are the
/// student's own answers. Among equal scores the first points are taken.
///
/// # Errors
/// [`Error::Domain`] for a victim that is not there or a number that is not in \[1, points\].
///
/// # Example
/// ```
/// # use leakbound::membership::AttackScores;
/// # use leakbound::property::restore_labeled_points;
/// # use ndarray::array;
/// let scores = AttackScores::new(array![[0.1, 0.9, 0.8, 0.2]], array![[true, true, false, false]])?;
/// let restored = restore_labeled_points(&scores, 0, 2)?;
/// assert_eq!(restored.points, [1, 2]);
/// assert_eq!(restored.right.successes(), 1);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ihrig (2021), thesis, section 4.4.1, "Restoring labeled data points".
pub fn restore_labeled_points(scores: &AttackScores, victim: usize, labeled: usize) -> Result<RestoredPoints> {
    Error::check_domain(victim < scores.victims(), "victim", victim as f64, "the victims of the attack")?;
    Error::check_domain((1..=scores.samples()).contains(&labeled), "labeled points", labeled as f64, "[1, points]")?;
    let row = scores.scores();
    let row = row.row(victim);
    let mut points = order::positions(scores.samples(), |a, b| row[b].total_cmp(&row[a]));
    points.truncate(labeled);
    let members = scores.members();
    let right = points.iter().filter(|&&point| members[[victim, point]]).count();
    let right = BinomialCounts::new(right as u64, labeled as u64)?;
    Ok(RestoredPoints { points, right })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn what_is_not_there_is_rejected() {
        let scores = AttackScores::new(array![[1.0, 1.0]], array![[true, false]]).unwrap();
        assert!(restore_labeled_points(&scores, 1, 1).is_err());
        assert!(restore_labeled_points(&scores, 0, 0).is_err() && restore_labeled_points(&scores, 0, 3).is_err());
        assert_eq!(restore_labeled_points(&scores, 0, 2).unwrap().points, [0, 1]);
    }
}
