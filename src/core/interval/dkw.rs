//! The uniform band of Dvoretzky, Kiefer and Wolfowitz around an empirical distribution.

use super::binomial::{BinomialCounts, ProportionLimit};
use crate::quantity::FailureProbability;

/// Both limits of P(X ≥ t) from the count of samples with X ≥ t, valid simultaneously for all t except with the failure
/// probability: the frequency ± √(ln(2/f)/(2n)), clipped to [0, 1].
///
/// Finite-sample: for every n and every distribution, P(sup_t |F_n(t) - F(t)| > w) ≤ 2 e^{-2nw²}. Rounded outwards by
/// 1e-15.
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, dkw_limits};
/// # use leakbound::quantity::FailureProbability;
/// let [low, high] = dkw_limits(BinomialCounts::new(50, 100)?, FailureProbability::new(0.05)?);
/// assert!((low.value - 0.364_189_8).abs() < 1e-7 && (high.value - 0.635_810_2).abs() < 1e-7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Massart (1990), "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Corollary 1.
#[must_use]
pub fn dkw_limits(counts: BinomialCounts, failure: FailureProbability) -> [ProportionLimit; 2] {
    let trials = counts.trials() as f64;
    // ln 2 - ln f: the quotient overflows for the smallest f.
    let width = ((std::f64::consts::LN_2 - failure.get().ln()) / (2.0 * trials)).sqrt() + 1e-15;
    let lower =
        |counts: BinomialCounts| ProportionLimit::at_least((counts.successes() as f64 / trials - width).max(0.0));
    [lower(counts), lower(counts.mirrored()).mirrored()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed form at n = 100, f = .05: the half width is sqrt(ln 40/200).
    #[test]
    fn the_width_is_the_closed_form() {
        let failure = FailureProbability::new(0.05).unwrap();
        let [low, high] = dkw_limits(BinomialCounts::new(50, 100).unwrap(), failure);
        let width = (40f64.ln() / 200.0).sqrt();
        assert!((low.value - (0.5 - width)).abs() < 1e-14 && (high.value - (0.5 + width)).abs() < 1e-14);
    }
}
