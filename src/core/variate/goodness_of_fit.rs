//! Pearson's test of counts against a distribution. It uses nothing of this crate: integration tests include it.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The probability that counts from the distribution are at least as far from it as these (asymptotically). Outcomes
/// with an expected count below ten are pooled; an impossible outcome that was seen gives 0. Both arguments have the
/// same length.
pub fn p_value(counts: &[u64], distribution: &[f64]) -> f64 {
    debug_assert_eq!(counts.len(), distribution.len());
    let trials = counts.iter().sum::<u64>() as f64;
    if counts.iter().zip(distribution).any(|(&count, &p)| count > 0 && p == 0.0) {
        return 0.0;
    }
    let (mut statistic, mut cells, mut rare) = (0.0, 0u32, (0.0, 0.0));
    for (&count, &p) in counts.iter().zip(distribution) {
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
    ChiSquared::new(f64::from(cells - 1)).map_or(1.0, |distribution| distribution.sf(statistic))
}
