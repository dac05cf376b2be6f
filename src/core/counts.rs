//! Recorded outputs as counts: how often each outcome was seen under a dataset and under its neighbor.

use crate::error::{Error, Result, count_above};
use serde::{Deserialize, Serialize};

/// The largest count accepted, 2^53: a double does not hold every whole number above it.
pub const MAX_COUNT: u64 = 1 << 53;

/// Counts of the same outcomes under a dataset S (`counts`) and its neighbor S' (`counts_neighbor`).
///
/// `labels`, `counts` and `counts_neighbor` have one entry per outcome. The two worlds may have been sampled a
/// different number of times, each at least once.
///
/// ```
/// # use leakbound::counts::PairedCounts;
/// let counts = PairedCounts::new(vec!["a".into(), "b".into()], vec![60, 40], vec![50, 50])?;
/// assert_eq!((counts.trials(), counts.trials_neighbor()), (100, 100));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairedCounts {
    labels: Vec<String>,
    counts: Vec<u64>,
    counts_neighbor: Vec<u64>,
}

/// The sum of the counts of a world, between 1 and 2^53.
pub(crate) fn checked_total(counts: &[u64], quantity: &'static str) -> Result<u64> {
    let total = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
    Error::check_domain((1..=MAX_COUNT).contains(&total), quantity, count_above(total), "[1, 2^53]")?;
    Ok(total)
}

impl PairedCounts {
    /// Checks and stores the counts of both worlds.
    ///
    /// # Errors
    /// [`Error::Length`] when the lengths differ or are zero, [`Error::Domain`] when a world has no sample or a total
    /// above 2^53.
    pub fn new(labels: Vec<String>, counts: Vec<u64>, counts_neighbor: Vec<u64>) -> Result<Self> {
        Error::check_length(!counts.is_empty(), "counts", 0, "at least 1 outcome")?;
        for (quantity, found) in [("labels", labels.len()), ("neighbor counts", counts_neighbor.len())] {
            Error::check_size(quantity, found, counts.len(), "")?;
        }
        checked_total(&counts, "samples of the dataset")?;
        checked_total(&counts_neighbor, "samples of the neighbor")?;
        Ok(Self { labels, counts, counts_neighbor })
    }

    /// Names of the outcomes.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Counts under the dataset S.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Counts under the neighbor S'.
    #[must_use]
    pub fn counts_neighbor(&self) -> &[u64] {
        &self.counts_neighbor
    }

    /// Number of outcomes.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        self.counts.len()
    }

    /// Samples taken under S.
    #[must_use]
    pub fn trials(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Samples taken under S'.
    #[must_use]
    pub fn trials_neighbor(&self) -> u64 {
        self.counts_neighbor.iter().sum()
    }

    /// Number of different outcomes seen in either world.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.counts.iter().zip(&self.counts_neighbor).filter(|(count, neighbor)| **count + **neighbor > 0).count()
    }

    /// Whether nearly every output differs from all others: at least 20 outputs, and at least nine different outcomes
    /// for every ten of them. Then no outcome is seen often enough to prove anything about its probability.
    ///
    /// ```
    /// # use leakbound::counts::PairedCounts;
    /// let labels = (0..40).map(|outcome| outcome.to_string()).collect();
    /// let counts = PairedCounts::new(labels, [vec![1; 20], vec![0; 20]].concat(), [vec![0; 20], vec![1; 20]].concat())?;
    /// assert!(counts.hardly_repeats());
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn hardly_repeats(&self) -> bool {
        hardly_repeats(self.seen() as u64, self.trials().saturating_add(self.trials_neighbor()))
    }
}

/// Whether this many outputs, with this many different outcomes, hardly ever repeat one.
#[must_use]
#[doc(hidden)]
pub fn hardly_repeats(outcomes: u64, outputs: u64) -> bool {
    outputs >= 20 && outcomes >= outputs - outputs / 10
}
