//! A histogram that comes close to the worst case.

use super::{WorstVotes, gnmax_worst_case};
use crate::distribution::{Noise, noisy_argmax_distribution};
use crate::divergence::renyi_divergence;
use crate::error::{Error, Result};
use crate::histogram::{MAX_CLASSES, Neighbor, VoteChange, VoteHistogram};
use crate::quantity::{NoiseScale, Order};
use std::collections::HashMap;

/// Number of steps after which the search ends.
const MAX_STEPS: usize = 2_000;
/// 2^53, the largest count of a histogram.
const MOST_VOTES: u64 = 1 << 53;

/// Votes with a neighbor, and the divergence of their distributions.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstHistogram {
    /// Votes of the dataset.
    pub histogram: VoteHistogram,
    /// The vote that moves.
    pub change: Neighbor,
    /// D_α of the argmax of `histogram` against that of its neighbor.
    pub divergence: f64,
}

/// A histogram of `classes` classes and `votes` votes that nearly maximizes the divergence of the argmax with Gaussian
/// noise from that of a neighbor by a moved vote: a witness for [`gnmax_worst_case`].
///
/// Class 0 gives a vote to class 1, and the others have equal counts, as nearly as possible. The two remaining numbers,
/// n₀ and n₁ + n₀, are searched in steps that halve, from the margin of the worst case and from several shares of the
/// others. The result is attained; it is within 0.6% of the supremum if whole votes can reach the margin: σ ≥ 5, votes
/// beyond the margin, which is about -α, and two classes, or enough votes that the others can be left behind by several
/// σ.
///
/// For less noise, a vote is a large step, and no histogram of this kind comes so close. The best of all whole margins
/// and gaps to the others, by trying all with 2 to 10,000 classes, as a share of the supremum with 2 classes and with
/// 10,000: at σ = 2 0.987 and 0.990 for order 1.001, 0.9934 and 0.9955 for 1.5, 0.9941 and 0.9958 for 2, 0.998 for 5;
/// at σ = 1 0.966 and 0.969 for order 1.001, 0.987 for 1.5, 0.998 for 2; at σ = 0.5 0.904 and 0.910 for order 1.001.
/// There the supremum is over real margins, and exceeds the leakage of whole votes.
///
/// # Errors
/// [`Error::Length`] for fewer than 2 or more than 10,000 classes, [`Error::Domain`] for no votes or more than 2^53, as
/// [`noisy_argmax_distribution`] for very little noise.
///
/// # Example
/// ```
/// # use leakbound::accountant::{gnmax_worst_case, gnmax_worst_histogram};
/// # use leakbound::prelude::*;
/// let (order, sigma) = (Order::new(2.0)?, NoiseScale::new(40.0)?);
/// let found = gnmax_worst_histogram(order, sigma, 2, 250)?;
/// let worst = gnmax_worst_case(order, sigma, VoteChange::Moved);
/// assert!(found.divergence > 0.994 * worst.upper && found.divergence < worst.upper);
/// assert_eq!(found.histogram.counts().iter().sum::<u64>(), 250);
/// # Ok::<(), Error>(())
/// ```
pub fn gnmax_worst_histogram(order: Order, sigma: NoiseScale, classes: usize, votes: u64) -> Result<WorstHistogram> {
    let expected = format_args!("2 to {MAX_CLASSES} classes");
    Error::check_length((2..=MAX_CLASSES).contains(&classes), "vote histogram", classes, expected)?;
    Error::check_domain((1..=MOST_VOTES).contains(&votes), "number of votes", votes as f64, "[1, 2^53]")?;
    let margin = match gnmax_worst_case(order, sigma, VoteChange::Moved).votes {
        WorstVotes::TwoClasses { margin } => margin,
        WorstVotes::Threshold { first, second } => first - second,
        WorstVotes::OneClass { lead } => lead,
    };
    let mut known: HashMap<(u64, u64), f64> = HashMap::new();
    let mut at = |place: (u64, u64)| -> Result<f64> {
        if let Some(&value) = known.get(&place) {
            return Ok(value);
        }
        let value = divergence(&histogram(place, classes, votes)?, order, sigma)?;
        known.insert(place, value);
        Ok(value)
    };
    // Both classes together: all votes, the remainder when all are equal, and values in between.
    let equal = (2 * (votes / classes as u64)).max(1);
    let mut best: Option<((u64, u64), f64)> = None;
    for both in [votes, votes - (votes - equal) / 4, votes - (votes - equal) / 2, equal] {
        let both = if classes == 2 { votes } else { both };
        let first = (0.5 * (both as f64 + margin)).clamp(1.0, both as f64) as u64;
        let mut here = ((first, both), at((first, both))?);
        let mut step = (votes / 8).max(1);
        for _ in 0..MAX_STEPS {
            let mut next = here;
            for (up_first, up_both) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, 2), (-1, -2)] {
                let moved = |value: u64, sign: i64| value.saturating_add_signed(sign * step as i64);
                let both = if classes == 2 { votes } else { moved(here.0.1, up_both).clamp(1, votes) };
                let place = (moved(here.0.0, up_first).clamp(1, both), both);
                let value = at(place)?;
                if value > next.1 {
                    next = (place, value);
                }
            }
            if next.0 == here.0 {
                if step == 1 {
                    break;
                }
                step = step.div_ceil(2);
            } else {
                here = next;
            }
        }
        if best.is_none_or(|best| here.1 > best.1) {
            best = Some(here);
        }
    }
    let (place, divergence) = best.unwrap_or(((1, votes), 0.0));
    Ok(WorstHistogram { histogram: histogram(place, classes, votes)?, change: CHANGE, divergence })
}

const CHANGE: Neighbor = Neighbor::Moved { from: 0, to: 1 };

/// n₀ = first, n₀ + n₁ = both, and the rest spread over the other classes.
fn histogram((first, both): (u64, u64), classes: usize, votes: u64) -> Result<VoteHistogram> {
    let mut counts = vec![first, both - first];
    let (others, rest) = (classes as u64 - 2, votes - both);
    if others > 0 {
        counts.extend((0..others).map(|index| rest / others + u64::from(index < rest % others)));
    }
    VoteHistogram::new(counts)
}

fn divergence(histogram: &VoteHistogram, order: Order, sigma: NoiseScale) -> Result<f64> {
    let noise = Noise::Gaussian(sigma);
    let (p, q) =
        (noisy_argmax_distribution(histogram, noise)?, noisy_argmax_distribution(&histogram.neighbor(CHANGE)?, noise)?);
    renyi_divergence(&p, &q, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(a: f64, sigma: f64, classes: usize, votes: u64) -> (WorstHistogram, f64) {
        let (order, sigma) = (Order::new(a).unwrap(), NoiseScale::new(sigma).unwrap());
        let upper = gnmax_worst_case(order, sigma, VoteChange::Moved).upper;
        (gnmax_worst_histogram(order, sigma, classes, votes).unwrap(), upper)
    }

    #[test]
    fn witnesses_come_close() {
        for (a, sigma, classes, votes) in [
            (2.0, 40.0, 2, 250),
            (2.0, 40.0, 10, 2_000),
            (64.0, 40.0, 10, 1_000),
            (2.0, 10.0, 100, 5_000),
            (1.5, 5.0, 3, 1_000_000_000_000),
        ] {
            let (witness, upper) = found(a, sigma, classes, votes);
            assert_eq!(witness.histogram.counts().iter().sum::<u64>(), votes);
            assert_eq!(witness.histogram.classes(), classes);
            let share = witness.divergence / upper;
            println!("{a} {sigma} {classes} {votes}: {} {share}", witness.histogram);
            assert!(share > 0.994 && share < 1.0, "{a} {sigma} {classes} {votes}: {share} {}", witness.histogram);
        }
        // Ten classes reach slightly more than two.
        assert!(found(2.0, 40.0, 10, 2_000).0.divergence > found(2.0, 40.0, 2, 2_000).0.divergence);
    }

    #[test]
    fn few_votes_and_classes() {
        for (classes, votes) in [(2, 1), (2, 2), (3, 1), (1_000, 1), (1_000, 7), (2, 1 << 53)] {
            let (witness, upper) = found(2.0, 40.0, classes, votes);
            assert!(witness.divergence > 0.0 && witness.divergence < upper);
        }
        let (order, sigma) = (Order::new(2.0).unwrap(), NoiseScale::new(1.0).unwrap());
        for (classes, votes) in [(1, 5), (0, 5), (10_001, 5), (2, 0), (2, u64::MAX)] {
            assert!(gnmax_worst_histogram(order, sigma, classes, votes).is_err());
        }
    }
}
