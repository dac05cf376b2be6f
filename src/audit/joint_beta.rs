//! ε at δ from the joint posterior of P(O) and Q(O) under independent Jeffreys priors.

use super::asymptotic_epsilon::likelier_and_rarer;
use super::tails::Tails;
use crate::bound::{Direction, LowerBound, Validity};
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::quantity::{Delta, FailureProbability};
use crate::special::{BetaLaw, UnitPoint, ndtri};

/// Credible limits are lowered by this much of themselves and of 1: ten times the largest error seen against the table
/// `epsilon_bounds.json`.
const MARGIN: f64 = 1e-9;
/// The absolute error asked of each integral, as a share of the failure probability.
const INTEGRAL: f64 = 1e-11;
/// Posterior mass of Q(O) left out of the integrals at either end, as a share of the failure probability.
const OUTSIDE: f64 = 1e-12;
/// Steps of the root search: bisection alone needs fewer.
const MAX_STEPS: usize = 200;

/// Lower credible limit of ε at δ: the failure quantile of ln((p - δ)/q) under the joint posterior of p = P(A) and
/// q = Q(A), for A = O and its complement.
///
/// The priors are independent, Beta(1/2, 1/2), so that p ~ Beta(k + 1/2, n - k + 1/2) and q alike; the limit is the
/// largest ε ≥ 0 with
/// ```text
/// P(p ≤ e^ε q + δ) = ∫ P(p ≤ e^ε q + δ | q) dP(q) ≤ f,
/// ```
/// an integral by deterministic quadrature (double exponential rule), no Monte Carlo. A single statement about the pair
/// (p, q) is sharper than two about p and about q. With four tails A = O and its complement get half of f each; a
/// caller who wants both directions at once splits f between them. *Bayesian*: over repeated samples it fails with
/// about f for large counts, without a guarantee.
///
/// This is the posterior of Zanella-Béguelin et al. with one inequality at a time; their limit for all inequalities
/// together is [`joint_beta_region_epsilon`], which see for what is wrong with it.
///
/// # Errors
/// [`Error::NoConvergence`] when the root is not found; none was for n up to 2^53.
///
/// # Example
/// ```
/// # use leakbound::*;
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
        // A set that does not reach the best one so far needs no root.
        value = posterior.limit(share.get(), value)?.unwrap_or(value);
    }
    Ok(bayesian(value, failure))
}

/// Lower credible limit of ε at δ as Zanella-Béguelin et al. define it: the failure quantile of the smallest ε for
/// which (p, q) satisfies all four inequalities p ≤ e^ε q + δ, q ≤ e^ε p + δ and those of the complements.
///
/// It covers both directions. *Bayesian, and above the truth whenever P = Q and δ = 0*: the posterior puts no mass on
/// p = q, so that every quantile of this ε is positive whatever the counts. It is here to reproduce the published
/// values (their interval at confidence 1 - a has the lower end with f = a/2); [`joint_beta_epsilon`] treats one
/// inequality at a time and does not have the fault.
///
/// # Errors
/// As [`joint_beta_epsilon`].
///
/// # Example
/// ```
/// # use leakbound::*;
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
    LowerBound {
        value: if value > 0.0 { value } else { 0.0 },
        failure_probability: failure,
        method: "joint-beta",
        validity: Validity::Bayesian,
    }
}

/// Which inequalities the pair (p, q) is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inequalities {
    /// p ≤ e^ε q + δ.
    One,
    /// The same for both directions and both sides.
    All,
}

/// ln(x/(1-x)).
fn log_odds(at: UnitPoint) -> f64 {
    (at.value / at.complement).ln()
}

struct Posterior {
    p: BetaLaw,
    q: BetaLaw,
    /// (p, 1-p) and (q, 1-q) at the means.
    p_mean: UnitPoint,
    q_mean: UnitPoint,
    delta: f64,
    inequalities: Inequalities,
}

fn law(counts: BinomialCounts) -> (BetaLaw, UnitPoint) {
    let (a, b) = (counts.successes() as f64 + 0.5, (counts.trials() - counts.successes()) as f64 + 0.5);
    (BetaLaw::new(a, b), UnitPoint { value: a / (a + b), complement: b / (a + b) })
}

impl Posterior {
    fn new(p: BinomialCounts, q: BinomialCounts, delta: Delta, inequalities: Inequalities) -> Self {
        let ((p, p_mean), (q, q_mean)) = (law(p), law(q));
        Self { p, q, p_mean, q_mean, delta: delta.get(), inequalities }
    }

    /// The largest ε > `least` with P(private at ε) ≤ f, None if there is none.
    fn limit(&self, f: f64, least: f64) -> Result<Option<f64>> {
        // On the normal scale the probability is nearly a line in ε, so that secants meet it.
        let target = ndtri(f);
        let window = self.window(f)?;
        let score = |epsilon: f64| ndtri(self.private(epsilon, f, window)) - target;
        let mut low = (least, score(least));
        if !(low.1 < 0.0) {
            return Ok(None);
        }
        let mut high = (f64::INFINITY, f64::INFINITY);
        let mut next = self.guess(target).max(least + 1e-3);
        let mut width = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let value = score(next);
            let here = (next, value);
            if value.abs() <= 1e-10 {
                return Ok(Some(next));
            }
            let before =
                if value < 0.0 { std::mem::replace(&mut low, here) } else { std::mem::replace(&mut high, here) };
            if high.0 - low.0 <= 1e-11 * (1.0 + low.0) {
                return Ok(Some(low.0));
            }
            let inside = |x: f64| x > low.0 && x < high.0;
            // Through the last two points, or through the ends.
            let secant = |a: (f64, f64), b: (f64, f64)| a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1);
            let shrinks = high.0 - low.0 <= 0.5 * width;
            width = high.0 - low.0;
            let candidates = [secant(here, before), secant(low, high)];
            next = match candidates.into_iter().find(|x| x.is_finite() && inside(*x)) {
                Some(x) if shrinks || width.is_infinite() || (value.abs() < 0.1 && x != next) => x,
                _ if high.0.is_finite() => 0.5 * (low.0 + high.0),
                _ => 2.0 * low.0 + 1e-3,
            };
        }
        Err(Error::NoConvergence {
            quantity: "joint posterior limit",
            residual: width,
            tolerance: 1e-11,
            iterations: MAX_STEPS,
        })
    }

    /// The limit as a normal law of ln((p-δ)/q) would have it, at z = Φ⁻¹(f) standard deviations.
    fn guess(&self, z: f64) -> f64 {
        let excess = (self.p_mean.value - self.delta).max(1e-3 * self.p_mean.value);
        let spread = self.p.log_odds_spread() * self.p_mean.value * self.p_mean.complement / excess;
        let spread_q = self.q.log_odds_spread() * self.q_mean.complement;
        let forward = (excess / self.q_mean.value).ln();
        let size = if self.inequalities == Inequalities::All { forward.abs() } else { forward };
        (size + z * spread.hypot(spread_q)).clamp(0.0, 1e3)
    }

    /// Log-odds of q between which lies all of its posterior that matters.
    fn window(&self, f: f64) -> Result<[f64; 2]> {
        let outside = (OUTSIDE * f).max(f64::MIN_POSITIVE);
        // The upper quantile as the mirror image of a lower one, which keeps the digits of its tail.
        let (low, high) = (self.q.quantile(outside)?, self.q.mirrored().quantile(outside)?);
        Ok([log_odds(low), -log_odds(high)])
    }

    /// P(private at ε): the posterior probability that the inequalities hold.
    fn private(&self, epsilon: f64, f: f64, [first, last]: [f64; 2]) -> f64 {
        let mut ends = vec![first, last, log_odds(self.q_mean)];
        ends.extend(self.kinks(epsilon).into_iter().filter(|t| *t > first && *t < last));
        ends.sort_by(f64::total_cmp);
        let integrand = |t: f64| {
            let q = UnitPoint::of_log_odds(t);
            let share = self.between(self.range(q, epsilon));
            if share > 0.0 { libm::exp(self.q.log_density(q)) * share } else { 0.0 }
        };
        let mut sum = 0.0;
        for pair in ends.windows(2).filter(|pair| pair[1] > pair[0]) {
            sum += quadrature::integrate(integrand, pair[0], pair[1], INTEGRAL * f).integral;
        }
        sum.clamp(0.0, 1.0)
    }

    /// The smallest and the largest p that are private beside q.
    fn range(&self, q: UnitPoint, epsilon: f64) -> [UnitPoint; 2] {
        let (grown, more, delta) = (libm::exp(epsilon), libm::expm1(epsilon), self.delta);
        let UnitPoint { value: x, complement: y } = q;
        let mut high = UnitPoint { value: grown * x + delta, complement: y - more * x - delta };
        let mut low = UnitPoint { value: 0.0, complement: 1.0 };
        if self.inequalities == Inequalities::All {
            let (shrunk, less) = (libm::exp(-epsilon), libm::expm1(-epsilon));
            // 1-q ≤ e^ε (1-p) + δ
            let other = UnitPoint { value: x - y * less + delta * shrunk, complement: (y - delta) * shrunk };
            if other.complement > high.complement {
                high = other;
            }
            // 1-p ≤ e^ε (1-q) + δ and q ≤ e^ε p + δ
            let lows = [
                UnitPoint { value: x - more * y - delta, complement: grown * y + delta },
                UnitPoint { value: (x - delta) * shrunk, complement: y - x * less + delta * shrunk },
            ];
            for other in lows {
                if other.value > low.value {
                    low = other;
                }
            }
        }
        [low, high]
    }

    /// P(low ≤ p ≤ high).
    fn between(&self, [low, high]: [UnitPoint; 2]) -> f64 {
        let tails = |at: UnitPoint| {
            if !(at.value > 0.0) {
                (0.0, 1.0)
            } else if !(at.complement > 0.0) {
                (1.0, 0.0)
            } else {
                let tails = self.p.tails(at);
                (tails.lower, tails.upper)
            }
        };
        let (below_high, above_high) = tails(high);
        if self.inequalities == Inequalities::One {
            return below_high;
        }
        let (below_low, above_low) = tails(low);
        // The difference of the smaller tails.
        if below_high <= 0.5 {
            below_high - below_low
        } else if above_low <= 0.5 {
            above_low - above_high
        } else {
            1.0 - below_low - above_high
        }
    }

    /// Log-odds of q where the integrand bends: where a limit of p leaves (0, 1), where two change places, and where one
    /// passes the mean of p.
    fn kinks(&self, epsilon: f64) -> Vec<f64> {
        let (grown, shrunk, delta) = (libm::exp(epsilon), libm::exp(-epsilon), self.delta);
        let UnitPoint { value: p, complement: p_other } = self.p_mean;
        // As q, or as 1 - q where that is what is known.
        let mut below = vec![(1.0 - delta) * shrunk, (p - delta) * shrunk];
        let mut above = vec![];
        if self.inequalities == Inequalities::All {
            below.extend([delta, p * grown + delta, (1.0 - delta) / (1.0 + grown)]);
            above.extend([
                delta,
                (1.0 - delta) * shrunk,
                (p_other - delta) * shrunk,
                p_other * grown + delta,
                (1.0 - delta) / (1.0 + grown),
            ]);
        }
        let proper = |x: &f64| *x > 0.0 && *x < 1.0;
        let log_odds = |x: f64| x.ln() - libm::log1p(-x);
        let below = below.into_iter().filter(proper).map(log_odds);
        below.chain(above.into_iter().filter(proper).map(|x| -log_odds(x))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::clopper_pearson_upper;
    use crate::special::log_binomial_pmf;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Beta, Distribution};

    fn counts(successes: u64, trials: u64) -> BinomialCounts {
        BinomialCounts::new(successes, trials).unwrap()
    }

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    /// Draws of the posterior: at the limit the share of private pairs is f within 4.5 standard errors, false-alarm rate
    /// 7e-6 for each of twelve comparisons.
    #[test]
    fn the_limit_is_the_quantile_of_posterior_draws() {
        const DRAWS: usize = 200_000;
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        for (k, n, l, m, delta) in
            [(90, 100, 5, 100, 1e-5), (40, 50, 0, 70, 0.0), (50, 50, 7, 300, 0.1), (510, 1000, 480, 1000, 0.0)]
        {
            let draw = |k: u64, n: u64| Beta::new(k as f64 + 0.5, (n - k) as f64 + 0.5).unwrap();
            let (p_law, q_law) = (draw(k, n), draw(l, m));
            let pairs: Vec<(f64, f64)> =
                (0..DRAWS).map(|_| (p_law.sample(&mut stream), q_law.sample(&mut stream))).collect();
            for f in [0.01, 0.05, 0.3] {
                let (p, q, level) = (counts(k, n), counts(l, m), Delta::new(delta).unwrap());
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
                    let (p, q, level) = (counts(k, n), counts(l, m), Delta::new(delta).unwrap());
                    let all = joint_beta_region_epsilon(p, q, level, failure(f)).unwrap().value;
                    assert!(all.is_finite() && all >= 0.0, "{k}/{n} {l}/{m} {delta} {f}: {all}");
                    let bound = joint_beta_epsilon(p, q, level, Direction::Forward, failure(f), Tails::Four).unwrap();
                    assert!(bound.value.is_finite() && bound.value >= 0.0, "{k}/{n} {l}/{m} {delta} {f}: {bound:?}");
                }
            }
        }
    }

    /// The exact probability of a positive bound where P = Q, over all counts of 20 trials: about f for one inequality,
    /// one for the published region.
    #[test]
    fn without_leakage_one_inequality_is_wrong_in_about_f_and_the_region_always() {
        let (n, p, no_delta) = (20, 0.4, Delta::new(0.0).unwrap());
        let (mut one, mut four, mut region) = (0.0, 0.0, 0.0);
        for k in 0..=n {
            for l in 0..=n {
                let probability = libm::exp(log_binomial_pmf(k, n, p) + log_binomial_pmf(l, n, p));
                let bound = |tails| {
                    let (inside, other) = (counts(k, n), counts(l, n));
                    joint_beta_epsilon(inside, other, no_delta, Direction::Forward, failure(0.1), tails).unwrap().value
                };
                one += if bound(Tails::Two) > 0.0 { probability } else { 0.0 };
                four += if bound(Tails::Four) > 0.0 { probability } else { 0.0 };
                let all = joint_beta_region_epsilon(counts(k, n), counts(l, n), no_delta, failure(0.1)).unwrap();
                region += if all.value > 0.0 { probability } else { 0.0 };
            }
        }
        println!("one {one}, four {four}, region {region}");
        assert!((0.06..0.13).contains(&one) && (0.06..0.13).contains(&four) && region > 0.999_999);
    }

    /// A q that is known perfectly leaves the quantile of p alone.
    #[test]
    fn a_certain_neighbour_leaves_one_quantile() {
        let m = 1_000_000_000_000;
        let bound = joint_beta_epsilon(
            counts(30, 40),
            counts(m / 10, m),
            Delta::new(0.05).unwrap(),
            Direction::Forward,
            failure(0.02),
            Tails::Two,
        );
        let p = BetaLaw::new(30.5, 10.5).quantile(0.02).unwrap().value;
        assert!((bound.unwrap().value - ((p - 0.05) / 0.1).ln()).abs() < 1e-4);
        assert!(clopper_pearson_upper(counts(m / 10, m), failure(0.05)).unwrap().value < 0.100_001);
    }
}
