//! The distribution of canary scores if a claim leaks as much as it allows.

use crate::divergence::LossQuantiles;
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// The scores that the best attacker obtains from a training with a given trade-off, if it leaks everything it may
/// about each canary and canaries do not disturb each other.
///
/// This is the most that a claim allows: an audit of a training that satisfies the claim finds less, except by luck. An
/// attacker who sees every noisy gradient, with canaries whose gradients are orthogonal and as long as the clipping
/// norm, comes close to it; one who sees only the last model does not.
#[derive(Debug, Clone)]
pub enum CanaryScoreModel {
    /// μ-GDP: scores of members are normal around μ, those of others around 0.
    Gaussian(GdpScores),
    /// (ε, δ)-DP and no more: a canary is revealed with probability δ, and otherwise by randomized response of ε.
    Approximate {
        /// ε, finite.
        epsilon: Epsilon,
        /// δ.
        delta: Delta,
    },
    /// The privacy loss of a mechanism run many times, with the canary (P) and without it (Q).
    Losses(LossQuantiles),
}

/// Normal scores at distance μ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GdpScores(f64);

impl CanaryScoreModel {
    /// The scores under μ-GDP.
    ///
    /// # Errors
    /// [`Error::Domain`] unless 0 ≤ μ < ∞.
    pub fn gaussian(mu: f64) -> Result<Self> {
        Error::check_domain((0.0..f64::INFINITY).contains(&mu), "mu", mu, "[0, inf)")?;
        Ok(Self::Gaussian(GdpScores(mu)))
    }

    /// The score of a canary.
    pub(super) fn draw(&self, member: bool, stream: &mut impl Rng) -> f64 {
        match self {
            Self::Gaussian(GdpScores(mu)) => {
                let normal: f64 = StandardNormal.sample(stream);
                if member { normal + mu } else { normal }
            }
            Self::Approximate { epsilon, delta } => {
                let sign = if member { 1.0 } else { -1.0 };
                if stream.random::<f64>() < delta.get() {
                    return sign * f64::INFINITY;
                }
                let lie = 1.0 / (1.0 + libm::exp(epsilon.get()));
                if stream.random::<f64>() < lie { -sign * epsilon.get() } else { sign * epsilon.get() }
            }
            Self::Losses(losses) => {
                let uniform = stream.random();
                if member { losses.under_p(uniform) } else { losses.under_q(uniform) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn share(model: &CanaryScoreModel, member: bool, counts: impl Fn(f64) -> bool) -> f64 {
        let mut stream = ChaCha8Rng::seed_from_u64(6);
        (0..20_000).filter(|_| counts(model.draw(member, &mut stream))).count() as f64 / 20_000.0
    }

    /// Shares of 20,000 draws within 0.018, five standard errors of a half.
    #[test]
    fn draws_have_the_distributions_of_the_claims() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 0.018, "{found} {expected}");
        let gaussian = CanaryScoreModel::gaussian(1.0).unwrap();
        close(share(&gaussian, true, |score| score > 1.0), 0.5);
        close(share(&gaussian, false, |score| score > 1.0), 0.158_655);
        let approximate =
            CanaryScoreModel::Approximate { epsilon: Epsilon::new(1.0).unwrap(), delta: Delta::new(0.1).unwrap() };
        close(share(&approximate, true, |score| score == f64::INFINITY), 0.1);
        close(share(&approximate, true, |score| score == 1.0), 0.9 * 0.731_059);
        close(share(&approximate, false, |score| score == -1.0), 0.9 * 0.731_059);
        assert!(CanaryScoreModel::gaussian(f64::NAN).is_err() && CanaryScoreModel::gaussian(f64::INFINITY).is_err());
    }
}
