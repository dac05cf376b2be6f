//! What noise has to achieve.

use crate::bound::Direction;
use crate::divergence::{CertifiedProfile, gaussian_sigma, gdp_delta};
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon, NoiseScale, Probability};
use crate::study::number::short;
use std::fmt;

/// A guarantee that a mechanism is to have, against every neighbor and in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// (ε, δ)-differential privacy.
    Epsilon {
        /// ε.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// μ-Gaussian differential privacy, up to a δ of [`Goal::SLACK`].
    Mu(f64),
    /// No attacker with this false-positive rate has a larger true-positive rate.
    TruePositiveRate {
        /// The largest true-positive rate, above the false-positive rate and below 1.
        most: Probability,
        /// The false-positive rate, between 0 and 1.
        rate: Probability,
    },
    /// No attacker's true-positive rate exceeds its false-positive rate by more than this.
    Advantage(Probability),
    /// Among the people that an attacker with this false-positive rate accuses, the share of members is at most this.
    Posterior {
        /// The largest share, above the prior and below 1.
        most: Probability,
        /// The share of members among all people that the attacker considers, between 0 and 1.
        prior: Probability,
        /// The false-positive rate, between 0 and 1.
        rate: Probability,
    },
}

/// What a goal demands of a trade-off curve or a profile.
#[derive(Debug, Clone, Copy)]
enum Demand {
    /// δ at ε.
    Delta(Epsilon, f64),
    Mu(f64),
    /// The largest true-positive rate at a false-positive rate.
    Rate(f64, Probability),
}

impl Goal {
    /// By how much δ(ε) may be above that of μ-GDP. Further out in the tails a profile is known to rounding only.
    pub const SLACK: f64 = 1e-10;

    /// Checks that the goal is not trivial and can be met.
    ///
    /// # Errors
    /// [`Error::Rejected`] otherwise.
    pub fn check(&self) -> Result<()> {
        let between = |value: f64, low: f64, what: &str, above: &str| {
            if value > low && value < 1.0 {
                return Ok(());
            }
            let above = if above.is_empty() { short(low) } else { format!("{above} = {}", short(low)) };
            let reason = format!("{what} = {} is not between {above} and 1", short(value));
            Err(Error::Rejected { operation: "calibrate", reason })
        };
        match *self {
            Self::Epsilon { epsilon, .. } if epsilon == Epsilon::INFINITE => {
                let reason = "an infinite ε is no guarantee; choose a finite one".into();
                Err(Error::Rejected { operation: "calibrate", reason })
            }
            Self::Epsilon { .. } => Ok(()),
            Self::Mu(mu) if mu > 0.0 && mu.is_finite() => Ok(()),
            Self::Mu(mu) => Err(Error::Domain { quantity: "mu", value: mu, domain: "(0, inf)" }),
            Self::TruePositiveRate { most, rate } => {
                between(rate.get(), 0.0, "false-positive rate", "")?;
                between(most.get(), rate.get(), "true-positive rate", "the false-positive rate")
            }
            Self::Advantage(most) => between(most.get(), 0.0, "advantage", ""),
            Self::Posterior { most, prior, rate } => {
                between(rate.get(), 0.0, "false-positive rate", "")?;
                between(prior.get(), 0.0, "prior", "")?;
                between(most.get(), prior.get(), "posterior", "the prior")?;
                let reason = format_args!(
                    "a posterior of {} holds for every attacker with a false-positive rate of {}, without noise",
                    short(most.get()),
                    short(rate.get())
                );
                Error::check_possible(rate_of(most, prior, rate) < 1.0, "calibrate", reason)
            }
        }
    }

    /// About the noise of a Gaussian mechanism that meets the goal, where a search begins; NaN for ε at δ = 0.
    pub(super) fn gaussian_sigma(&self) -> f64 {
        let sigma = |epsilon, delta| Delta::new(delta).and_then(|delta| gaussian_sigma(epsilon, delta));
        match self.demand() {
            Demand::Delta(epsilon, delta) => sigma(epsilon, delta).map_or(f64::NAN, NoiseScale::get),
            Demand::Mu(mu) => mu.recip(),
            Demand::Rate(most, rate) => sigma(Epsilon::ZERO, most - rate.get()).map_or(f64::NAN, NoiseScale::get),
        }
    }

    /// The values of δ around which a profile has to be known well.
    pub(super) fn deltas(&self) -> Vec<f64> {
        match self.demand() {
            Demand::Delta(_, delta) if delta > 0.0 => vec![delta],
            // As small as the smallest that a user may mean.
            Demand::Delta(..) => vec![1e-12],
            // At a δ above that of ε = 0 there is nothing to know, and an enclosure of ε = 0 is never narrow.
            Demand::Mu(mu) => {
                let largest = gdp_delta(mu, Epsilon::ZERO).unwrap_or(1.0).max(Self::SLACK);
                [(1e-9, 1e-6), (1e-6, 1e-3), (1e-3, 0.03), (0.05, 0.5)]
                    .map(|(delta, share)| (largest * share).min(delta))
                    .to_vec()
            }
            Demand::Rate(most, rate) => vec![0.3 * most, 0.03 * most, rate.get().min(0.5)],
        }
    }

    /// Whether the goal is certainly met.
    pub(super) fn is_met(&self, profile: &CertifiedProfile) -> Result<bool> {
        match self.demand() {
            Demand::Delta(epsilon, delta) => {
                let [forward, reverse] = Direction::BOTH.map(|direction| profile.delta(direction, epsilon));
                Ok(forward?.upper <= delta && reverse?.upper <= delta)
            }
            Demand::Mu(mu) => profile.is_gaussian(mu, Self::SLACK),
            Demand::Rate(most, rate) => {
                let [forward, reverse] = Direction::BOTH.map(|side| profile.true_positive_rate(side, rate));
                Ok(forward?.max(reverse?) <= most)
            }
        }
    }

    /// Whether the goal is certainly missed.
    pub(super) fn is_missed(&self, profile: &CertifiedProfile) -> Result<bool> {
        match self.demand() {
            Demand::Delta(epsilon, delta) => {
                let [forward, reverse] = Direction::BOTH.map(|direction| profile.delta(direction, epsilon));
                Ok(forward?.lower > delta || reverse?.lower > delta)
            }
            Demand::Mu(mu) => profile.is_not_gaussian(mu, Self::SLACK),
            Demand::Rate(most, rate) => {
                let [forward, reverse] = Direction::BOTH.map(|side| profile.some_rate_is_above(side, rate, most));
                Ok(forward? || reverse?)
            }
        }
    }

    /// ε of a goal without a δ.
    pub(super) fn without_delta(&self) -> Option<Epsilon> {
        match *self {
            Self::Epsilon { epsilon, delta } => (delta.get() == 0.0).then_some(epsilon),
            Self::Mu(_) | Self::TruePositiveRate { .. } | Self::Advantage(_) | Self::Posterior { .. } => None,
        }
    }

    fn demand(&self) -> Demand {
        match *self {
            Self::Epsilon { epsilon, delta } => Demand::Delta(epsilon, delta.get()),
            Self::Mu(mu) => Demand::Mu(mu),
            Self::TruePositiveRate { most, rate } => Demand::Rate(most.get(), rate),
            // The largest difference of the two rates is the total variation distance, δ(0).
            Self::Advantage(most) => Demand::Delta(Epsilon::ZERO, most.get()),
            Self::Posterior { most, prior, rate } => Demand::Rate(rate_of(most, prior, rate), rate),
        }
    }
}

/// The true-positive rate t at which πt/(πt + (1 - π)f) is the posterior.
fn rate_of(most: Probability, prior: Probability, rate: Probability) -> f64 {
    let odds = |share: Probability| share.get() / (1.0 - share.get());
    odds(most) / odds(prior) * rate.get()
}

impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Epsilon { epsilon, delta } => {
                write!(formatter, "ε ≤ {} at δ = {}", short(epsilon.get()), short(delta.get()))
            }
            Self::Mu(mu) => write!(formatter, "μ ≤ {}", short(mu)),
            Self::TruePositiveRate { most, rate } => {
                write!(formatter, "TPR ≤ {} at FPR = {}", short(most.get()), short(rate.get()))
            }
            Self::Advantage(most) => write!(formatter, "advantage ≤ {}", short(most.get())),
            Self::Posterior { most, prior, rate } => write!(
                formatter,
                "posterior ≤ {} with prior {} at FPR = {}",
                short(most.get()),
                short(prior.get()),
                short(rate.get())
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn goals_that_promise_nothing_or_cannot_be_met_are_rejected() {
        let [half, low, one] = [0.5, 0.1, 1.0].map(share);
        for (goal, words) in [
            (
                Goal::Epsilon { epsilon: Epsilon::INFINITE, delta: Delta::new(0.0).unwrap() },
                "an infinite ε is no guarantee; choose a finite one",
            ),
            (Goal::Mu(0.0), "mu = 0 is not in (0, inf)"),
            (Goal::Mu(f64::NAN), "mu = NaN"),
            (
                Goal::TruePositiveRate { most: low, rate: half },
                "0.1 is not between the false-positive rate = 0.5 and 1",
            ),
            (Goal::TruePositiveRate { most: one, rate: half }, "1 is not between"),
            (Goal::TruePositiveRate { most: half, rate: share(0.0) }, "false-positive rate = 0 is not between 0"),
            (Goal::Advantage(share(0.0)), "advantage = 0 is not between"),
            (Goal::Posterior { most: low, prior: half, rate: low }, "posterior = 0.1 is not between the prior = 0.5"),
            (Goal::Posterior { most: share(0.95), prior: half, rate: low }, "holds for every attacker"),
        ] {
            let error = goal.check().unwrap_err().to_string();
            assert!(error.contains(words), "{goal:?}: {error}");
        }
        assert!(Goal::Posterior { most: share(0.6), prior: half, rate: low }.check().is_ok());
    }

    /// For μ = 1 everything is known: Φ(Φ⁻¹(f) + 1) and 2Φ(1/2) - 1.
    #[test]
    fn goals_are_met_and_missed_on_either_side_of_the_truth() {
        let profile = CertifiedProfile::gaussian(1.0).unwrap();
        let (tpr, advantage, delta) = (0.092_365_717_9, 0.382_924_922_5, 0.126_936_737_5);
        let posterior = tpr / (tpr + 0.01);
        let epsilon = Epsilon::new(1.0).unwrap();
        let goal = |factor: f64| {
            let (prior, rate) = (share(0.5), share(0.01));
            [
                Goal::Epsilon { epsilon, delta: Delta::new(delta * factor).unwrap() },
                Goal::Mu(factor),
                Goal::TruePositiveRate { most: share(tpr * factor), rate },
                Goal::Advantage(share(advantage * factor)),
                Goal::Posterior { most: share(posterior * factor), prior, rate },
            ]
        };
        for (met, missed) in goal(1.001).iter().zip(goal(0.999)) {
            assert!(met.is_met(&profile).unwrap() && !met.is_missed(&profile).unwrap(), "{met}");
            assert!(!missed.is_met(&profile).unwrap() && missed.is_missed(&profile).unwrap(), "{missed}");
        }
    }
}
