//! Bounds as other tools compute them, under names of their own. None of them is used by default.

use super::one_run::one_run_epsilon;
use super::scores::CanaryScores;
use crate::bound::{LowerBound, Validity};
use crate::divergence::gdp_epsilon;
use crate::error::{Error, Result};
use crate::interval::{BinomialCounts, clopper_pearson_upper};
use crate::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use crate::special::ndtri;

/// The largest one-run bound of ε over the K vertices of the ROC hull, k+ guesses of members at each and none of
/// non-members, at the failure probability f/K each.
///
/// *Heuristic*: K and the numbers of guesses at the vertices are functions of the coins, which the union bound over K
/// does not pay for.
///
/// # Errors
/// As [`one_run_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, one_run_over_hull};
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
/// limits is no lower bound of anything. [`audit_scores`](crate::audit::audit_scores) with uniform selection pays for all
/// thresholds.
///
/// # Errors
/// As [`clopper_pearson_upper`] and [`gdp_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::{CanaryScores, gdp_over_hull};
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
        let [members, others] = scores.of_point(point)?;
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
    LowerBound { value, failure_probability: failure, method, validity: Validity::Heuristic }
}

/// The smallest ε at δ that allows an attack with these error rates: max(0, ln((1 - δ - FPR)/FNR),
/// ln((1 - δ - FNR)/FPR)). The rates are taken for exact; for recorded counts there is
/// [`Rectangle::epsilon`](crate::audit::Rectangle::epsilon).
///
/// # Example
/// ```
/// # use leakbound::audit::epsilon_of_error_rates;
/// # use leakbound::prelude::*;
/// let (fnr, fpr) = (Probability::new(0.1)?, Probability::new(0.05)?);
/// let epsilon = epsilon_of_error_rates(fnr, fpr, Delta::new(1e-5)?);
/// assert!((epsilon.get() - 2.890_360_646_723_325).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy", Theorem 2.1.
#[must_use]
pub fn epsilon_of_error_rates(fnr: Probability, fpr: Probability, delta: Delta) -> Epsilon {
    let one = |missed: f64, other: f64| {
        let excess = 1.0 - delta.get() - missed;
        if excess > 0.0 { (excess / other).ln() } else { 0.0 }
    };
    let value = one(fpr.get(), fnr.get()).max(one(fnr.get(), fpr.get()));
    Epsilon::new(value.max(0.0)).unwrap_or(Epsilon::ZERO)
}

/// The largest membership advantage TPR - FPR that (ε, δ)-differential privacy allows: (e^ε - 1 + 2δ)/(e^ε + 1).
///
/// # Example
/// ```
/// # use leakbound::audit::membership_advantage;
/// # use leakbound::prelude::*;
/// let advantage = membership_advantage(Epsilon::new(1.0)?, Delta::new(1e-5)?);
/// assert!((advantage - 0.462_122_536_088_437_1).abs() < 1e-15);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Humphries et al. (2023), "Investigating membership inference attacks under data dependencies", Theorem 3.1.
#[must_use]
pub fn membership_advantage(epsilon: Epsilon, delta: Delta) -> f64 {
    (libm::tanh(0.5 * epsilon.get()) + delta.get() * (1.0 - libm::tanh(0.5 * epsilon.get()))).min(1.0)
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
/// [`variational_bound`](crate::audit::variational_bound) bounds such a statistic without a loss.
///
/// # Errors
/// [`Error::Domain`](crate::Error::Domain) for no samples or a bound that is negative or not finite.
///
/// # Example
/// ```
/// # use leakbound::audit::variational_error_as_published;
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
    if samples == 0 {
        return Err(Error::Domain { quantity: "samples", value: 0.0, domain: "[1, 2^64)" });
    }
    if !(0.0..f64::INFINITY).contains(&bound) {
        return Err(Error::Domain { quantity: "bound of a function", value: bound, domain: "[0, inf)" });
    }
    let each = (std::f64::consts::LN_2 - failure.get().ln()) / samples as f64;
    let part = |factor: f64, exponent: f64| (factor * each).sqrt() * libm::exp(exponent * bound);
    let gamma = part(3.0, order.get() - 1.0).max(part(2.0, order.get()));
    Ok(if gamma < 1.0 { 2.0 * libm::atanh(gamma) } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let rate = |p: f64| Probability::new(p).unwrap();
        let zero = Delta::new(0.0).unwrap();
        assert_eq!(epsilon_of_error_rates(rate(0.0), rate(0.5), zero).get(), f64::INFINITY);
        assert_eq!(epsilon_of_error_rates(rate(0.0), rate(1.0), zero).get(), 0.0);
        assert_eq!(membership_advantage(Epsilon::INFINITE, Delta::new(0.5).unwrap()), 1.0);
        let order = Order::new(2.0).unwrap();
        let failure = FailureProbability::new(1e-300).unwrap();
        assert_eq!(variational_error_as_published(1, failure, 1e300, order).unwrap(), f64::INFINITY);
        assert!(variational_error_as_published(0, failure, 1.0, order).is_err());
        assert!(variational_error_as_published(1, failure, f64::NAN, order).is_err());
    }

    /// The advantage that ε allows is that of randomized response, whose error rates allow exactly this ε.
    #[test]
    fn advantage_and_error_rates_meet() {
        for epsilon in [0.1, 1.0, 5.0] {
            let advantage = membership_advantage(Epsilon::new(epsilon).unwrap(), Delta::new(0.0).unwrap());
            let error = Probability::new(0.5 * (1.0 - advantage)).unwrap();
            let back = epsilon_of_error_rates(error, error, Delta::new(0.0).unwrap()).get();
            assert!((back - epsilon).abs() < 1e-12 * (1.0 + epsilon.exp()));
        }
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
}
