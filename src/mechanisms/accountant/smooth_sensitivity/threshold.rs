//! The local sensitivities of the cost of a threshold test.

use super::MAX_VOTES;
use crate::accountant::confident::threshold_data_dependent;
use crate::distribution::{ThresholdForm, ThresholdTest};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::quantity::Order;

/// Upper bounds on the local sensitivity at distance d = 0, 1, ..., k of the data-dependent cost of a threshold test
/// with one noise on the maximum, by [`threshold_data_dependent`](crate::accountant::threshold_data_dependent).
///
/// The cost f is a function of the largest count v, which a moved vote changes by at most 1: within d moves it lies in
/// [v - d, v + d], and its neighbors' costs are f(v ± 1). The values do not decrease with d.
///
/// # Errors
/// [`Error::Rejected`] for noise per class, whose cost depends on all counts, and for more than 10⁷ votes.
///
/// ```
/// # use leakbound::accountant::threshold_local_sensitivities;
/// # use leakbound::distribution::{ThresholdForm, ThresholdTest};
/// # use leakbound::prelude::*;
/// let test = ThresholdTest::new(200.0, NoiseScale::new(20.0)?, ThresholdForm::Max)?;
/// let local = threshold_local_sensitivities(Order::new(4.0)?, &test, &VoteHistogram::new(vec![120, 130])?)?;
/// // The cost is steepest near the threshold, 70 moves away.
/// assert!(local[70] > 10.0 * local[0] && local[250] == local[120]);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Papernot et al. (2018), "Scalable private learning with PATE", appendix B.5.
pub fn threshold_local_sensitivities(
    order: Order,
    test: &ThresholdTest,
    histogram: &VoteHistogram,
) -> Result<Vec<f64>> {
    let operation = "local sensitivity of a threshold test";
    let reason = "with noise per class the cost depends on all counts, not on the largest alone";
    Error::check_possible(test.form() != ThresholdForm::PerClass, operation, reason)?;
    let total = histogram.counts().iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    let reason = format_args!("{total} votes; at most {MAX_VOTES} are tried one by one");
    Error::check_possible(total <= MAX_VOTES, operation, reason)?;
    let costs: Vec<f64> = (0..=total)
        .map(|count| {
            let odds = test.odds(&VoteHistogram::new(vec![count])?);
            Ok(threshold_data_dependent(order, test.sigma(), odds.log_q()))
        })
        .collect::<Result<_>>()?;
    let steps: Vec<f64> = costs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let largest = histogram.counts().iter().copied().max().unwrap_or(0) as usize;
    let mut local = Vec::with_capacity(costs.len());
    let mut most: f64 = 0.0;
    for d in 0..costs.len() {
        // One step further on either side than at the previous distance.
        let down = largest.checked_sub(d + 1).and_then(|index| steps.get(index));
        let up = steps.get(largest + d);
        most = down.into_iter().chain(up).fold(most, |most, step| most.max(*step));
        local.push(most);
    }
    Ok(local)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::VoteChange;
    use crate::quantity::NoiseScale;
    use std::collections::BTreeSet;

    /// Compared with all histograms within d moves, found by breadth-first search.
    #[test]
    fn bounds_hold_for_small_histograms() {
        let order = Order::new(3.0).unwrap();
        for (counts, threshold, sigma) in [
            (vec![4, 3, 1], 6.0, 1.0),
            (vec![9, 0], 3.5, 0.7),
            (vec![2, 2, 2, 2], 5.0, 2.0),
            (vec![2, 2, 2, 2], 7.5, 0.6),
        ] {
            let test = ThresholdTest::new(threshold, NoiseScale::new(sigma).unwrap(), ThresholdForm::Max).unwrap();
            let cost = |votes: &VoteHistogram| threshold_data_dependent(order, test.sigma(), test.odds(votes).log_q());
            let start = VoteHistogram::new(counts).unwrap();
            let bounds = threshold_local_sensitivities(order, &test, &start).unwrap();
            let mut reached: BTreeSet<Vec<u64>> = [start.counts().to_vec()].into();
            for bound in bounds {
                let mut next = reached.clone();
                let mut most: f64 = 0.0;
                for counts in &reached {
                    let votes = VoteHistogram::new(counts.clone()).unwrap();
                    for change in votes.neighbors(VoteChange::Moved) {
                        let neighbor = votes.neighbor(change).unwrap();
                        most = most.max((cost(&neighbor) - cost(&votes)).abs());
                        let mut sorted = neighbor.counts().to_vec();
                        sorted.sort_unstable();
                        next.insert(sorted);
                    }
                }
                assert!(most <= bound * (1.0 + 1e-12), "{start} {most} {bound}");
                reached = next;
            }
        }
    }

    #[test]
    fn noise_per_class_is_rejected() {
        let test = ThresholdTest::new(3.0, NoiseScale::new(1.0).unwrap(), ThresholdForm::PerClass).unwrap();
        let votes = VoteHistogram::new(vec![3, 1]).unwrap();
        assert!(threshold_local_sensitivities(Order::new(2.0).unwrap(), &test, &votes).is_err());
    }
}
