//! Bounds and limits as other tools compute them, some of which are wrong: for comparison, and for no other use.

use leakbound::audit::{CanaryScores, one_run_epsilon};
use leakbound::bound::{LowerBound, Validity};
use leakbound::divergence::gdp_epsilon;
use leakbound::interval::{BinomialCounts, clopper_pearson_upper};
use leakbound::quantity::{Delta, FailureProbability, Order};
use leakbound::special::ndtri;
use leakbound::{Error, Result};

/// The largest one-run bound of ε over the K vertices of the ROC hull, k+ guesses of members at each and none of
/// non-members, at the failure probability f/K each.
///
/// *Heuristic*: K and the numbers of guesses at the vertices are functions of the coins, which the union bound over K
/// does not pay for.
///
/// # Errors
/// As [`leakbound::audit::one_run_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::CanaryScores;
/// # use leakbound_validation::peers::one_run_over_hull;
/// # use leakbound::prelude::*;
/// let scores = CanaryScores::new(vec![3.0, 2.5, 2.0, 0.0], vec![1.0, 0.5, -1.0, -2.0])?;
/// let bound = one_run_over_hull(&scores, Delta::new(0.0)?, FailureProbability::new(0.3)?)?;
/// // 3 of 3 right at f/4: c³ = 0.075 at the second of four vertices.
/// assert!(bound.value == 0.0 && bound.validity == Validity::Heuristic);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The practice of `jax_privacy.auditing` with its Bonferroni strategy.
pub fn one_run_over_hull(scores: &CanaryScores, delta: Delta, failure: FailureProbability) -> Result<LowerBound> {
    let hull = scores.roc().hull();
    let (canaries, share) = ((scores.members().len() + scores.others().len()) as u64, failure.split(hull.len()));
    let mut largest = 0.0f64;
    for point in hull {
        let guesses = point.true_positives + point.false_positives;
        if guesses > 0 {
            let right = BinomialCounts::new(point.true_positives, guesses)?;
            largest = largest.max(one_run_epsilon(right, canaries, delta, share)?.value);
        }
    }
    Ok(heuristic("one-run-over-hull", largest, failure))
}

/// The ε at δ of the largest |Φ⁻¹(1 - FPR_u) - Φ⁻¹(FNR_u)| over the K vertices of the ROC hull, each limit at failure
/// probability f/(2K), leaving out vertices with a limit of 1 - δ or more.
///
/// *Heuristic*: K depends on the scores, and where FPR_u + FNR_u > 1 the absolute value of a difference of two upper
/// limits is no lower bound of anything. [`audit_scores`](leakbound::audit::audit_scores) with uniform selection pays
/// for all thresholds.
///
/// # Errors
/// As [`leakbound::interval::clopper_pearson_upper`] and [`leakbound::divergence::gdp_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::CanaryScores;
/// # use leakbound_validation::peers::gdp_over_hull;
/// # use leakbound::prelude::*;
/// let scores = CanaryScores::new((0..100).map(f64::from).collect(), (-50..50).map(f64::from).collect())?;
/// let bound = gdp_over_hull(&scores, Delta::new(1e-5)?, FailureProbability::new(0.05)?)?;
/// assert!(bound.value > 0.0 && bound.validity == Validity::Heuristic);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// The practice of `jax_privacy.auditing` after Nasr et al. (2023), "Tight auditing of differentially private machine
/// learning".
pub fn gdp_over_hull(scores: &CanaryScores, delta: Delta, failure: FailureProbability) -> Result<LowerBound> {
    let hull = scores.roc().hull();
    let share = failure.split(2 * hull.len());
    let mut mu = 0.0f64;
    for point in hull {
        let members = BinomialCounts::new(point.true_positives, scores.members().len() as u64)?;
        let others = BinomialCounts::new(point.false_positives, scores.others().len() as u64)?;
        let limits = [clopper_pearson_upper(others, share)?, clopper_pearson_upper(members.mirrored(), share)?];
        if limits.iter().all(|limit| limit.value < 1.0 - delta.get()) {
            let quantile =
                limits.map(|limit| if limit.value <= 0.5 { ndtri(limit.value) } else { -ndtri(limit.complement) });
            mu = mu.max((quantile[0] + quantile[1]).abs());
        }
    }
    Ok(heuristic("gdp-over-hull", gdp_epsilon(mu, delta)?.get(), failure))
}

fn heuristic(method: &'static str, value: f64, failure: FailureProbability) -> LowerBound {
    LowerBound::new(value, failure, method, Validity::Heuristic)
}

/// The error that DP-Auditorium subtracts from a variational estimate of D_α from n samples of each world, with a
/// discriminating function of absolute value at most `bound` = B:
/// ```text
/// ln((1 + γ)/(1 - γ)),   γ = max(√(3 L e^{2(α-1)B}/n), √(2 L e^{2αB}/n)),   L = ln(2/f)
/// ```
/// and `inf` for γ ≥ 1.
///
/// *As printed there*, for comparison: the estimate is (α/(α-1)) ln of one mean minus ln of another, and an error of a
/// factor 1 ± γ in the first mean moves it by α/(α-1) times as much as this allows for.
/// [`variational_bound`](leakbound::audit::variational_bound) bounds such a statistic without a loss.
///
/// # Errors
/// [`Error::Domain`] for no samples or a bound that is negative or not finite.
///
/// # Example
/// ```
/// # use leakbound_validation::peers::variational_error_as_published;
/// # use leakbound::prelude::*;
/// let error = variational_error_as_published(1_000_000, FailureProbability::new(0.05)?, 1.6, Order::new(2.0)?)?;
/// assert!((error - 0.133_468_445_44).abs() < 1e-11);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Domingo-Enrich and Mroueh (2022) for the estimate; Kong, Muñoz Medina, Ribero and Syed (2023), "DP-Auditorium", for
/// the tester.
pub fn variational_error_as_published(
    samples: u64,
    failure: FailureProbability,
    bound: f64,
    order: Order,
) -> Result<f64> {
    Error::check_domain(samples != 0, "samples", 0.0, "[1, 2^64)")?;
    Error::check_domain((0.0..f64::INFINITY).contains(&bound), "bound of a function", bound, "[0, inf)")?;
    let each = (std::f64::consts::LN_2 - failure.get().ln()) / samples as f64;
    let part = |factor: f64, exponent: f64| (factor * each).sqrt() * (exponent * bound).exp();
    let gamma = part(3.0, order.get() - 1.0).max(part(2.0, order.get()));
    Ok(if gamma < 1.0 { 2.0 * gamma.atanh() } else { f64::INFINITY })
}

/// Bailey's lower limit of ln(p/q): the cube root of the ratio is closer to normal than the ratio. With p̂ = k/n,
/// q̂ = l/m and z the (negative) f-quantile of N(0, 1),
/// ```text
/// ln(p̂/q̂) + 3 ln( [1 + (z/3) √((1-p̂)/k + (1-q̂)/l - z² (1-p̂)(1-q̂)/(9 k l))] / [1 - z² (1-q̂)/(9 l)] ).
/// ```
///
/// k = n becomes n - 1/2, l = m becomes m - 1/2 and l = 0 becomes 1/2, as other tools do. *Asymptotic*. `-inf` where
/// the formula gives nothing: k = 0, or an l so small that the square root or a factor is not positive.
///
/// # Example
/// ```
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound_validation::peers::bailey_lower;
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
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound_validation::peers::inverse_sinh_lower;
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
    use leakbound::interval::katz_log_lower;

    fn counts(successes: u64, trials: u64) -> BinomialCounts {
        BinomialCounts::new(successes, trials).unwrap()
    }

    #[test]
    fn extremes_are_numbers() {
        let one = CanaryScores::new(vec![1.0], vec![0.0]).unwrap();
        let equal = CanaryScores::new(vec![0.0; 9], vec![0.0; 4]).unwrap();
        for scores in [one, equal] {
            for f in [1e-300, 0.05, 0.999] {
                for delta in [1e-12, 0.999].map(|delta| Delta::new(delta).unwrap()) {
                    let failure = FailureProbability::new(f).unwrap();
                    assert!(one_run_over_hull(&scores, delta, failure).unwrap().value >= 0.0);
                    assert!(gdp_over_hull(&scores, delta, failure).unwrap().value >= 0.0);
                }
            }
        }
        let order = Order::new(2.0).unwrap();
        let failure = FailureProbability::new(1e-300).unwrap();
        assert_eq!(variational_error_as_published(1, failure, 1e300, order).unwrap(), f64::INFINITY);
        assert!(variational_error_as_published(0, failure, 1.0, order).is_err());
        assert!(variational_error_as_published(1, failure, f64::NAN, order).is_err());
    }

    /// ln((1 + γ)/(1 - γ)) with the larger root: the first for a function next to 0, the second for a larger one.
    #[test]
    fn the_error_as_published_is_the_formula() {
        let (n, f, a) = (1_000_000.0, 0.05f64, 2.0);
        let unit = (2.0 / f).ln() / n;
        for (bound, gamma) in [
            (0.0, (3.0 * unit).sqrt()),
            (0.1, (3.0 * unit * f64::exp(2.0 * (a - 1.0) * 0.1)).sqrt()),
            (1.6, (2.0 * unit * f64::exp(2.0 * a * 1.6)).sqrt()),
        ] {
            let failure = FailureProbability::new(f).unwrap();
            let found = variational_error_as_published(n as u64, failure, bound, Order::new(a).unwrap()).unwrap();
            let expected = ((1.0 + gamma) / (1.0 - gamma)).ln();
            assert!((found / expected - 1.0).abs() < 1e-11, "{bound}: {found} {expected}");
        }
    }

    #[test]
    fn extreme_ratios_are_numbers() {
        let large = 1_000_000_000_000;
        for (k, n) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
            for (l, m) in [(0, 1), (1, 1), (0, large), (1, large), (large, large)] {
                for f in [1e-300, 0.05, 0.5, 0.999] {
                    let failure = FailureProbability::new(f).unwrap();
                    let (p, q) = (counts(k, n), counts(l, m));
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
            let (p, q) = (counts(40 * scale, 100 * scale), counts(20 * scale, 100 * scale));
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
            let found = bailey_lower(counts(k, n), counts(l, m), failure);
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
