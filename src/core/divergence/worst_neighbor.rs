//! The supremum over all one-vote changes of a given histogram, and the change that attains it.

use super::{hockey_stick, renyi_divergence};
use crate::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use crate::error::{Error, Result};
use crate::histogram::{Neighbor, VoteChange, VoteHistogram};
use crate::quantity::{Epsilon, Order};
use rayon::prelude::*;

/// The largest number of neighbors searched: a histogram of 200 classes with different counts has 39,800.
const MAX_NEIGHBORS: u64 = 50_000;

/// Rejects a search over no neighbors or too many.
pub fn searched(neighbors: u64) -> Result<()> {
    if (1..=MAX_NEIGHBORS).contains(&neighbors) {
        return Ok(());
    }
    let neighbors = if neighbors == u64::MAX { "too many".to_owned() } else { neighbors.to_string() };
    let reason = format!("the histogram has {neighbors} different neighbors; 1 to {MAX_NEIGHBORS} are searched");
    Err(Error::rejected("worst neighbor", reason))
}

/// The largest value over all neighbors, with the first change that attains it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Supremum {
    /// The largest value.
    pub value: f64,
    /// The change that attains it.
    pub change: Neighbor,
}

/// Suprema over all one-vote changes: `renyi[i]` at the i-th order, `hockey_stick[i]` at the i-th ε, each forward then
/// reverse.
#[derive(Debug, Clone, PartialEq)]
pub struct WorstNeighbors {
    /// The suprema of D_α, by order.
    pub renyi: Vec<[Supremum; 2]>,
    /// The suprema of δ(ε), by ε.
    pub hockey_stick: Vec<[Supremum; 2]>,
    /// Number of different neighbors; classes with equal counts are exchangeable.
    pub neighbors: usize,
}

/// Searches all one-vote changes of a histogram, one for each pair of distinct counts.
///
/// The search is exhaustive, so the suprema are exact for this histogram, but not a supremum over all histograms.
///
/// # Errors
/// [`Error::Rejected`] if there is no neighbor (a single class cannot lose a vote to another) or more than 50,000; as
/// [`noisy_argmax_distribution`].
///
/// # Example
/// ```
/// # use leakbound::divergence::worst_neighbors;
/// # use leakbound::prelude::*;
/// let histogram = VoteHistogram::new(vec![14, 12, 10, 8, 6])?;
/// let worst = worst_neighbors(&histogram, VoteChange::Moved, "gaussian:2".parse()?, &[Order::new(2.0)?], &[])?;
/// assert_eq!(worst.neighbors, 20);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn worst_neighbors(
    histogram: &VoteHistogram,
    kind: VoteChange,
    noise: Noise,
    orders: &[Order],
    epsilons: &[Epsilon],
) -> Result<WorstNeighbors> {
    worst_neighbors_of(histogram, kind, |votes| noisy_argmax_distribution(votes, noise), orders, epsilons)
}

/// The same for any mechanism of the votes, given the `distribution` of its outputs. It must treat classes alike, so
/// that a change between classes of equal counts represents all of them.
///
/// # Errors
/// As [`worst_neighbors`], and those of `distribution`.
///
/// # Example
/// ```
/// # use leakbound::divergence::worst_neighbors_of;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest, confident_argmax_distribution};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(12.0, NoiseScale::new(3.0)?, ThresholdForm::Max)?;
/// let distribution = |votes: &VoteHistogram| confident_argmax_distribution(votes, &test, "gaussian:2".parse()?);
/// let histogram = VoteHistogram::new(vec![14, 12, 10, 8, 6])?;
/// let worst = worst_neighbors_of(&histogram, VoteChange::Moved, distribution, &[Order::new(2.0)?], &[])?;
/// assert!(worst.renyi[0][0].value < 2.0 / 18.0 + 2.0 / 4.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn worst_neighbors_of(
    histogram: &VoteHistogram,
    kind: VoteChange,
    distribution_of: impl Fn(&VoteHistogram) -> Result<OutcomeDistribution> + Sync,
    orders: &[Order],
    epsilons: &[Epsilon],
) -> Result<WorstNeighbors> {
    let changes = histogram.neighbors(kind);
    searched(changes.len() as u64)?;
    let distribution = distribution_of(histogram)?;
    let suprema = changes
        .par_iter()
        .map(|&change| {
            let other = distribution_of(&histogram.neighbor(change)?)?;
            let both = |value: &dyn Fn(&OutcomeDistribution, &OutcomeDistribution) -> Result<f64>| {
                let of = |value| Supremum { value, change };
                Ok([of(value(&distribution, &other)?), of(value(&other, &distribution)?)])
            };
            let renyi = orders.iter().map(|&order| both(&|p, q| renyi_divergence(p, q, order)));
            let sticks = epsilons.iter().map(|&epsilon| both(&|p, q| hockey_stick(p, q, epsilon)));
            renyi.chain(sticks).collect::<Result<Vec<[Supremum; 2]>>>()
        })
        // Many neighbors at many orders are many values, so only the largest are kept, the first one in a tie.
        .try_reduce_with(|mut first, next| {
            for (best, next) in first.iter_mut().flatten().zip(next.into_iter().flatten()) {
                if next.value > best.value {
                    *best = next;
                }
            }
            Ok(first)
        });
    let mut renyi = suprema.transpose()?.unwrap_or_default();
    let hockey_stick = renyi.split_off(orders.len());
    Ok(WorstNeighbors { renyi, hockey_stick, neighbors: changes.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_of_any_pair_of_classes_beats_the_representatives() {
        let histogram = VoteHistogram::new(vec![5, 3, 3, 0]).unwrap();
        let noise: Noise = "gaussian:1.5".parse().unwrap();
        let order = Order::new(4.0).unwrap();
        let worst = worst_neighbors(&histogram, VoteChange::Moved, noise, &[order], &[]).unwrap();
        let distribution = noisy_argmax_distribution(&histogram, noise).unwrap();
        let mut best: f64 = 0.0;
        for from in 0..4 {
            for to in 0..4 {
                if let Ok(neighbor) = histogram.neighbor(Neighbor::Moved { from, to }) {
                    let other = noisy_argmax_distribution(&neighbor, noise).unwrap();
                    best = best.max(renyi_divergence(&distribution, &other, order).unwrap());
                }
            }
        }
        assert!((worst.renyi[0][0].value / best - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_single_class_has_no_moved_neighbor() {
        let histogram = VoteHistogram::new(vec![5]).unwrap();
        let noise = "gaussian:1".parse().unwrap();
        assert!(worst_neighbors(&histogram, VoteChange::Moved, noise, &[], &[]).is_err());
    }
}
