//! Pairs of distributions that the audits of this package are tried on.

use leakbound::Result;
use leakbound::audit::{AuditPlan, Method};
use leakbound::bound::Direction;
use leakbound::distribution::{Noise, OutcomeDistribution, noisy_argmax_distribution};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Delta, FailureProbability, NoiseScale, Order};

/// Votes, votes of the neighbor, and the standard deviation of the Gaussian noise.
#[derive(Debug, Clone, Copy)]
pub struct AuditCase {
    /// Name in tables.
    pub name: &'static str,
    /// The dataset's votes.
    pub votes: &'static [u64],
    /// The neighbor's votes.
    pub neighbor: &'static [u64],
    /// Standard deviation of the noise, in votes.
    pub sigma: f64,
}

/// The histograms of figure 6 of Chadha et al. (2024).
pub const FIGURE_6: AuditCase =
    AuditCase { name: "figure 6", votes: &[14, 12, 10, 8, 6], neighbor: &[13, 13, 10, 8, 6], sigma: 2.0 };
/// Two classes of 250 votes, tied.
pub const TIE: AuditCase = AuditCase { name: "tie, C = 2", votes: &[125, 125], neighbor: &[124, 126], sigma: 40.0 };
/// Five classes of 250 votes, two of them close.
pub const FIVE: AuditCase =
    AuditCase { name: "close, C = 5", votes: &[90, 88, 40, 20, 12], neighbor: &[89, 89, 40, 20, 12], sigma: 40.0 };
/// Ten classes of 250 votes. The notes name the three largest counts only.
pub const TEN: AuditCase = AuditCase {
    name: "close, C = 10",
    votes: &[70, 66, 40, 30, 20, 10, 6, 4, 3, 1],
    neighbor: &[69, 67, 40, 30, 20, 10, 6, 4, 3, 1],
    sigma: 40.0,
};

/// The failure probability of every audit.
pub const FAILURE: f64 = 0.05;

/// A plan of both directions at δ = 0, with seed 0 and 1000 resamples.
///
/// # Errors
/// None.
pub fn plan(orders: Vec<Order>, methods: Vec<Method>) -> Result<AuditPlan> {
    Ok(AuditPlan {
        orders,
        delta: Delta::new(0.0)?,
        failure: FailureProbability::new(FAILURE)?,
        methods,
        directions: Direction::BOTH.to_vec(),
        seed: 0,
        resamples: 1000,
    })
}

impl AuditCase {
    /// The distributions of both worlds.
    ///
    /// # Errors
    /// None for the cases of this file.
    pub fn distributions(&self) -> Result<[OutcomeDistribution; 2]> {
        let noise = Noise::Gaussian(NoiseScale::new(self.sigma)?);
        Ok([
            noisy_argmax_distribution(&VoteHistogram::new(self.votes.to_vec())?, noise)?,
            noisy_argmax_distribution(&VoteHistogram::new(self.neighbor.to_vec())?, noise)?,
        ])
    }
}
