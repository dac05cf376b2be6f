//! Whether counts are explained by a distribution.

use crate::error::{Error, Result};

/// The p-value of Pearson's chi-square test of counts against the distribution p, one entry per outcome each:
/// ```text
/// P(χ²_{C-1} ≥ Σ_c (n_c - N p_c)² / (N p_c)),    N = Σ_c n_c,
/// ```
/// asymptotically the probability that counts drawn from p are at least as far from it. Outcomes with an expected count
/// below ten are pooled; an impossible outcome that was seen gives 0, and no samples give 1.
///
/// # Errors
/// [`Error::Length`] unless both have the same number of outcomes.
///
/// # Example
/// ```
/// # use leakbound::simulate::chi_square_p_value;
/// // The statistic is 100/500 + 100/500 = 0.4, with one degree of freedom.
/// assert!((chi_square_p_value(&[510, 490], &[0.5, 0.5])? - 0.527_089_256_865_538).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Pearson (1900), "On the criterion that a given system of deviations from the probable in the case of a correlated
/// system of variables is such that it can be reasonably supposed to have arisen from random sampling".
pub fn chi_square_p_value(counts: &[u64], p: &[f64]) -> Result<f64> {
    Error::check_size("distribution of the counts", p.len(), counts.len(), " outcomes")?;
    Ok(crate::variate::p_value(counts, p))
}
