//! Limits of a ratio of two proportions from their asymptotic laws, for comparison with other tools.

use super::binomial::BinomialCounts;
use crate::quantity::FailureProbability;
use crate::special::ndtri;

/// Bailey's lower limit of ln(p/q): the cube root of the ratio is closer to normal than the ratio. With p̂ = k/n,
/// q̂ = l/m and z the (negative) f-quantile of N(0, 1),
/// ```text
/// ln(p̂/q̂) + 3 ln( [1 + (z/3) √((1-p̂)/k + (1-q̂)/l - z² (1-p̂)(1-q̂)/(9 k l))] / [1 - z² (1-q̂)/(9 l)] ).
/// ```
///
/// k = n becomes n - 1/2, l = m becomes m - 1/2 and l = 0 becomes 1/2, as other tools do. *Asymptotic*. `-inf` where the
/// formula gives nothing: k = 0, or an l so small that the square root or a factor is not positive.
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, bailey_lower};
/// # use leakbound::quantity::FailureProbability;
/// let limit = bailey_lower(BinomialCounts::new(90, 110)?, BinomialCounts::new(5, 80)?, FailureProbability::new(0.05)?);
/// assert!((limit.exp() - 6.876_479_145).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Bailey (1987), "Confidence limits to the risk ratio", Biometrics 43.
#[must_use]
pub fn bailey_lower(p: BinomialCounts, q: BinomialCounts, failure: FailureProbability) -> f64 {
    let (n, m) = (p.trials() as f64, q.trials() as f64);
    let below = |successes: f64, trials: f64| if successes == trials { trials - 0.5 } else { successes };
    let k = below(p.successes() as f64, n);
    let l = if q.successes() == 0 { 0.5 } else { below(q.successes() as f64, m) };
    let (missed, missed_other) = ((n - k) / n, (m - l) / m);
    let z = ndtri(failure.get());
    let variance = missed / k + missed_other / l - z * z * missed * missed_other / (9.0 * k * l);
    let above = 1.0 + z / 3.0 * variance.sqrt();
    let under = 1.0 - z * z * missed_other / (9.0 * l);
    if p.successes() == 0 || !(variance >= 0.0 && above > 0.0 && under > 0.0) {
        return f64::NEG_INFINITY;
    }
    (k / n / (l / m)).ln() + 3.0 * (above / under).ln()
}

/// The inverse-sinh lower limit of ln(p/q):
/// ```text
/// ln(p̂/q̂) + 2 asinh( (z/2) √(1/k - 1/n + 1/l - 1/m) ),   z the f-quantile of N(0, 1).
/// ```
///
/// Where both k = n and l = m half a success is taken from each; l = 0 becomes z². *Asymptotic*. `-inf` for k = 0, or
/// where l = 0 and z² > m leave no variance.
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, inverse_sinh_lower};
/// # use leakbound::quantity::FailureProbability;
/// let (p, q) = (BinomialCounts::new(473, 984)?, BinomialCounts::new(755, 1705)?);
/// let limit = inverse_sinh_lower(p, q, FailureProbability::new(0.05)?);
/// assert!((limit.exp() - 1.011_676_69).abs() < 1e-8);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Newcombe (2001), "Logit confidence intervals and the inverse sinh transformation", The American Statistician 55.
#[must_use]
pub fn inverse_sinh_lower(p: BinomialCounts, q: BinomialCounts, failure: FailureProbability) -> f64 {
    let (n, m) = (p.trials() as f64, q.trials() as f64);
    let (mut k, mut l) = (p.successes() as f64, q.successes() as f64);
    let z = ndtri(failure.get());
    if k == n && l == m {
        (k, l) = (n - 0.5, m - 0.5);
    }
    if l == 0.0 {
        l = z * z;
    }
    let variance = 1.0 / k - 1.0 / n + (1.0 / l - 1.0 / m);
    if p.successes() == 0 || !(variance >= 0.0) || l == 0.0 {
        return f64::NEG_INFINITY;
    }
    (k / n / (l / m)).ln() + 2.0 * (z / 2.0 * variance.sqrt()).asinh()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::katz_log_lower;
    use crate::quantity::Delta;

    #[test]
    fn extremes_are_numbers() {
        let large = 1_000_000_000_000;
        for (k, n) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
            for (l, m) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
                for f in [1e-300, 0.05, 0.5, 0.999] {
                    let failure = FailureProbability::new(f).unwrap();
                    let (p, q) = (BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, m).unwrap());
                    for limit in [bailey_lower(p, q, failure), inverse_sinh_lower(p, q, failure)] {
                        assert!(!limit.is_nan() && limit < f64::INFINITY, "{k}/{n} {l}/{m} {f}: {limit}");
                        assert!(k > 0 || limit == f64::NEG_INFINITY);
                    }
                }
            }
        }
    }

    /// All asymptotic limits of one ratio meet as the counts grow: the differences fall like 1/k.
    #[test]
    fn limits_of_large_counts_agree() {
        let failure = FailureProbability::new(0.05).unwrap();
        for scale in [100u64, 10_000, 1_000_000] {
            let (p, q) = (
                BinomialCounts::new(40 * scale, 100 * scale).unwrap(),
                BinomialCounts::new(20 * scale, 100 * scale).unwrap(),
            );
            let katz = katz_log_lower(p, q, Delta::new(0.0).unwrap(), failure);
            for limit in [bailey_lower(p, q, failure), inverse_sinh_lower(p, q, failure)] {
                assert!((limit - katz).abs() < 1.0 / scale as f64, "{scale}: {limit} {katz}");
            }
        }
    }

    /// The formula in another arrangement, at counts inside and at the edges.
    #[test]
    fn baileys_limit_is_the_formula() {
        let (failure, z) = (FailureProbability::new(0.05).unwrap(), -1.644_853_626_951_472_7f64);
        for ([k, n], [l, m]) in
            [([90u64, 110u64], [5u64, 80u64]), ([30, 200], [20, 100]), ([50, 50], [10, 40]), ([9, 20], [0, 30])]
        {
            let found = bailey_lower(BinomialCounts::new(k, n).unwrap(), BinomialCounts::new(l, m).unwrap(), failure);
            let k = if k == n { n as f64 - 0.5 } else { k as f64 };
            let l = if l == 0 { 0.5 } else { l as f64 };
            let (a, b) = (1.0 / k - 1.0 / n as f64, 1.0 / l - 1.0 / m as f64);
            let [above, below] =
                [1.0 + z / 3.0 * (a + b - (z / 3.0).powi(2) * a * b).sqrt(), 1.0 - (z / 3.0).powi(2) * b];
            let expected = (k * m as f64 / (l * n as f64)).ln() + 3.0 * (above / below).ln();
            assert!((found - expected).abs() < 1e-12, "{k} {l}: {found} {expected}");
        }
    }
}
