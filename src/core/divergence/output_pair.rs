//! Divergences of an output pair, in a direction.

use super::{PrivacyLoss, TestPower, epsilon, hockey_stick, privacy_loss, renyi};
use crate::bound::Direction;
use crate::distribution::OutputPair;
use crate::quantity::{Delta, Epsilon, Order};

impl OutputPair {
    /// D_α of the pair in a direction, in nats: [`renyi_divergence`](crate::divergence::renyi_divergence).
    #[must_use]
    pub fn renyi(&self, direction: Direction, order: Order) -> f64 {
        let [p, q] = self.in_direction(direction);
        renyi::of_same_outcomes(p, q, order)
    }

    /// The larger D_α of both directions, in nats.
    #[must_use]
    pub fn largest_renyi(&self, order: Order) -> f64 {
        self.renyi(Direction::Forward, order).max(self.renyi(Direction::Reverse, order))
    }

    /// δ(ε) of the pair in a direction: [`hockey_stick`](crate::divergence::hockey_stick).
    #[must_use]
    pub fn delta(&self, direction: Direction, epsilon: Epsilon) -> f64 {
        let [p, q] = self.in_direction(direction);
        hockey_stick::of_same_outcomes(p, q, epsilon)
    }

    /// The smallest ε with δ(ε) ≤ δ in a direction: [`epsilon_at_delta`](crate::divergence::epsilon_at_delta).
    #[must_use]
    pub fn epsilon(&self, direction: Direction, delta: Delta) -> Epsilon {
        let [p, q] = self.in_direction(direction);
        epsilon::of_same_outcomes(p, q, delta)
    }

    /// The smallest μ for which the pair is μ-GDP, the same in both directions:
    /// [`gdp_of_distributions`](crate::divergence::gdp_of_distributions).
    #[must_use]
    pub fn mu(&self) -> f64 {
        epsilon::mu_of_same_outcomes(self.dataset(), self.neighbor())
    }

    /// The power of the best test in a direction, which calls an output positive if it is likelier under the first
    /// distribution of that direction.
    #[must_use]
    pub fn test_power(&self, direction: Direction) -> TestPower {
        let [p, q] = self.in_direction(direction);
        TestPower::of_same_outcomes(p, q)
    }

    /// The distribution of the privacy loss in a direction.
    #[must_use]
    pub fn privacy_loss(&self, direction: Direction) -> PrivacyLoss {
        let [p, q] = self.in_direction(direction);
        privacy_loss::of_same_outcomes(p, q)
    }
}
