//! Rectangles of all outcomes, each alone, without a known list of outcomes.

use super::rectangle::Rectangle;
use crate::counts::PairedCounts;
use crate::error::Result;
use crate::interval::{ProportionRange, clopper_pearson_open};
use crate::quantity::FailureProbability;

/// The rectangle of (P(x), Q(x)) for each outcome x of the counts. The rectangles hold simultaneously except with the
/// failure probability, for any list of other outcomes of the mechanism.
///
/// Counts list the outcomes that were seen, so the list depends on the outputs, and dividing the failure probability by
/// its length would not cover this choice. Half of the failure probability goes to each world, where every outcome is
/// charged in proportion to its own probability: [`clopper_pearson_open`] has the proof. The sets are {x} and its
/// complement; the complement contains every outcome that was never seen.
///
/// # Errors
/// As [`clopper_pearson_open`].
///
/// # Example
/// ```
/// # use leakbound::audit::outcome_rectangles;
/// # use leakbound::counts::PairedCounts;
/// # use leakbound::quantity::FailureProbability;
/// let labels = ["often", "once"].map(String::from).to_vec();
/// let counts = PairedCounts::new(labels, vec![199, 1], vec![200, 0])?;
/// let rectangles = outcome_rectangles(&counts, FailureProbability::new(0.05)?)?;
/// // `once` may be one of thousands of rare outcomes.
/// assert_eq!(rectangles[1].inside()[0].value, 0.0);
/// assert!(rectangles[0].inside()[0].value > 0.95);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn outcome_rectangles(counts: &PairedCounts, failure: FailureProbability) -> Result<Vec<Rectangle>> {
    let half = failure.split(2);
    let p = clopper_pearson_open(counts.counts(), half)?;
    let q = clopper_pearson_open(counts.counts_neighbor(), half)?;
    let rectangle = |(p, q): (&ProportionRange, &ProportionRange)| {
        Rectangle::from_limits([p.lower, p.upper], [q.lower, q.upper], failure)
    };
    Ok(p.iter().zip(&q).map(rectangle).collect())
}
