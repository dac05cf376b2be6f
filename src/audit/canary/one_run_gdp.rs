//! μ of Gaussian differential privacy from one training run.

use super::one_run::check;
use crate::bound::{LowerBound, Validity};
use crate::error::{Error, Result};
use crate::interval::BinomialCounts;
use crate::quantity::FailureProbability;
use crate::special::{ndtr, ndtri};

/// With more right guesses in one run, the recursion is too long.
pub(super) const MOST_GUESSES: u64 = 1 << 22;

/// Relative slack of the comparison, above the rounding of sums with this many terms.
const SLACK: f64 = 1e-9;

/// The μ refuted by one training run: no μ-GDP training with a smaller μ allows this many right guesses, except with
/// the failure probability.
///
/// With `guesses` v right of r about m canaries, each in or out by a fair coin, and the failure probability f, let
/// G(x) = Φ(Φ⁻¹(x) - μ), the smallest probability of an event that has probability x in the other world. A probability
/// of at least f for v or more right guesses is impossible if the recursion
/// ```text
/// ρ_v = f v/m,  η_v = f (r - v)/m;    η_i = max(η_{i+1}, G(ρ_{i+1})),  ρ_i = ρ_{i+1} + i/(r - i) (η_i - η_{i+1})
/// ```
/// ends with ρ_0 + η_0 > r/m: ρ and η bound from below the probabilities that a canary is guessed right, or wrong,
/// while at least i guesses are right, and together they cannot exceed the share r/m of guesses. A result that refutes
/// μ refutes every smaller μ, since G decreases in μ. r and v must be as in
/// [`one_run_epsilon`](crate::audit::one_run_epsilon); canaries must be exchangeable.
///
/// *Finite-sample* for μ; the ε at δ implied by this μ is that of the claim of μ-GDP, as with
/// [`gdp_bounds`](crate::audit::gdp_bounds).
///
/// # Errors
/// [`Error::Domain`] with fewer canaries than guesses, [`Error::Rejected`] for more than 2^22 guesses.
///
/// # Example
/// ```
/// # use leakbound::audit::one_run_mu;
/// # use leakbound::divergence::gdp_epsilon;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let mu = one_run_mu(BinomialCounts::new(750, 1000)?, 1000, FailureProbability::new(0.05)?)?;
/// assert!((gdp_epsilon(mu.value, Delta::new(1e-5)?)?.get() - 1.818_896).abs() < 1e-5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Mahloujifar, Melis and Chaudhuri (2025), "Auditing f-differential privacy in one run", Theorem and Algorithm for
/// guesses with abstentions.
pub fn one_run_mu(guesses: BinomialCounts, canaries: u64, failure: FailureProbability) -> Result<LowerBound> {
    check(guesses, canaries)?;
    let reason = format_args!("{} guesses are more than {MOST_GUESSES}", guesses.trials());
    Error::check_possible(guesses.trials() <= MOST_GUESSES, "one-run audit of Gaussian differential privacy", reason)?;
    let (mut low, mut high) = (0.0, 1.0);
    let bound = |value| LowerBound::new(value, failure, "one-run-gdp", Validity::FiniteSample);
    if !refuted(0.0, guesses, canaries, failure) {
        return Ok(bound(0.0));
    }
    while refuted(high, guesses, canaries, failure) {
        (low, high) = (high, 2.0 * high);
        if high > 1e3 {
            // Beyond the range of probabilities in doubles.
            return Ok(bound(low));
        }
    }
    while high - low > 1e-9 * (1.0 + high) {
        let middle = 0.5 * (low + high);
        if refuted(middle, guesses, canaries, failure) { low = middle } else { high = middle }
    }
    Ok(bound(low))
}

/// Whether the recursion leaves the possible range of guesses.
fn refuted(mu: f64, guesses: BinomialCounts, canaries: u64, failure: FailureProbability) -> bool {
    let (v, r, m) = (guesses.successes(), guesses.trials(), canaries as f64);
    let mut right = failure.get() * v as f64 / m;
    let mut wrong = failure.get() * (r - v) as f64 / m;
    for i in (0..v).rev() {
        let blown = ndtr(ndtri(right.min(1.0)) - mu);
        if !(blown > wrong) {
            // Neither changes any more.
            break;
        }
        right += i as f64 / (r - i) as f64 * (blown - wrong);
        wrong = blown;
        if right + wrong > 2.0 {
            break;
        }
    }
    right + wrong > r as f64 / m * (1.0 + SLACK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::assert_rarely_wrong;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Bernoulli, Distribution};

    fn mu(v: u64, r: u64, m: u64, f: f64) -> f64 {
        one_run_mu(BinomialCounts::new(v, r).unwrap(), m, FailureProbability::new(f).unwrap()).unwrap().value
    }

    #[test]
    fn extremes_are_numbers() {
        for (v, r, m) in [(0, 1, 1), (1, 1, 1), (1, 1, 1 << 50), (1000, 1000, 1000), (0, 1000, 1000)] {
            for f in [1e-300, 0.05, 0.999] {
                let mu = mu(v, r, m, f);
                assert!(mu >= 0.0 && mu.is_finite(), "{v} {r} {m} {f}: {mu}");
            }
        }
        assert_eq!(mu(500, 1000, 1000, 0.05), 0.0);
        let failure = FailureProbability::new(0.05).unwrap();
        assert!(one_run_mu(BinomialCounts::new(1, 1 << 30).unwrap(), 1 << 30, failure).is_err());
    }

    /// Independent Gaussian canaries of known μ: a guess by the sign of the score is right with probability Φ(μ/2).
    /// The bound exceeds μ in at most a share f of the runs; a correct program fails with probability 3e-7 (five
    /// standard errors).
    #[test]
    fn gaussian_canaries_are_covered() {
        const RUNS: usize = 400;
        const FAILURE: f64 = 0.1;
        let mut stream = ChaCha8Rng::seed_from_u64(21);
        for truth in [0.0, 0.5, 2.0] {
            let right = Bernoulli::new(ndtr(truth / 2.0)).unwrap();
            let wrong = (0..RUNS)
                .filter(|_| {
                    let v = (0..150).filter(|_| right.sample(&mut stream)).count() as u64;
                    mu(v, 150, 150, FAILURE) > truth
                })
                .count();
            println!("{truth}");
            assert_rarely_wrong(wrong, RUNS, FAILURE, 5.0);
        }
    }
}
