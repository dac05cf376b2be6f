//! Limits of a log ratio of two proportions from its asymptotic normal distribution.

use super::binomial::BinomialCounts;
use crate::quantity::{Delta, FailureProbability};
use crate::special::ndtri;

/// The lower Katz limit of ln((p - δ)/q): at the frequencies p̂ = k/n, q̂ = l/m
/// ```text
/// ln((p̂ - δ)/q̂) - z_f √( p̂ (1-p̂)/(n (p̂-δ)²) + (1-q̂)/(m q̂) ),   z_f the upper f-quantile of N(0, 1).
/// ```
///
/// The root is the standard deviation by the delta method: ln((p-δ)/q) has the derivatives 1/(p-δ) and -1/q, and p̂, q̂
/// have the independent variances p(1-p)/n and q(1-q)/m; with δ = 0 it is √(1/k - 1/n + 1/l - 1/m), the limit of Katz
/// et al. *Asymptotic*: P(limit > truth) tends to f as both counts grow, and may be well above f if a count is small.
///
/// If l = 0 the estimate does not exist; half a success and half a trial are then added in both worlds, as in
/// [`adjusted_log_lower`]. `-inf` if p̂ ≤ δ, which includes k = 0: there is no bound.
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, katz_log_lower};
/// # use leakbound::quantity::{Delta, FailureProbability};
/// let (p, q) = (BinomialCounts::new(90, 100)?, BinomialCounts::new(5, 100)?);
/// let limit = katz_log_lower(p, q, Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// assert!((limit - 2.171_303_321_882_2).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Katz, Baptista, Azen and Pike (1978), "Obtaining confidence intervals for the risk ratio in cohort studies", method
/// C. The variance with δ > 0 is derived above.
#[must_use]
pub fn katz_log_lower(p: BinomialCounts, q: BinomialCounts, delta: Delta, failure: FailureProbability) -> f64 {
    if q.successes() == 0 { limit(p, q, 0.5, delta, failure) } else { limit(p, q, 0.0, delta, failure) }
}

/// The adjusted log limit of ln((p - δ)/q): [`katz_log_lower`] with half a success and half a trial added in both
/// worlds, p̂ = (k+½)/(n+½), so it exists for every count. Asymptotic. `-inf` if k = 0 or p̂ ≤ δ.
///
/// # Example
/// ```
/// # use leakbound::interval::{BinomialCounts, adjusted_log_lower};
/// # use leakbound::quantity::{Delta, FailureProbability};
/// let (p, q) = (BinomialCounts::new(473, 984)?, BinomialCounts::new(755, 1705)?);
/// let limit = adjusted_log_lower(p, q, Delta::new(0.0)?, FailureProbability::new(0.05)?);
/// assert!((limit.exp() - 1.011_890_79).abs() < 1e-7);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Walter (1975), "The distribution of Levin's measure of attributable risk".
#[must_use]
pub fn adjusted_log_lower(p: BinomialCounts, q: BinomialCounts, delta: Delta, failure: FailureProbability) -> f64 {
    limit(p, q, 0.5, delta, failure)
}

fn limit(p: BinomialCounts, q: BinomialCounts, added: f64, delta: Delta, failure: FailureProbability) -> f64 {
    let frequency = |counts: BinomialCounts| {
        let (successes, trials) = (counts.successes() as f64 + added, counts.trials() as f64 + added);
        (successes / trials, (counts.trials() - counts.successes()) as f64 / trials, trials)
    };
    let ((p, p_other, n), (q, q_other, m)) = (frequency(p), frequency(q));
    let excess = p - delta.get();
    if p <= added / n || !(excess > 0.0) {
        return f64::NEG_INFINITY;
    }
    let variance = p / excess * (p_other / excess) / n + q_other / q / m;
    (excess / q).ln() + ndtri(failure.get()) * variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ndtr_complement;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Binomial, Distribution};

    fn counts(successes: u64, trials: u64) -> BinomialCounts {
        BinomialCounts::new(successes, trials).unwrap()
    }

    #[test]
    fn zeros_and_extremes_are_numbers() {
        let deltas = [0.0, 1e-9, 0.3, 0.999].map(|delta| Delta::new(delta).unwrap());
        let large = 1_000_000_000_000;
        for (k, n) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
            for (l, m) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
                for delta in deltas {
                    for f in [1e-300, 0.05, 0.999] {
                        let failure = FailureProbability::new(f).unwrap();
                        for limit in [katz_log_lower, adjusted_log_lower] {
                            let limit = limit(counts(k, n), counts(l, m), delta, failure);
                            assert!(limit < f64::INFINITY && !limit.is_nan(), "{k}/{n} {l}/{m} {delta} {f:e}: {limit}");
                            assert!(k > 0 || limit == f64::NEG_INFINITY);
                        }
                    }
                }
            }
        }
    }

    /// Coverage with large counts: a share within four standard errors of f = 5%, plus 0.3% for the error of the
    /// asymptotics; false-alarm rate 6e-5 for each of four rows.
    #[test]
    fn the_failure_rate_is_right_for_large_counts() {
        let failure = FailureProbability::new(0.05).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(7);
        const AUDITS: u32 = 40_000;
        for (p, q, delta) in [(0.3, 0.3, 0.0), (0.5, 0.1, 0.0), (0.5, 0.1, 0.2), (0.05, 0.04, 0.02)] {
            let (first, second) = (Binomial::new(20_000, p).unwrap(), Binomial::new(30_000, q).unwrap());
            let truth = f64::ln((p - delta) / q);
            let wrong = (0..AUDITS)
                .filter(|_| {
                    let (k, l) = (first.sample(&mut stream), second.sample(&mut stream));
                    katz_log_lower(counts(k, 20_000), counts(l, 30_000), Delta::new(delta).unwrap(), failure) > truth
                })
                .count();
            let share = wrong as f64 / f64::from(AUDITS);
            println!("{p} {q} {delta}: {share}");
            assert!((share - 0.05).abs() < 4.0 * (0.05 * 0.95 / f64::from(AUDITS)).sqrt() + 0.003);
        }
        assert!((ndtr_complement(-ndtri(0.05)) - 0.05).abs() < 1e-15);
    }
}
