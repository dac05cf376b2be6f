//! Binomial variables of up to 2^53 trials, with exactly the distribution of `log_binomial_pmf`.
//!
//! `rand_distr::Binomial` is exact in form but not in doubles. Below a mean of 10, it starts from (1-p)^n with 1-p
//! rounded, which is off by n 2^-54 of itself: 5e-4 for 10^13 trials, a factor of e^{1/2} for 2^53. Above, the last
//! step of its acceptance test multiplies ln(m/k) by m, off by m 2^-53, and decides within a band of relative width
//! 1/√(npq): 5e-6 in total variation at worst, near 5·10^10 trials. Counts of 10^13 simulated outputs need more
//! accuracy, which the saddle-point form provides.

use crate::special::log_binomial_pmf;
use rand::{Rng, RngExt};

/// Below this mean, the probabilities are added up from 0.
const LEAST_MEAN_OF_REJECTION: f64 = 10.0;

/// A draw from Bin(n, p) for n ≤ 2^53 and 0 ≤ p ≤ 1/2.
pub fn draw(n: u64, p: f64, stream: &mut impl Rng) -> u64 {
    let mean = n as f64 * p;
    if !(mean > 0.0) {
        0
    } else if mean < LEAST_MEAN_OF_REJECTION {
        by_inversion(n, p, stream)
    } else {
        Rejection::new(n, p).draw(stream)
    }
}

/// From P(0) = exp(n ln(1-p)) upwards by P(k+1) = P(k) (n-k)/(k+1) p/(1-p).
fn by_inversion(n: u64, p: f64, stream: &mut impl Rng) -> u64 {
    let (first, odds) = (libm::exp(n as f64 * libm::log1p(-p)), p / (1.0 - p));
    loop {
        let (mut left, mut weight): (f64, f64) = (stream.random(), first);
        for k in 0..=n {
            if left < weight {
                return k;
            }
            // The remainder from rounding, about 2^-53, is drawn again.
            if weight == 0.0 {
                break;
            }
            left -= weight;
            weight *= (n - k) as f64 / (k + 1) as f64 * odds;
        }
    }
}

/// Transformed rejection (Hörmann 1993, algorithm BTRS): k = floor(G(u)) for a uniform u is accepted with probability
/// P(k) G'(u)/(P(mode) alpha). The squeezes are omitted, so only alpha has to be large enough, which the tests check.
struct Rejection {
    n: u64,
    p: f64,
    mode: u64,
    ln_mode: f64,
    /// np + 1/2 minus the mode: the transformation is centered there, so no digits are lost for large n.
    shift: f64,
    a: f64,
    b: f64,
    alpha: f64,
}

impl Rejection {
    /// np ≥ 10, p ≤ 1/2.
    fn new(n: u64, p: f64) -> Self {
        let deviation = (n as f64 * p * (1.0 - p)).sqrt();
        let b = 1.15 + 2.53 * deviation;
        let mode = ((n as f64 * p + p) as u64).min(n);
        Self {
            n,
            p,
            mode,
            ln_mode: log_binomial_pmf(mode, n, p),
            shift: (n as f64).mul_add(p, -(mode as f64)) + 0.5,
            a: -0.0873 + 0.0248 * b + 0.01 * p,
            b,
            alpha: (2.83 + 5.1 / b) * deviation,
        }
    }

    /// G(u) minus the mode, and G'(u), for -1/2 < u < 1/2.
    fn transform(&self, u: f64) -> (f64, f64) {
        let end = 0.5 - u.abs();
        ((2.0 * self.a / end + self.b) * u + self.shift, self.a / (end * end) + self.b)
    }

    /// ln P(k)/P(mode).
    fn ln_ratio(&self, k: u64) -> f64 {
        log_binomial_pmf(k, self.n, self.p) - self.ln_mode
    }

    fn draw(&self, stream: &mut impl Rng) -> u64 {
        loop {
            let (u, v): (f64, f64) = (stream.random::<f64>() - 0.5, stream.random());
            let (offset, slope) = self.transform(u);
            // At u = -1/2 both are infinite, and -inf as i64 is out of range.
            let k = i128::from(offset.floor() as i64) + i128::from(self.mode);
            if !(0..=i128::from(self.n)).contains(&k) {
                continue;
            }
            let k = k as u64;
            if v * self.alpha / slope <= libm::exp(self.ln_ratio(k)) {
                return k;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variate::p_value;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn stream(seed: u64) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(seed)
    }

    /// The distribution is that of the formula if no acceptance probability exceeds 1.
    #[test]
    fn the_hat_covers_every_distribution() {
        let mut worst = 0.0f64;
        for mean in [10.0, 10.5, 11.3, 14.0, 20.0, 33.0, 100.0, 1e3, 1e5, 1e9, 1e13] {
            for p in [1e-12, 1e-6, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5] {
                let n = f64::ceil(mean / p);
                if n > 9e15 {
                    continue;
                }
                let distribution = Rejection::new(n as u64, p);
                for step in 1..20_000 {
                    let (offset, slope) = distribution.transform(f64::from(step) / 20_000.0 - 0.5);
                    let k = offset.floor() + distribution.mode as f64;
                    if (0.0..=n).contains(&k) {
                        worst = worst.max(distribution.ln_ratio(k as u64).exp() * slope / distribution.alpha);
                    }
                }
            }
        }
        println!("largest acceptance probability {worst}");
        assert!(worst <= 1.0 && worst > 0.9);
    }

    /// Chi-square over all outcomes: each of the 14 fails with probability 1e-6 over the seeds.
    #[test]
    fn draws_fit_the_binomial_distribution() {
        for (n, p) in [
            (1, 0.5),
            (7, 0.3),
            (19, 0.5),
            (20, 0.5),
            (21, 0.5),
            (60, 0.2),
            (100, 0.1),
            (250, 0.5),
            (1_000, 0.011),
            (100_000, 1e-4),
            (1_000_000_000, 9.9e-9),
            (10_000_000_000_000, 9e-13),
            (10_000_000_000_000, 3e-12),
            (1 << 53, 2.3e-16),
        ] {
            let mut stream = stream(n);
            let most = (n.min(400)) as usize;
            let mut counts = vec![0u64; most + 1];
            for _ in 0..400_000 {
                counts[draw(n, p, &mut stream) as usize] += 1;
            }
            let distribution: Vec<f64> = (0..=most).map(|k| log_binomial_pmf(k as u64, n, p).exp()).collect();
            let fit = p_value(&counts, &distribution);
            println!("Bin({n}, {p}): p-value {fit:.4}");
            assert!(fit > 1e-6);
        }
    }

    /// 10^13 and 2^53 trials are normal to 1e-6: 100 cells of equal probability, and the mean and the variance, each
    /// within five standard errors (6e-7 each, 16 of them; the chi-square tests fail with probability 1e-6 each).
    #[test]
    fn huge_numbers_of_trials_are_normal() {
        for (n, p) in [(10u64.pow(10), 0.5), (10u64.pow(13), 0.5), (10u64.pow(13), 1e-3), (1 << 53, 0.3)] {
            let (mean, deviation) = (n as f64 * p, (n as f64 * p * (1.0 - p)).sqrt());
            let mut stream = stream(n ^ 5);
            let (draws, mut sum, mut squares) = (200_000, 0.0, 0.0);
            let mut counts = vec![0u64; 100];
            for _ in 0..draws {
                let z = (draw(n, p, &mut stream) as f64 - mean) / deviation;
                (sum, squares) = (sum + z, squares + z * z);
                counts[((crate::special::ndtr(z) * 100.0) as usize).min(99)] += 1;
            }
            let draws = f64::from(draws);
            let (first, second) = (sum / draws * draws.sqrt(), (squares / draws - 1.0) * (draws / 2.0).sqrt());
            let fit = p_value(&counts, &[0.01; 100]);
            println!("Bin({n}, {p}): mean {first:.2} and variance {second:.2} standard errors off, p-value {fit:.4}");
            assert!(first.abs() < 5.0 && second.abs() < 5.0 && fit > 1e-6);
        }
    }

    #[test]
    fn ends_are_exact() {
        let mut stream = stream(0);
        assert_eq!(draw(0, 0.5, &mut stream), 0);
        assert_eq!(draw(1 << 53, 0.0, &mut stream), 0);
        assert_eq!(draw(1 << 53, f64::MIN_POSITIVE, &mut stream), 0);
    }
}
