//! Goodman's simultaneous intervals for multinomial proportions.

use super::binomial::ProportionLimit;
use super::simultaneous::{ProportionRange, total};
use crate::error::Result;
use crate::quantity::FailureProbability;
use crate::special::ndtri_exp;

/// Goodman's intervals: for each of C classes with count x of n the two roots p of n (p - x/n)² = B p (1 - p), B the
/// upper `failure`/C quantile of χ² with 1 degree of freedom.
///
/// Each is Wilson's score interval at failure probability `failure`/C, so all C intervals, with both their ends, hold
/// simultaneously by the union bound in the limit of many samples: asymptotic. A class with count 0 has lower end 0 and
/// upper end B/(n + B). Rounded outwards by a relative 7e-15.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) for no classes, [`Error::Domain`](crate::Error::Domain) for a total of 0 or
/// above 2^53.
///
/// # Example
/// ```
/// # use leakbound::interval::goodman;
/// # use leakbound::quantity::FailureProbability;
/// // B = 3.8415 for one interval at 5 %; here C = 5 and B = 6.6349.
/// let ranges = goodman(&[14, 12, 10, 8, 6], FailureProbability::new(0.05)?)?;
/// let (x, n, b) = (14.0f64, 50.0, 6.634_896_601_021_215);
/// let root = (b + 2.0 * x - (b * (b + 4.0 * x * (n - x) / n)).sqrt()) / (2.0 * (n + b));
/// assert!((ranges[0].lower.value - root).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Goodman (1965), "On simultaneous confidence intervals for multinomial proportions", Eq. (2.6) with the quantile of
/// its section 2: B at `failure`/C.
pub fn goodman(counts: &[u64], failure: FailureProbability) -> Result<Vec<ProportionRange>> {
    let n = total(counts)? as f64;
    // P(|Z| > z) = failure/C, computed from logarithms: the tail may be below the smallest double.
    let z = -ndtri_exp(failure.get().ln() - (2.0 * counts.len() as f64).ln());
    let b = z * z;
    Ok(counts.iter().map(|&count| score_range(count as f64, n, b)).collect())
}

/// Outward rounding: the roots below have a handful of rounding errors, the quantile one of 1e-15.
const MARGIN: f64 = 32.0 * f64::EPSILON;

/// Both roots, in forms without cancellation. With d² = B (B + 4 x (n-x)/n) they are (B + 2x ∓ d)/(2 (n+B)), and
/// (B + 2x)² - d² = 4x² (n+B)/n.
fn score_range(x: f64, n: f64, b: f64) -> ProportionRange {
    let y = n - x;
    let d = (b * (b + 4.0 * x * (y / n))).sqrt();
    let small = |x: f64| (2.0 * (x / n) * (x / (b + 2.0 * x + d)) * (1.0 - MARGIN)).max(0.0);
    let large = |x: f64| ((b + 2.0 * x + d) / (2.0 * (n + b)) * (1.0 + MARGIN)).min(1.0);
    ProportionRange {
        lower: ProportionLimit { value: small(x), complement: large(y) },
        upper: ProportionLimit { value: large(x), complement: small(y) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The ends satisfy Goodman's equation and enclose the frequency.
        #[test]
        fn ends_solve_the_quadratic(x in 0u64..=1000, more in 0u64..=1000, f in 1e-12f64..0.9) {
            prop_assume!(x + more > 0);
            let n = (x + more) as f64;
            let range = goodman(&[x, more], FailureProbability::new(f).unwrap()).unwrap()[0];
            let b = ndtri_exp((f / 4.0).ln()).powi(2);
            for end in [range.lower, range.upper] {
                let residual = n * (end.value - x as f64 / n).powi(2) - b * end.value * end.complement;
                prop_assert!(residual.abs() < 1e-12 * (1.0 + b) * n, "{residual}");
                prop_assert!((end.value + end.complement - 1.0).abs() < 1e-14);
            }
            prop_assert!(range.lower.value <= x as f64 / n && range.upper.value >= x as f64 / n);
        }
    }

    #[test]
    fn extreme_counts_and_probabilities_stay_in_the_unit_interval() {
        for counts in [vec![1], vec![0, 1], vec![1 << 53, 0, 0], vec![1_000_000_000_000, 1, 0]] {
            for f in [1e-300, f64::from_bits(1), 0.05, 0.999] {
                for range in goodman(&counts, FailureProbability::new(f).unwrap()).unwrap() {
                    let ends = [range.lower.value, range.lower.complement, range.upper.value, range.upper.complement];
                    assert!(ends.iter().all(|end| (0.0..=1.0).contains(end)), "{counts:?} {f} {ends:?}");
                    assert!(range.lower.value <= range.upper.value && range.upper.value > 0.0);
                }
            }
        }
    }
}
