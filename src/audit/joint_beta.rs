//! ε at δ from the joint posterior of P(O) and Q(O) under independent Jeffreys priors.

use super::asymptotic_epsilon::likelier_and_rarer;
use super::joint_posterior::{Inequalities, Posterior};
use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs};
use super::tails::Tails;
use crate::bound::{Direction, LowerBound, Validity};
use crate::error::Result;
use crate::interval::BinomialCounts;
use crate::quantity::{Delta, FailureProbability};

pub(super) const JOINT_BETA: MethodRow = MethodRow {
    name: "joint-beta",
    when: "To compare with Bayesian audits.",
    guarantee: Guarantee::Nominal(Validity::Bayesian),
    needs: Needs::Nothing,
    draws: Draws::Nothing,
    bounds: Bounds::Epsilon(|task| {
        let (share, tails) = (task.share_of_set(task.directions), task.tails());
        Ok(task.of_sets(move |[p, q], direction| joint_beta_epsilon(p, q, task.delta, direction, share, tails)))
    }),
};

/// Credible limits are lowered by this share of themselves and of 1: ten times the largest error found in a comparison
/// with the table `epsilon_bounds.json`.
const MARGIN: f64 = 1e-9;

/// Lower credible limit of ε at δ: the failure quantile of ln((p - δ)/q) under the joint posterior of p = P(A) and
/// q = Q(A), for A = O and its complement.
///
/// The priors are independent, Beta(1/2, 1/2), so p ~ Beta(k + 1/2, n - k + 1/2) and likewise q; the limit is the
/// largest ε ≥ 0 with
/// ```text
/// P(p ≤ e^ε q + δ) = ∫ P(p ≤ e^ε q + δ | q) dP(q) ≤ f,
/// ```
/// an integral by deterministic quadrature (double exponential rule), not Monte Carlo. A single statement about the
/// pair (p, q) is sharper than two about p and about q. With four tails, A = O and its complement get half of f each; a
/// caller who wants both directions simultaneously splits f between them. *Bayesian*: over repeated samples it fails
/// with a frequency of about f for large counts, without a guarantee.
///
/// This is the posterior of Zanella-Béguelin et al. with one inequality at a time; for their limit for all inequalities
/// together, and its defect, see [`joint_beta_region_epsilon`].
///
/// # Errors
/// [`Error::NoConvergence`](crate::Error::NoConvergence) if the root is not found (never seen for n up to 2^53).
///
/// # Example
/// ```
/// # use leakbound::audit::{Tails, joint_beta_epsilon};
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (inside, inside_neighbor) = (BinomialCounts::new(90, 100)?, BinomialCounts::new(5, 100)?);
/// let (delta, failure) = (Delta::new(1e-5)?, FailureProbability::new(0.025)?);
/// let bound = joint_beta_epsilon(inside, inside_neighbor, delta, Direction::Forward, failure, Tails::Two)?;
/// assert!((bound.value - 2.1296).abs() < 1e-4 && bound.validity == Validity::Bayesian);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Zanella-Béguelin et al. (2023), "Bayesian estimation of differential privacy", section 4.
pub fn joint_beta_epsilon(
    inside: BinomialCounts,
    inside_neighbor: BinomialCounts,
    delta: Delta,
    direction: Direction,
    failure: FailureProbability,
    tails: Tails,
) -> Result<LowerBound> {
    let (sets, share) = likelier_and_rarer(inside, inside_neighbor, direction, failure, tails);
    let mut value: f64 = 0.0;
    for [likelier, rarer] in sets {
        let posterior = Posterior::new(likelier, rarer, delta, Inequalities::One);
        // A set that cannot exceed the best one so far needs no root.
        value = posterior.limit(share.get(), value)?.unwrap_or(value);
    }
    Ok(bayesian(value, failure))
}

/// Lower credible limit of ε at δ as Zanella-Béguelin et al. define it: the failure quantile of the smallest ε for
/// which (p, q) satisfies all four inequalities p ≤ e^ε q + δ, q ≤ e^ε p + δ and those of the complements.
///
/// It covers both directions. *Bayesian, and above the truth whenever P = Q and δ = 0*: the posterior puts no mass on
/// p = q, so every quantile of this ε is positive for any counts. It is provided to reproduce the published values
/// (their interval at confidence 1 - a has the lower end with f = a/2); [`joint_beta_epsilon`] treats one inequality at
/// a time and does not have this defect.
///
/// # Errors
/// As [`joint_beta_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::audit::joint_beta_region_epsilon;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (inside, inside_neighbor) = (BinomialCounts::new(90, 100)?, BinomialCounts::new(5, 100)?);
/// let bound = joint_beta_region_epsilon(inside, inside_neighbor, Delta::new(1e-5)?, FailureProbability::new(0.025)?)?;
/// assert!((bound.value - 2.2).abs() < 0.02);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Zanella-Béguelin et al. (2023), "Bayesian estimation of differential privacy", section 4.
pub fn joint_beta_region_epsilon(
    inside: BinomialCounts,
    inside_neighbor: BinomialCounts,
    delta: Delta,
    failure: FailureProbability,
) -> Result<LowerBound> {
    let posterior = Posterior::new(inside, inside_neighbor, delta, Inequalities::All);
    Ok(bayesian(posterior.limit(failure.get(), 0.0)?.unwrap_or(0.0), failure))
}

fn bayesian(value: f64, failure: FailureProbability) -> LowerBound {
    let value = value - MARGIN * (1.0 + value);
    LowerBound::new(value, failure, JOINT_BETA.name, Validity::Bayesian)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::{binomial, failure};
    use crate::interval::clopper_pearson_upper;
    use crate::special::{BetaDistribution, log_binomial_pmf};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Beta, Distribution};

    /// Draws of the posterior: at the limit, the share of private pairs is f within 4.5 standard errors, false-alarm
    /// rate 7e-6 for each of twelve comparisons.
    #[test]
    fn the_limit_is_the_quantile_of_posterior_draws() {
        const DRAWS: usize = 200_000;
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        for (k, n, l, m, delta) in
            [(90, 100, 5, 100, 1e-5), (40, 50, 0, 70, 0.0), (50, 50, 7, 300, 0.1), (510, 1000, 480, 1000, 0.0)]
        {
            let draw = |k: u64, n: u64| Beta::new(k as f64 + 0.5, (n - k) as f64 + 0.5).unwrap();
            let (p_distribution, q_distribution) = (draw(k, n), draw(l, m));
            let pairs: Vec<(f64, f64)> =
                (0..DRAWS).map(|_| (p_distribution.sample(&mut stream), q_distribution.sample(&mut stream))).collect();
            for f in [0.01, 0.05, 0.3] {
                let (p, q, level) = (binomial(k, n), binomial(l, m), Delta::new(delta).unwrap());
                let one = joint_beta_epsilon(p, q, level, Direction::Forward, failure(f), Tails::Two).unwrap().value;
                let all = joint_beta_region_epsilon(p, q, level, failure(f)).unwrap().value;
                let needed = |p: f64, q: f64| ((p - delta).max(0.0) / q).ln();
                let private = |(p, q): (f64, f64)| needed(p, q) <= one;
                let region = |(p, q): (f64, f64)| {
                    needed(p, q).max(needed(q, p)).max(needed(1.0 - p, 1.0 - q)).max(needed(1.0 - q, 1.0 - p)) <= all
                };
                let share = |test: &dyn Fn((f64, f64)) -> bool| {
                    pairs.iter().filter(|pair| test(**pair)).count() as f64 / DRAWS as f64
                };
                let error = 4.5 * (f * (1.0 - f) / DRAWS as f64).sqrt();
                let (found, found_all) = (share(&private), share(&region));
                println!("{k}/{n} {l}/{m} f {f}: {one} {found} {all} {found_all}");
                assert!(if one > 0.0 { (found - f).abs() < error } else { found > f - error });
                assert!(if all > 0.0 { (found_all - f).abs() < error } else { found_all > f - error });
            }
        }
    }

    #[test]
    fn every_corner_is_a_number() {
        let large = 1_000_000_000_000;
        let edges = [(0, 1), (1, 1), (1, large), (large / 3, large), (large, large)];
        for (k, n) in edges {
            for (l, m) in edges {
                for (delta, f) in [(0.0, 0.05), (0.3, 0.999), (1e-9, 1e-300)] {
                    let (p, q, level) = (binomial(k, n), binomial(l, m), Delta::new(delta).unwrap());
                    let all = joint_beta_region_epsilon(p, q, level, failure(f)).unwrap().value;
                    assert!(all.is_finite() && all >= 0.0, "{k}/{n} {l}/{m} {delta} {f}: {all}");
                    let bound = joint_beta_epsilon(p, q, level, Direction::Forward, failure(f), Tails::Four).unwrap();
                    assert!(bound.value.is_finite() && bound.value >= 0.0, "{k}/{n} {l}/{m} {delta} {f}: {bound:?}");
                }
            }
        }
    }

    /// The exact probability of a positive bound if P = Q, over all counts of 20 trials: about f for one inequality,
    /// one for the published region.
    #[test]
    fn without_leakage_one_inequality_is_wrong_in_about_f_and_the_region_always() {
        let (n, p, no_delta) = (20, 0.4, Delta::new(0.0).unwrap());
        let (mut one, mut four, mut region) = (0.0, 0.0, 0.0);
        for k in 0..=n {
            for l in 0..=n {
                let probability = libm::exp(log_binomial_pmf(k, n, p) + log_binomial_pmf(l, n, p));
                let bound = |tails| {
                    let (inside, other) = (binomial(k, n), binomial(l, n));
                    joint_beta_epsilon(inside, other, no_delta, Direction::Forward, failure(0.1), tails).unwrap().value
                };
                one += if bound(Tails::Two) > 0.0 { probability } else { 0.0 };
                four += if bound(Tails::Four) > 0.0 { probability } else { 0.0 };
                let all = joint_beta_region_epsilon(binomial(k, n), binomial(l, n), no_delta, failure(0.1)).unwrap();
                region += if all.value > 0.0 { probability } else { 0.0 };
            }
        }
        println!("one {one}, four {four}, region {region}");
        assert!((0.06..0.13).contains(&one) && (0.06..0.13).contains(&four) && region > 0.999_999);
    }

    /// If q is known perfectly, only the quantile of p remains.
    #[test]
    fn a_certain_neighbor_leaves_one_quantile() {
        let m = 1_000_000_000_000;
        let bound = joint_beta_epsilon(
            binomial(30, 40),
            binomial(m / 10, m),
            Delta::new(0.05).unwrap(),
            Direction::Forward,
            failure(0.02),
            Tails::Two,
        );
        let p = BetaDistribution::new(30.5, 10.5).quantile(0.02).unwrap().value;
        assert!((bound.unwrap().value - ((p - 0.05) / 0.1).ln()).abs() < 1e-4);
        assert!(clopper_pearson_upper(binomial(m / 10, m), failure(0.05)).unwrap().value < 0.100_001);
    }
}
