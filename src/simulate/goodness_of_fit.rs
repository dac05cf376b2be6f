//! Pearson's test of counts against a law.

use crate::error::{Error, Result};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The p-value of Pearson's chi-square test of counts against the law p, one entry per outcome each:
/// ```text
/// P(χ²_{C-1} ≥ Σ_c (n_c - N p_c)² / (N p_c)),    N = Σ_c n_c,
/// ```
/// asymptotically the probability with which counts drawn from p would lie at least as far from it. Outcomes that are
/// expected fewer than ten times are put together; an impossible one that was seen gives 0, and no sample 1.
///
/// # Errors
/// [`Error::Length`] unless both have the same number of outcomes.
///
/// # Example
/// ```
/// # use leakbound::chi_square_p_value;
/// // The statistic is 100/500 + 100/500 = 0.4, with one degree of freedom.
/// assert!((chi_square_p_value(&[510, 490], &[0.5, 0.5])? - 0.527_089_256_865_538).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Pearson (1900), "On the criterion that a given system of deviations from the probable in the case of a correlated
/// system of variables is such that it can be reasonably supposed to have arisen from random sampling".
pub fn chi_square_p_value(counts: &[u64], p: &[f64]) -> Result<f64> {
    if counts.len() != p.len() {
        let expected = format!("{} outcomes", counts.len());
        return Err(Error::Length { quantity: "law of the counts", found: p.len(), expected });
    }
    Ok(p_value(counts, p))
}

/// The same for slices of equal length.
pub(super) fn p_value(counts: &[u64], law: &[f64]) -> f64 {
    let trials = counts.iter().sum::<u64>() as f64;
    if counts.iter().zip(law).any(|(&count, &p)| count > 0 && p == 0.0) {
        return 0.0;
    }
    let (mut statistic, mut cells, mut rare) = (0.0, 0u32, (0.0, 0.0));
    for (&count, &p) in counts.iter().zip(law) {
        let (seen, expected) = (count as f64, trials * p);
        if expected < 10.0 {
            rare = (rare.0 + seen, rare.1 + expected);
        } else {
            statistic += (seen - expected).powi(2) / expected;
            cells += 1;
        }
    }
    if rare.1 >= 10.0 {
        statistic += (rare.0 - rare.1).powi(2) / rare.1;
        cells += 1;
    } else if rare.1 > 0.0 && rare.0 > 60.0 {
        return 0.0; // a Poisson variable of mean 10 exceeds 60 with probability below 1e-24
    }
    if cells < 2 {
        return 1.0;
    }
    ChiSquared::new(f64::from(cells - 1)).map_or(1.0, |law| law.sf(statistic))
}
