//! ε from one training run: more right guesses than (ε, δ)-private training would allow.

use crate::bound::{LowerBound, Validity};
use crate::error::{Error, Result};
use crate::interval::{BinomialCounts, clopper_pearson_lower};
use crate::quantity::{Delta, Epsilon, FailureProbability, Probability};
use crate::special::{binomial_tails, log_binomial_pmf};

/// Relative slack on p-values, far above the rounding of binomial tails.
const SLACK: f64 = 1e-11;

/// Halvings of the interval of the search for the bound: beyond the digits of a double.
const HALVINGS: usize = 80;

/// The p-value of v or more right guesses out of r about m canaries under (ε, δ)-differential privacy:
/// ```text
/// β + 2 m δ α,   β = P(W ≥ v),   α = max_{1≤i≤v} P(v > W ≥ v - i)/i,   W ~ Bin(r, e^ε/(1 + e^ε)), at most 1.
/// ```
///
/// `guesses` counts right guesses among all guesses (abstentions excluded); `canaries` is m ≥ r. A separate fair coin
/// must decide whether each canary is in the training data. The choice of canaries to guess at, and the guesses, may
/// depend on the trained model but not on the coins. Otherwise the canaries need not be independent of each other.
///
/// The reason for δ = 0: given the model and the coins of the canaries before it, the coin of a canary has odds of at
/// most e^ε either way, so each guess is right with probability at most q = e^ε/(1 + e^ε), given everything before;
/// such a sum is stochastically dominated by W. For δ > 0 the number of right guesses is dominated by W + F with F ≥ 0
/// independent of W and E F ≤ 2 m δ (Theorem 5.2): the largest P(W + F ≥ v) = β + Σ_i P(F = i) P(v > W ≥ v - i) under
/// Σ_i i P(F = i) ≤ 2 m δ is at most β + 2 m δ α. Computed from wrong guesses, whose probability 1/(1 + e^ε) keeps its
/// digits; rounded up by 1e-11 of itself.
///
/// # Errors
/// [`Error::Domain`] if there are fewer canaries than guesses; [`Error::NoConvergence`] near 2^53 guesses.
///
/// # Example
/// ```
/// # use leakbound::audit::one_run_p_value;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let guesses = BinomialCounts::new(90, 100)?;
/// let p = one_run_p_value(guesses, 1000, Epsilon::new(1.0)?, Delta::new(1e-5)?)?;
/// assert!((p.get() - 8.412_885_614e-4).abs() < 1e-12);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", Theorem 5.2.
pub fn one_run_p_value(guesses: BinomialCounts, canaries: u64, epsilon: Epsilon, delta: Delta) -> Result<Probability> {
    check(guesses, canaries)?;
    let (v, r) = (guesses.successes(), guesses.trials());
    if v == 0 {
        return Probability::new(1.0);
    }
    let wrong = Wrong { most: r - v, guesses: r, p: chance_of_wrong(epsilon.get()) };
    let beta = wrong.at_most(0)?;
    let spent = 2.0 * canaries as f64 * delta.get();
    let excess = if spent > 0.0 { spent * wrong.largest_mean(v, beta)? } else { 0.0 };
    Probability::new(((beta + excess) * (1.0 + SLACK)).min(1.0))
}

/// 1/(1 + e^ε).
fn chance_of_wrong(epsilon: f64) -> f64 {
    let small = libm::exp(-epsilon);
    small / (1.0 + small)
}

/// Wrong guesses E ~ Bin(r, p); at most r - v of them leave v right ones.
struct Wrong {
    most: u64,
    guesses: u64,
    p: f64,
}

impl Wrong {
    /// P(E ≤ r - v + more) = P(W ≥ v - more).
    fn at_most(&self, more: u64) -> Result<f64> {
        Ok(binomial_tails(self.most + more + 1, self.guesses, self.p)?.1)
    }

    /// max_i P(r - v < E ≤ r - v + i)/i over 1 ≤ i ≤ v: the largest mean of the first i point probabilities beyond
    /// r - v. Binomial probabilities rise to one mode and fall from it; the mean rises while the next one is above it
    /// and falls ever after, so bisection finds its maximum.
    fn largest_mean(&self, v: u64, beta: f64) -> Result<f64> {
        let mean = |i: u64| -> Result<f64> { Ok((self.at_most(i)? - beta) / i as f64) };
        let rises =
            |i: u64| -> Result<bool> { Ok(log_binomial_pmf(self.most + i + 1, self.guesses, self.p).exp() > mean(i)?) };
        let (mut low, mut high) = (1, v);
        while low < high {
            let middle = low + (high - low) / 2;
            if rises(middle)? { low = middle + 1 } else { high = middle }
        }
        // The maximum is flat, and a difference of two close tails is rounded, so the neighbors are examined as well,
        // and the first probability, which is not a difference.
        let mut largest = log_binomial_pmf(self.most + 1, self.guesses, self.p).exp();
        for i in low.saturating_sub(2).max(1)..=(low + 2).min(v) {
            largest = largest.max(mean(i)?);
        }
        Ok(largest)
    }
}

/// The ε refuted by one training run: every smaller ε has a p-value ([`one_run_p_value`]) of at most the failure
/// probability.
///
/// `guesses` counts right guesses among r guesses about `canaries` = m canaries. **The numbers of guesses of each kind
/// must be fixed without looking at the coins**: declared, chosen on a part of the canaries that is not bounded, or
/// paid for ([`audit_one_run`](crate::audit::audit_one_run)). For δ = 0 the bound is ln(c/(1-c)) with c the
/// Clopper-Pearson lower limit of v out of r.
///
/// *Finite-sample*. If the published value L exceeds the true ε, then so does an ε' < L with p-value at most f. The
/// largest P(W + F ≥ v) increases with ε, because W increases and F stays the same, so it is at most f at the true ε as
/// well: an event of probability at most f, since the p-value only decreases with v. Rounded down.
///
/// # Errors
/// As [`one_run_p_value`].
///
/// # Example
/// ```
/// # use leakbound::audit::one_run_epsilon;
/// # use leakbound::interval::BinomialCounts;
/// # use leakbound::prelude::*;
/// let (delta, failure) = (Delta::new(1e-5)?, FailureProbability::new(0.05)?);
/// let bound = one_run_epsilon(BinomialCounts::new(1429, 1500)?, 100_000, delta, failure)?;
/// assert!((bound.value - 2.668_754).abs() < 1e-5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// As [`one_run_p_value`].
pub fn one_run_epsilon(
    guesses: BinomialCounts,
    canaries: u64,
    delta: Delta,
    failure: FailureProbability,
) -> Result<LowerBound> {
    check(guesses, canaries)?;
    let pure = clopper_pearson_lower(guesses, failure)?;
    let mut high = (pure.value / pure.complement).ln();
    let mut low = 0.0;
    let bound = |value: f64| LowerBound::new(value, failure, "one-run", Validity::FiniteSample);
    if !(high > 0.0) {
        return Ok(bound(0.0));
    }
    if delta.get() == 0.0 {
        return Ok(bound(high - 1e-12 * (1.0 + high)));
    }
    let refuted = |epsilon: f64| -> Result<bool> {
        Ok(one_run_p_value(guesses, canaries, Epsilon::new(epsilon)?, delta)?.get() <= failure.get())
    };
    if !refuted(low)? {
        return Ok(bound(0.0));
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if refuted(middle)? {
            low = middle
        } else {
            high = middle
        }
        if high - low <= 1e-13 * (1.0 + high) {
            break;
        }
    }
    Ok(bound(low))
}

/// Checks that there are at least as many canaries as guesses, and at most the largest count.
pub(super) fn check(guesses: BinomialCounts, canaries: u64) -> Result<()> {
    let legal = (guesses.trials()..=crate::counts::MAX_COUNT).contains(&canaries);
    Error::check_domain(legal, "canaries", canaries as f64, "[guesses, 2^53]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::tests::assert_rarely_wrong;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn p_value(v: u64, r: u64, m: u64, epsilon: f64, delta: f64) -> f64 {
        let guesses = BinomialCounts::new(v, r).unwrap();
        one_run_p_value(guesses, m, Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).unwrap().get()
    }

    /// Term by term.
    fn by_sums(v: u64, r: u64, m: u64, epsilon: f64, delta: f64) -> f64 {
        let q = 1.0 / (1.0 + (-epsilon).exp());
        let pmf: Vec<f64> = (0..=r).map(|k| log_binomial_pmf(k, r, q).exp()).collect();
        let beta: f64 = pmf[v as usize..].iter().sum();
        let mut alpha = 0.0f64;
        let mut sum = 0.0;
        for i in 1..=v {
            sum += pmf[(v - i) as usize];
            alpha = alpha.max(sum / i as f64);
        }
        (beta + 2.0 * m as f64 * delta * alpha).min(1.0)
    }

    proptest! {
        #[test]
        fn the_p_value_is_its_sums(r in 1u64..200, share in 0.0f64..=1.0, more in 0u64..50, epsilon in 0.0f64..6.0, ln_delta in -20.0f64..-2.0) {
            let v = ((r as f64 * share) as u64).max(1);
            let (m, delta) = (r + more, ln_delta.exp());
            let (got, sums) = (p_value(v, r, m, epsilon, delta), by_sums(v, r, m, epsilon, delta));
            prop_assert!((got - sums).abs() <= 1e-9 * sums && got >= sums * (1.0 - 1e-11), "{} {}", got, sums);
        }
    }

    #[test]
    fn extremes_are_numbers() {
        let large = 1_000_000_000_000;
        for (v, r) in [(0, 1), (1, 1), (0, large), (large, large), (large - 1, large), (large / 2 + 5_000_000, large)] {
            for delta in [0.0, 1e-300, 1e-9, 0.999] {
                for f in [1e-300, 0.05, 0.999] {
                    let guesses = BinomialCounts::new(v, r).unwrap();
                    let failure = FailureProbability::new(f).unwrap();
                    let bound = one_run_epsilon(guesses, r, Delta::new(delta).unwrap(), failure).unwrap().value;
                    assert!(bound >= 0.0 && bound.is_finite(), "{v} {r} {delta} {f}: {bound}");
                }
            }
        }
        assert!(
            one_run_epsilon(
                BinomialCounts::new(1, 2).unwrap(),
                1,
                Delta::new(0.0).unwrap(),
                FailureProbability::new(0.5).unwrap()
            )
            .is_err()
        );
    }

    #[test]
    fn a_larger_delta_explains_more() {
        let guesses = BinomialCounts::new(90, 100).unwrap();
        let failure = FailureProbability::new(0.05).unwrap();
        let bounds = [0.0, 1e-9, 1e-6, 1e-4, 1e-2]
            .map(|delta| one_run_epsilon(guesses, 1000, Delta::new(delta).unwrap(), failure).unwrap().value);
        assert!(bounds.windows(2).all(|pair| pair[0] >= pair[1]) && bounds[4] == 0.0, "{bounds:?}");
    }

    /// Randomized response on every coin, the least private ε-private mechanism: the bound exceeds ε in at most a share
    /// f of the runs. A correct program fails with probability 3e-7 (five standard errors).
    #[test]
    fn randomized_response_is_covered() {
        const RUNS: usize = 2_000;
        const FAILURE: f64 = 0.1;
        let mut stream = ChaCha8Rng::seed_from_u64(8);
        for epsilon in [0.0f64, 1.0, 4.0] {
            let q = 1.0 / (1.0 + (-epsilon).exp());
            let wrong = (0..RUNS)
                .filter(|_| {
                    let right = (0..200).filter(|_| stream.random::<f64>() < q).count() as u64;
                    let guesses = BinomialCounts::new(right, 200).unwrap();
                    let failure = FailureProbability::new(FAILURE).unwrap();
                    one_run_epsilon(guesses, 200, Delta::new(0.0).unwrap(), failure).unwrap().value > epsilon
                })
                .count();
            println!("{epsilon}");
            assert_rarely_wrong(wrong, RUNS, FAILURE, 5.0);
        }
    }
}
