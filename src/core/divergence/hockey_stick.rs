//! The privacy profile of a pair of distributions.

use super::{Pair, same_outcomes};
use crate::distribution::OutcomeDistribution;
use crate::error::Result;
use crate::quantity::Epsilon;
use crate::special::CompensatedSum;

/// δ(ε) = Σ max(0, p_i - e^ε q_i): the smallest δ for which the pair (P, Q) satisfies (ε, δ)-DP in this direction.
///
/// Computed as p (-expm1(ε - l)) with l = ln p - ln q, which does not cancel when l is close to ε.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the distributions have different numbers of outcomes.
///
/// # Example
/// ```
/// # use leakbound::divergence::hockey_stick;
/// # use leakbound::distribution::OutcomeDistribution;
/// # use leakbound::quantity::Epsilon;
/// let (p, q) = (OutcomeDistribution::from_probabilities(&[0.5, 0.5])?, OutcomeDistribution::from_probabilities(&[0.25, 0.75])?);
/// assert_eq!(hockey_stick(&p, &q, Epsilon::new(0.0)?)?, 0.25);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling", Theorem 1.
pub fn hockey_stick(p: &OutcomeDistribution, q: &OutcomeDistribution, epsilon: Epsilon) -> Result<f64> {
    same_outcomes(p, q)?;
    Ok(of_same_outcomes(p, q, epsilon))
}

/// The same for two distributions known to have the same outcomes.
pub(super) fn of_same_outcomes(p: &OutcomeDistribution, q: &OutcomeDistribution, epsilon: Epsilon) -> f64 {
    let terms = (0..p.outcomes()).filter(|&i| p.ln_p()[i] > f64::NEG_INFINITY).map(|i| {
        let l = Pair::of(p, q, i).log_ratio();
        if l > epsilon.get() { -p.p()[i] * libm::expm1(epsilon.get() - l) } else { 0.0 }
    });
    terms.collect::<CompensatedSum>().value().clamp(0.0, 1.0)
}
