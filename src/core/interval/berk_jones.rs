//! The band of Berk and Jones below an empirical survival function, at its exact level.

use super::binomial::{BinomialCounts, ProportionLimit, clopper_pearson_lower};
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;

/// Beyond this, the work, quadratic in the sample size, is too much.
const MOST_TRIALS: u64 = 4096;
/// The relative accuracy of the computed probability of a crossing; see [`crossing`].
const ROUNDING: f64 = 1e-9;
/// The search for a level ends when the band spends at least this share of the failure probability.
const SPENT: f64 = 0.98;
/// The largest number of tries.
const TRIES: usize = 12;

/// Simultaneous lower limits of a survival function at every point, from n samples.
///
/// For samples X₁ ... X_n of any distribution, K(t) of them at or above t, P(X ≥ t) ≥ [`lower`](Self::lower)(K(t))
/// holds **simultaneously** for all t except with the failure probability, for every n. The limit for k is that of
/// Clopper and Pearson at the same level a for all k; a is chosen so that the band as a whole spends between 98% and
/// all of the failure probability. It falls like 1/(ln n ln ln n), the union bound's like 1/n.
///
/// # Proof
/// Let U_i = P(X > X_i) + ξ_i P(X = X_i) with ξ_i uniform: uniform, and at most P(X ≥ X_i). A sample at or above t has
/// U_i ≤ P(X ≥ X_i) ≤ P(X ≥ t), so K(t) of the U are at most P(X ≥ t): if P(X ≥ t) < b_k with k = K(t) for any t, the
/// k-th smallest U is below b_k. Let N(b) count the U below b. The last k with N(b_k) ≥ k has N(b_k) = k, because the
/// next k + 1 is not reached at b_{k+1} ≥ b_k; given it, the other n - k are uniform above b_k and meet no later
/// boundary, with a probability R_k. Hence
/// ```text
/// P(some U_(k) < b_k) = Σ_k w(0, k) R_k,   R_k = 1 - Σ_{j>k} w(k, j) R_j,
/// w(k, j) = C(n-k, j-k) s^{j-k} (1-s)^{n-j},   s = (b_j - b_k)/(1 - b_k),   b_0 = 0. ∎
/// ```
///
/// # Example
/// ```
/// # use leakbound::interval::BerkJones;
/// # use leakbound::quantity::FailureProbability;
/// let band = BerkJones::new(500, FailureProbability::new(0.05)?)?;
/// // Ten of 500 above a threshold chosen freely: the survival function there is at least 0.62 %,
/// // where the union bound over 500 thresholds gives 0.44 %.
/// assert!((band.lower(10).value - 0.00626).abs() < 2e-5);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Berk and Jones (1979), "Goodness-of-fit test statistics that dominate the Kolmogorov statistics"; Moscovich, Nadler
/// and Spiegelman (2016), "On the exact Berk-Jones statistics and their p-value calculation". Recursions for such
/// probabilities are in Shorack and Wellner (1986), "Empirical processes with applications to statistics", section 9.3.
#[derive(Debug, Clone, PartialEq)]
pub struct BerkJones {
    /// Limits for k = 0, 1, ..., n.
    limits: Vec<ProportionLimit>,
}

impl BerkJones {
    /// Whether there is a band for this many samples.
    #[must_use]
    pub const fn fits(trials: u64) -> bool {
        trials >= 1 && trials <= MOST_TRIALS
    }

    /// The band for this many samples, in time proportional to its square.
    ///
    /// # Errors
    /// [`Error::Domain`] unless there are 1 to 4096 samples; as [`clopper_pearson_lower`].
    pub fn new(trials: u64, failure: FailureProbability) -> Result<Self> {
        Error::check_domain(Self::fits(trials), "samples of a band", trials as f64, "[1, 4096]")?;
        let (n, f) = (trials as f64, failure.get());
        // The union bound, which needs no search.
        let mut best = limits(trials, failure.split(trials as usize))?;
        // A fit to the level for f from 1e-6 to 0.5 and n up to 1000, to within a few percent.
        let growth = (libm::log(n) * libm::log1p(libm::log(n))).powf(1.2);
        let mut level = f / (1.0 + (0.5 - 0.37 * libm::log(f)).min(3.0) * growth);
        for _ in 0..TRIES {
            let Ok(tried) = FailureProbability::new(level) else { break };
            let candidate = limits(trials, tried)?;
            let spent = crossing(&candidate) * (1.0 + ROUNDING);
            if spent <= f {
                best = candidate;
                if spent >= SPENT * f {
                    break;
                }
            }
            // The crossing probability grows slightly more slowly than the level.
            level *= (0.99 * f / spent).powf(1.1).clamp(0.05, 20.0);
        }
        Ok(Self { limits: best })
    }

    /// The limit if k of the n samples are at or above the point; 0 for k = 0, and that of n beyond n.
    #[must_use]
    pub fn lower(&self, k: u64) -> ProportionLimit {
        self.limits[usize::try_from(k).map_or(self.limits.len() - 1, |k| k.min(self.limits.len() - 1))]
    }
}

fn limits(trials: u64, level: FailureProbability) -> Result<Vec<ProportionLimit>> {
    (0..=trials).map(|k| clopper_pearson_lower(BinomialCounts::new(k, trials)?, level)).collect()
}

/// P(some U_(k) < b_k) for n uniform samples and increasing boundaries b_0 = 0, b_1, ..., b_n; 1 if it cannot be
/// determined.
///
/// Every w is off by the rounding of logarithms of size n ln n < 4e4, about 4e-11. R_k is off by the largest error of a
/// later R times 1 - R_k, since Σ w R = 1 - R_k, plus n roundings; the sum at the end contains no differences.
fn crossing(boundaries: &[ProportionLimit]) -> f64 {
    let n = boundaries.len() - 1;
    let log_factorial: Vec<f64> = (0..=n).map(|k| libm::lgamma(k as f64 + 1.0)).collect();
    // ln (1-b_k)^(n-k), which is 0 at k = n for any b_n.
    let log_above: Vec<f64> = boundaries
        .iter()
        .enumerate()
        .map(|(k, b)| if k == n { 0.0 } else { (n - k) as f64 * log_of_complement(*b) })
        .collect();
    let mut stays = vec![1.0; n + 1];
    for k in (0..=n).rev() {
        let here = boundaries[k];
        let from = log_factorial[n - k] - log_above[k];
        let mut sum = 0.0;
        for j in k + 1..=n {
            let there = boundaries[j];
            // From the smaller sides, so nothing is lost near 1.
            let step = if here.value < 0.5 { there.value - here.value } else { here.complement - there.complement };
            let exponent = from + log_above[j] - log_factorial[j - k] - log_factorial[n - j];
            sum += libm::exp(exponent + (j - k) as f64 * libm::log(step.max(0.0))) * stays[j];
        }
        if k == 0 {
            return sum.min(1.0);
        }
        stays[k] = 1.0 - sum;
        if !(stays[k] > 1e-3) {
            return 1.0;
        }
    }
    1.0
}

fn log_of_complement(limit: ProportionLimit) -> f64 {
    if limit.value < 0.5 { libm::log1p(-limit.value) } else { libm::log(limit.complement) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Each from its exact side: the other side has lost all digits.
    #[test]
    fn the_logarithm_of_a_complement_is_taken_from_the_smaller_side() {
        let near_zero = ProportionLimit { value: 1e-20, complement: 1.0 };
        assert_eq!(log_of_complement(near_zero), -1e-20);
        let near_one = ProportionLimit { value: 1.0, complement: 1e-20 };
        assert_eq!(log_of_complement(near_one), 1e-20_f64.ln());
    }

    fn boundary(value: f64) -> ProportionLimit {
        ProportionLimit { value, complement: 1.0 - value }
    }

    fn failure(f: f64) -> FailureProbability {
        FailureProbability::new(f).unwrap()
    }

    /// Two samples: both at least b₁ and not both below b₂.
    #[test]
    fn two_samples_are_a_square_without_a_square() {
        for (first, second) in [(0.1, 0.3), (0.0, 0.5), (0.2, 0.2), (1e-9, 0.999)] {
            let exact = 1.0 - ((1.0f64 - first).powi(2) - (second - first).powi(2));
            let found = crossing(&[0.0, first, second].map(boundary));
            assert!((found - exact).abs() < 1e-14, "{first} {second}: {found} {exact}");
        }
    }

    /// Straight boundaries k/n - d: the distribution of the one-sided statistic of Kolmogorov, Birnbaum and Tingey
    /// (1951).
    #[test]
    fn straight_boundaries_are_those_of_kolmogorov() {
        for (n, d) in [(5usize, 0.4), (20, 0.25), (100, 0.12), (1000, 0.04)] {
            let boundaries: Vec<_> = (0..=n).map(|k| boundary((k as f64 / n as f64 - d).max(0.0))).collect();
            let log_choose = |j: usize| {
                libm::lgamma(n as f64 + 1.0) - libm::lgamma(j as f64 + 1.0) - libm::lgamma((n - j) as f64 + 1.0)
            };
            let term = |j: usize| {
                let x = d + j as f64 / n as f64;
                let log = log_choose(j) + (j as f64 - 1.0) * x.ln() + (n - j) as f64 * (1.0 - x).max(0.0).ln();
                d * log.exp()
            };
            let exact: f64 = (0..).take_while(|&j| d + j as f64 / (n as f64) < 1.0).map(term).sum();
            let found = crossing(&boundaries);
            assert!((found / exact - 1.0).abs() < 1e-9, "{n} {d}: {found} {exact}");
        }
    }

    /// The search ends, spends the intended probability, and beats the union bound.
    #[test]
    fn the_band_spends_its_failure_probability() {
        for n in [1, 2, 3, 10, 100, 700] {
            for f in [1e-300, 1e-12, 1e-3, 0.05, 0.5] {
                let band = BerkJones::new(n, failure(f)).unwrap();
                let spent = crossing(&band.limits);
                assert!(spent <= f && spent >= 0.97 * f, "{n} {f}: {}", spent / f);
                assert!(band.limits.windows(2).all(|pair| pair[0].value < pair[1].value));
            }
            let extreme = BerkJones::new(n, failure(0.999)).unwrap();
            assert!(crossing(&extreme.limits) <= 0.999);
        }
        assert!(BerkJones::new(0, failure(0.1)).is_err() && BerkJones::new(4097, failure(0.1)).is_err());
    }

    /// The error rate matches the stated one: 4,000 samples of 60, within four standard errors (false alarms 6e-5).
    #[test]
    fn the_band_is_wrong_as_often_as_it_says() {
        const SAMPLES: usize = 4_000;
        let band = BerkJones::new(60, failure(0.1)).unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(5);
        let mut wrong = 0;
        for _ in 0..SAMPLES {
            let mut sample: Vec<f64> = (0..60).map(|_| stream.random()).collect();
            sample.sort_by(f64::total_cmp);
            // The k-th smallest is the survival function of its complement.
            wrong += usize::from(sample.iter().zip(1..).any(|(u, k)| *u < band.lower(k).value));
        }
        let share = wrong as f64 / SAMPLES as f64;
        println!("{share}");
        assert!((share - 0.0985).abs() < 4.0 * (0.1f64 * 0.9 / SAMPLES as f64).sqrt() + 0.0015);
    }
}
