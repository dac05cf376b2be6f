//! Ranges of all proportions of a multinomial with an unknown list of classes.

use super::binomial::{BinomialCounts, ProportionLimit, clopper_pearson_lower, clopper_pearson_upper};
use super::simultaneous::{ProportionRange, total};
use crate::error::Result;
use crate::quantity::FailureProbability;

/// The largest number of steps of an iteration; each of its values is valid.
const MOST_STEPS: usize = 64;
/// An iteration ends when a step gains less than this share.
const GAIN: f64 = 1e-9;

/// Simultaneous ranges of the proportions of all classes, including those never seen, that hold except with probability
/// `failure`, for every n and any number of classes, known or not.
///
/// `counts` are those of the classes of interest, usually the classes that were seen; `trials` is the total number n of
/// samples. Dividing the failure probability by the number of classes seen would be wrong: which classes are seen
/// depends on the samples, and one of many rare classes is seen once although its own probability makes that very
/// unlikely. Here each class is charged in proportion to its own probability instead, and probabilities sum to 1 for
/// any list of classes.
///
/// With f half of `failure` and N_x ~ Bin(n, p_x) the count of class x, the lower limit L(k) is the infimum of
/// {p : P(Bin(n, p) ≥ k) > f p} and the upper limit U(k) the supremum of {p : P(Bin(n, p) ≤ k) > f p}.
///
/// **Proof.** L(N_x) > p_x implies P(Bin(n, p_x) ≥ k) ≤ f p_x at k = N_x, and the probability that a count k satisfies
/// this is at most f p_x, because P(Bin ≥ k) decreases in k. The sum over all classes, seen or not, is at most f Σ p_x
/// ≤ f. The same holds for U. A class that is never seen has the range for count 0. Given p_x ≤ U, the complement of
/// the class, which contains everything never seen, has probability at least 1 - U.
///
/// Both limits are Clopper-Pearson limits at a failure probability that depends on the limit: L solves
/// L = lower(k; f L). The iteration L ← lower(k; f L) increases from any start below the solution and stays below it,
/// because P(Bin(n, p) ≥ k)/p increases in p where it is below 1 (it is the mean over [0, p] of a density with one
/// mode, so it decreases only where it exceeds the density, down to 1 at p = 1). U ← upper(k; f U) alternates around
/// its solution, since P(Bin(n, p) ≤ k) decreases and f p increases in p: every second value is above. So every value
/// used is valid, wherever the iteration ends.
///
/// For C equally likely classes, the ranges are as wide as those of [`clopper_pearson_simultaneous`]; likelier classes
/// have narrower ranges, rarer classes wider ones. A class seen once has lower limit 0.
///
/// [`clopper_pearson_simultaneous`]: crate::interval::clopper_pearson_simultaneous
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) for no classes, [`Error::Domain`](crate::Error::Domain) for a total of 0 or
/// above 2^53; as [`clopper_pearson_lower`].
///
/// # Example
/// ```
/// # use leakbound::interval::clopper_pearson_open;
/// # use leakbound::quantity::FailureProbability;
/// let ranges = clopper_pearson_open(&[198, 1, 1], FailureProbability::new(0.05)?)?;
/// assert!(ranges[0].lower.value > 0.95);
/// assert_eq!(ranges[1].lower.value, 0.0); // one of many rare classes comes up once all the time
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Clopper and Pearson (1934) for the inversion of tests; the weights of the union bound are new here.
pub fn clopper_pearson_open(counts: &[u64], failure: FailureProbability) -> Result<Vec<ProportionRange>> {
    let trials = total(counts)?;
    let half = failure.split(2);
    let range = |&count: &u64| {
        let counts = BinomialCounts::new(count, trials)?;
        Ok(ProportionRange { lower: lower(counts, half)?, upper: upper(counts, half)? })
    };
    counts.iter().map(range).collect()
}

/// f p as a failure probability, rounded down to stay valid and kept positive.
fn weighted(failure: FailureProbability, p: f64) -> Option<FailureProbability> {
    FailureProbability::new((failure.get() * p).next_down()).ok()
}

/// L(k): every value of the iteration is below the solution.
fn lower(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    let (k, n) = (counts.successes() as f64, counts.trials() as f64);
    let zero = ProportionLimit::ZERO;
    if counts.successes() < 2 {
        // P(Bin(n, p) ≥ 1)/p tends to n ≥ 1 > f: no p > 0 is excluded.
        return Ok(zero);
    }
    // P(Bin(n, p) ≥ k) ≤ (n p)^k/k!, so it is at most f p for p up to (f k!/n^k)^{1/(k-1)}; halved for rounding.
    let start = libm::exp((failure.get().ln() + libm::lgamma(k + 1.0) - k * n.ln()) / (k - 1.0)) / 2.0;
    let mut limit = ProportionLimit { value: start.min(0.5), ..zero };
    for step in 0..MOST_STEPS {
        let Some(share) = weighted(failure, limit.value) else { break };
        let next = clopper_pearson_lower(counts, share)?;
        let gained = next.value > limit.value * (1.0 + GAIN);
        if next.value >= limit.value || step == 0 {
            limit = next;
        }
        if !gained {
            break;
        }
    }
    // A start that was never replaced has no separate complement.
    Ok(if limit.complement < 1.0 || limit.value == 0.0 { limit } else { zero })
}

/// U(k): every second value of the iteration is above the solution.
fn upper(counts: BinomialCounts, failure: FailureProbability) -> Result<ProportionLimit> {
    let mut limit = ProportionLimit::ONE;
    for _ in 0..MOST_STEPS / 2 {
        // From above to below the solution, and back.
        let Some(share) = weighted(failure, limit.value) else { break };
        let below = clopper_pearson_upper(counts, share)?;
        let Some(share) = weighted(failure, below.value) else { break };
        let above = clopper_pearson_upper(counts, share)?;
        let gained = above.value < limit.value * (1.0 - GAIN);
        if above.value < limit.value {
            limit = above;
        }
        if !gained {
            break;
        }
    }
    Ok(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::clopper_pearson_simultaneous;
    use statrs::distribution::{Binomial, DiscreteCDF};

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    /// P(Bin(n, p) ≥ k).
    fn tail(k: u64, n: u64, p: f64) -> f64 {
        k.checked_sub(1).map_or(1.0, |below| Binomial::new(p, n).unwrap().sf(below))
    }

    #[test]
    fn limits_solve_their_equations_from_the_safe_side() {
        for n in [2, 7, 200, 3000] {
            for k in [0, 1, 2, 3, n / 10, n / 2, n - 1, n].into_iter().filter(|&k| k <= n) {
                for f in [1e-9, 0.0125, 0.3] {
                    let counts = BinomialCounts::new(k, n).unwrap();
                    let (low, high) =
                        (lower(counts, failure(f)).unwrap().value, upper(counts, failure(f)).unwrap().value);
                    assert!((0.0..=k as f64 / n as f64).contains(&low) && (k as f64 / n as f64..=1.0).contains(&high));
                    if low > 0.0 {
                        let share = tail(k, n, low) / (f * low);
                        assert!((0.999..1.0 + 1e-9).contains(&share), "lower {k}/{n} at {f}: {share}");
                    } else {
                        assert!(k < 2);
                    }
                    if high < 1.0 {
                        let share = (1.0 - tail(k + 1, n, high)) / (f * high);
                        assert!(f < 1e-8 || (0.999..1.0 + 1e-6).contains(&share), "upper {k}/{n} at {f}: {share}");
                    }
                }
            }
        }
    }

    /// Two of a million at 1e-300: the limit would be about 1e-312, and a share of it would underflow.
    #[test]
    fn a_limit_below_the_doubles_is_zero() {
        let limit = lower(BinomialCounts::new(2, 1_000_000).unwrap(), failure(1e-300)).unwrap();
        assert_eq!((limit.value, limit.complement), (0.0, 1.0));
    }

    /// Classes with equal probabilities are charged the same as in a known list.
    #[test]
    fn the_price_is_that_of_a_known_list() {
        let counts = [1000; 10];
        let known = clopper_pearson_simultaneous(&counts, failure(0.05)).unwrap()[0];
        let open = clopper_pearson_open(&counts, failure(0.05)).unwrap()[0];
        assert!((open.lower.value / known.lower.value - 1.0).abs() < 0.003);
        assert!((open.upper.value / known.upper.value - 1.0).abs() < 0.003);
        let alone = clopper_pearson_open(&[50], failure(0.05)).unwrap()[0];
        assert!(alone.lower.value > 0.9 && alone.upper.value == 1.0);
    }
}
