//! How many samples a method would need.

use crate::counts::{MAX_COUNT, PairedCounts};
use crate::error::{Error, Result};
use crate::law::OutcomeLaw;

/// Samples per world are searched on a grid of this ratio, 2^(1/16).
const STEP: f64 = 1.044_273_782_427_413_8;

/// The fewest samples per world, within 5 %, with which a bound reaches `goal` at the counts that the laws lead to expect;
/// None where 2^53 samples do not.
///
/// With n samples the expected counts are n p and n q, rounded to whole numbers of sum n. A bound that an audit finds
/// lies around that at the expected counts, so this is the median number of samples, and a forecast, not a guarantee.
/// `bound` must not fall in n.
///
/// # Errors
/// [`Error::Length`] when the laws differ in outcomes; those of `bound`.
///
/// # Example
/// ```
/// # use leakbound::{BinomialCounts, Direction, FailureProbability, Order, OutcomeLaw, Rectangle, samples_to_reach};
/// let (p, q) = (OutcomeLaw::from_probabilities(&[0.6, 0.4])?, OutcomeLaw::from_probabilities(&[0.5, 0.5])?);
/// let (order, failure) = (Order::new(2.0)?, FailureProbability::new(0.05)?);
/// let half = 0.5 * leakbound::renyi_divergence(&p, &q, order)?;
/// let samples = samples_to_reach(&p, &q, half, |counts| {
///     let inside = BinomialCounts::new(counts.counts()[0], counts.trials())?;
///     let inside_neighbor = BinomialCounts::new(counts.counts_neighbor()[0], counts.trials_neighbor())?;
///     Ok(Rectangle::four_tails(inside, inside_neighbor, failure)?.corner(order, Direction::Forward).value)
/// })?;
/// assert!((5_400..6_100).contains(&samples.unwrap()));
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn samples_to_reach(
    p: &OutcomeLaw,
    q: &OutcomeLaw,
    goal: f64,
    bound: impl Fn(&PairedCounts) -> Result<f64>,
) -> Result<Option<u64>> {
    if p.outcomes() != q.outcomes() {
        return Err(Error::Length {
            quantity: "law of the neighbour",
            found: q.outcomes(),
            expected: format!("{} outcomes", p.outcomes()),
        });
    }
    let samples = |step: u32| (STEP.powi(step as i32).ceil() as u64).min(MAX_COUNT);
    let reached = |step: u32| Ok::<_, Error>(bound(&expected_counts(p, q, samples(step))?)? >= goal);
    let (mut below, mut above) = (0, (53.0 * 16.0) as u32);
    if reached(below)? {
        return Ok(Some(1));
    }
    if !reached(above)? {
        return Ok(None);
    }
    while above - below > 1 {
        let middle = below.midpoint(above);
        if reached(middle)? {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok(Some(samples(above)))
}

/// The counts that n samples of both laws lead to expect, rounded to whole numbers that sum to n.
///
/// # Errors
/// As [`PairedCounts::new`].
pub fn expected_counts(p: &OutcomeLaw, q: &OutcomeLaw, samples: u64) -> Result<PairedCounts> {
    expected_counts_of([p, q], [samples; 2])
}

/// The same for numbers of samples of their own.
pub(super) fn expected_counts_of([p, q]: [&OutcomeLaw; 2], trials: [u64; 2]) -> Result<PairedCounts> {
    let labels = (0..p.outcomes()).map(|outcome| outcome.to_string()).collect();
    PairedCounts::new(labels, rounded(p.p(), trials[0]), rounded(q.p(), trials[1]))
}

/// Whole numbers of sum n near n p: the largest remainders are rounded up.
fn rounded(p: &[f64], samples: u64) -> Vec<u64> {
    let exact: Vec<f64> = p.iter().map(|p| p * samples as f64).collect();
    let mut counts: Vec<u64> = exact.iter().map(|value| value.floor() as u64).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    let remainder = |outcome: usize| exact[outcome] - exact[outcome].floor();
    order.sort_by(|&a, &b| remainder(b).total_cmp(&remainder(a)));
    // Rounding of large products may leave a sum on either side.
    let mut missing = i128::from(samples) - counts.iter().map(|&count| i128::from(count)).sum::<i128>();
    while missing != 0 {
        for &outcome in &order {
            if missing > 0 && (exact[outcome] > 0.0) {
                counts[outcome] += 1;
                missing -= 1;
            } else if missing < 0 && counts[outcome] > 0 {
                counts[outcome] -= 1;
                missing += 1;
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn expected_counts_sum_to_the_samples(
            weights in prop::collection::vec(0.0f64..1.0, 1..40),
            samples in prop_oneof![1..100u64, 1..MAX_COUNT, Just(MAX_COUNT)],
        ) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let law = OutcomeLaw::from_probabilities(&weights.iter().map(|w| w / total).collect::<Vec<_>>()).unwrap();
            let counts = expected_counts(&law, &law, samples).unwrap();
            prop_assert_eq!(counts.trials(), samples);
            for (count, p) in counts.counts().iter().zip(law.p()) {
                prop_assert!((*count as f64 - p * samples as f64).abs() <= 1.0 + 1e-15 * 40.0 * samples as f64);
                prop_assert!(*count == 0 || *p > 0.0);
            }
        }
    }

    #[test]
    fn what_cannot_be_reached_is_not() {
        let law = OutcomeLaw::from_probabilities(&[0.5, 0.5]).unwrap();
        assert_eq!(samples_to_reach(&law, &law, 1.0, |_| Ok(0.5)).unwrap(), None);
        assert_eq!(samples_to_reach(&law, &law, 0.0, |_| Ok(0.0)).unwrap(), Some(1));
        let needed = samples_to_reach(&law, &law, 1.0, |counts| Ok(f64::from(u8::from(counts.trials() >= 1000))));
        assert!((1000..1050).contains(&needed.unwrap().unwrap()));
    }
}
