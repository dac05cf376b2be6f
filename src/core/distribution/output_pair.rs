//! The output distributions of one mechanism under a dataset and under its neighbor.

use super::OutcomeDistribution;
use crate::bound::Direction;
use crate::error::{Error, Result};

/// The output distributions P under a dataset and Q under its neighbor, on the same outcomes.
///
/// Questions about both worlds take a [`Direction`], so no caller can swap P and Q.
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::distribution::{Noise, OutputPair, noisy_argmax_distribution};
/// # use leakbound::quantity::Order;
/// let noise: Noise = "laplace:0.5".parse()?;
/// let distribution = |counts: [u64; 2]| noisy_argmax_distribution(&VoteHistogram::new(counts.to_vec())?, noise);
/// let pair = OutputPair::new(distribution([6, 0])?, distribution([5, 1])?)?;
/// // The neighbor, with its narrower lead, leaks far more.
/// let order = Order::new(2.0)?;
/// assert!(pair.renyi(Direction::Reverse, order) > 10.0 * pair.renyi(Direction::Forward, order));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OutputPair {
    distributions: [OutcomeDistribution; 2],
}

impl OutputPair {
    /// From the distributions under the dataset and under its neighbor.
    ///
    /// # Errors
    /// [`Error::Length`] when they have different numbers of outcomes.
    pub fn new(dataset: OutcomeDistribution, neighbor: OutcomeDistribution) -> Result<Self> {
        Error::check_size(
            "output distribution of the neighbor",
            neighbor.outcomes(),
            dataset.outcomes(),
            " outcomes, as the other distribution",
        )?;
        Ok(Self { distributions: [dataset, neighbor] })
    }

    /// Number of outcomes.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        self.distributions[0].outcomes()
    }

    /// The distribution under the dataset.
    #[must_use]
    pub const fn dataset(&self) -> &OutcomeDistribution {
        &self.distributions[0]
    }

    /// The distribution under the neighbor.
    #[must_use]
    pub const fn neighbor(&self) -> &OutcomeDistribution {
        &self.distributions[1]
    }

    /// The distribution that comes first in a divergence of this direction, and the other one.
    #[must_use]
    pub const fn in_direction(&self, direction: Direction) -> [&OutcomeDistribution; 2] {
        let [dataset, neighbor] = &self.distributions;
        direction.ordered([dataset, neighbor])
    }

    /// The distributions under the dataset and under its neighbor.
    #[must_use]
    pub fn into_distributions(self) -> [OutcomeDistribution; 2] {
        self.distributions
    }

    /// The larger of the relative errors of the two distributions.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.distributions[0].error().max(self.distributions[1].error())
    }
}
