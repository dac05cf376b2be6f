//! Jeffreys limits of a proportion: quantiles of the posterior under the prior Beta(1/2, 1/2).

use super::binomial::{BinomialCounts, ProportionLimit};
use crate::error::Result;
use crate::quantity::FailureProbability;
use crate::special::BetaDistribution;

/// Outward margin, relative to the smaller of x and 1 - x: far above the error of the quantile, far below any
/// statistical effect.
const MARGIN: f64 = 1e-12;

/// The one-sided lower Jeffreys limit: the f-quantile of Beta(k + 1/2, n - k + 1/2), and 0 for k = 0.
///
/// Under the prior Beta(1/2, 1/2), the proportion lies below it with posterior probability at most f. Over repeated
/// samples it is *asymptotic*: P(p < limit) is f up to a term of order 1/√n that oscillates with n and p, and exceeds
/// f for some p at every n. The convention for k = 0 only lowers the limit. Rounded toward 0 by a relative 1e-12 of the
/// smaller of p and 1 - p.
///
/// # Errors
/// [`Error::NoConvergence`](crate::Error::NoConvergence) if the quantile is not found (never seen for n up to 2^53).
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, jeffreys_lower};
/// # use leakbound::quantity::FailureProbability;
/// let limit = jeffreys_lower(BinomialCounts::new(7, 20)?, FailureProbability::new(0.025)?)?;
/// assert!((limit.value - 0.172_276_213_631_912).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Brown, Cai and DasGupta (2001), "Interval estimation for a binomial proportion", section 3.1.2; one-sided limits:
/// Cai (2005), "One-sided confidence intervals in discrete distributions".
pub fn jeffreys_lower(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    if counts.successes() == 0 {
        return Ok(ProportionLimit::ZERO);
    }
    let at = posterior(counts).quantile(failure.get())?;
    Ok(ProportionLimit::rounded_down((at.value, at.complement), MARGIN))
}

/// The one-sided upper Jeffreys limit: the (1-f)-quantile of the same posterior, and 1 for k = n; the mirror image of
/// the lower one.
///
/// # Errors
/// As [`jeffreys_lower`].
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, jeffreys_upper};
/// # use leakbound::quantity::FailureProbability;
/// let limit = jeffreys_upper(BinomialCounts::new(7, 20)?, FailureProbability::new(0.025)?)?;
/// assert!((limit.value - 0.567_766_093_841_496).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn jeffreys_upper(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    Ok(jeffreys_lower(counts.mirrored(), failure)?.mirrored())
}

/// Beta(k + 1/2, n - k + 1/2).
fn posterior(counts: BinomialCounts) -> BetaDistribution {
    BetaDistribution::new(counts.successes() as f64 + 0.5, (counts.trials() - counts.successes()) as f64 + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{clopper_pearson_lower, clopper_pearson_upper};

    /// Jeffreys limits lie inside those of Clopper and Pearson: Beta(k, n-k+1) ≤ Beta(k+1/2, n-k+1/2) ≤ Beta(k+1, n-k)
    /// in likelihood ratio.
    #[test]
    fn inside_clopper_pearson_in_every_corner() {
        for n in [1u64, 2, 10, 1_000, 1_000_000_000_000] {
            for k in [0, 1, n / 3, n / 2, n - 1, n] {
                for f in [1e-300, 1e-9, 0.05, 0.5, 0.999] {
                    let (counts, failure) = (BinomialCounts::new(k, n).unwrap(), FailureProbability::new(f).unwrap());
                    let (low, high) =
                        (jeffreys_lower(counts, failure).unwrap(), jeffreys_upper(counts, failure).unwrap());
                    let exact = (
                        clopper_pearson_lower(counts, failure).unwrap(),
                        clopper_pearson_upper(counts, failure).unwrap(),
                    );
                    let slack = 1.0 - 4e-12;
                    assert!(
                        low.value >= exact.0.value * slack && high.complement >= exact.1.complement * slack,
                        "{k} {n} {f:e}"
                    );
                    assert!((0.0..=1.0).contains(&low.value) && (0.0..=1.0).contains(&high.value), "{k} {n} {f:e}");
                }
            }
        }
    }

    /// x (1 - m) and 1 - x (1 - m) on the side below one half, 1 - x (1 + m) and x (1 + m) above: the limits of k and
    /// of n - k are equally far from the quantile.
    #[test]
    fn limits_are_rounded_outwards_on_either_side() {
        for k in [1, 5, 10, 15, 19] {
            let (counts, failure) = (BinomialCounts::new(k, 20).unwrap(), FailureProbability::new(0.3).unwrap());
            let (at, low) = (posterior(counts).quantile(0.3).unwrap(), jeffreys_lower(counts, failure).unwrap());
            assert!(low.value < at.value && low.complement > at.complement, "{k}: {at:?} {low:?}");
        }
    }
}
