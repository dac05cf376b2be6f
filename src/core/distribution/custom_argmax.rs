//! Noisy argmax with user-defined noise: any log-concave density.

use super::categorical::OutcomeDistribution;
use super::count_groups::{CountGroups, Spread};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quadrature::{LogIntegral, log_concave_panels};

/// A log-concave noise density, such as the logistic or Gumbel density. Gaussian and Laplace noise have their own,
/// faster distributions with tighter errors.
pub trait LogConcaveNoise {
    /// A length over which the density changes, in votes: the standard deviation, or anything of similar size.
    fn scale(&self) -> f64;

    /// ln of the density at x, concave, in votes.
    fn ln_density(&self, x: f64) -> f64;

    /// ln of the distribution function at x, accurate in the lower tail.
    fn ln_cdf(&self, x: f64) -> f64;
}

/// The distribution of the argmax of n_c + Z_c for independent user-defined noise.
///
/// P(c) = ∫ f(x - n_c) Π_{i≠c} F(x - n_i) dx by the double exponential rule on panels between the counts and around the
/// peak of the integrand, which is log-concave because f, and with it F, is.
///
/// # Errors
/// As [`noisy_argmax_distribution`](crate::distribution::noisy_argmax_distribution);
/// [`Error::NoConvergence`](crate::Error::NoConvergence) also when the density is not log-concave or does not match its
/// distribution function, because the probabilities then do not sum to 1.
///
/// # Example
/// With Gumbel noise the noisy argmax is the exponential mechanism: P(c) is proportional to exp(n_c/b).
/// ```
/// use leakbound::histogram::VoteHistogram;
/// use leakbound::distribution::{LogConcaveNoise, custom_argmax_distribution};
///
/// struct Gumbel(f64);
/// impl LogConcaveNoise for Gumbel {
///     fn scale(&self) -> f64 {
///         self.0
///     }
///     fn ln_density(&self, x: f64) -> f64 {
///         -x / self.0 - (-x / self.0).exp() - self.0.ln()
///     }
///     fn ln_cdf(&self, x: f64) -> f64 {
///         -(-x / self.0).exp()
///     }
/// }
///
/// let distribution = custom_argmax_distribution(&VoteHistogram::new(vec![3, 1, 0])?, &Gumbel(2.0))?;
/// let weights = [1.5f64.exp(), 0.5f64.exp(), 1.0];
/// assert!((distribution.p()[0] - weights[0] / weights.iter().sum::<f64>()).abs() < 1e-13);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub fn custom_argmax_distribution(
    histogram: &VoteHistogram,
    noise: &impl LogConcaveNoise,
) -> Result<OutcomeDistribution> {
    let scale = crate::quantity::NoiseScale::new(noise.scale())?.get();
    let groups = CountGroups::new(histogram, scale, Spread::LATTICE)?;
    // Positions relative to the largest count, so small differences of large counts keep their digits.
    let kinks: Vec<f64> = groups.groups.iter().map(|group| -group.gap * scale).collect();
    let mut start = 0.0;
    let mut distributions: Vec<LogIntegral> = Vec::with_capacity(kinks.len());
    for (class, &count) in kinks.iter().enumerate() {
        let log_integrand = |x: f64| {
            let others: f64 = groups
                .groups
                .iter()
                .zip(&kinks)
                .enumerate()
                .map(|(other, (group, &kink))| {
                    let voters = group.multiplicity - if other == class { 1.0 } else { 0.0 };
                    if voters > 0.0 { voters * noise.ln_cdf(x - kink) } else { 0.0 }
                })
                .sum();
            noise.ln_density(x - count) + others
        };
        let (integral, peak) = log_concave_panels(log_integrand, start, scale, &kinks)?;
        start = peak;
        distributions.push(integral);
    }
    OutcomeDistribution::from_groups(&groups.of_class, &groups.multiplicities(), &distributions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Noise, noisy_argmax_distribution};
    use crate::special::log_ndtr;

    struct Gaussian(f64);

    impl LogConcaveNoise for Gaussian {
        fn scale(&self) -> f64 {
            self.0
        }
        fn ln_density(&self, x: f64) -> f64 {
            -0.5 * (x / self.0).powi(2) - crate::special::LN_SQRT_2PI - self.0.ln()
        }
        fn ln_cdf(&self, x: f64) -> f64 {
            log_ndtr(x / self.0)
        }
    }

    struct Laplace(f64);

    impl LogConcaveNoise for Laplace {
        fn scale(&self) -> f64 {
            self.0
        }
        fn ln_density(&self, x: f64) -> f64 {
            -(x / self.0).abs() - (2.0 * self.0).ln()
        }
        fn ln_cdf(&self, x: f64) -> f64 {
            let z = x / self.0;
            if z < 0.0 { z - 2f64.ln() } else { (-0.5 * (-z).exp()).ln_1p() }
        }
    }

    /// The double exponential rule is an independent oracle for both built-in distributions.
    #[test]
    fn the_built_in_distributions_agree_with_the_double_exponential_rule() {
        for counts in [vec![5], vec![3, 3, 3], vec![14, 12, 10, 8, 6], vec![120, 60, 0, 0], vec![250, 0]] {
            let histogram = VoteHistogram::new(counts.clone()).unwrap();
            for scale in [0.7, 4.0, 40.0] {
                let compare = |custom: OutcomeDistribution, name: &str| {
                    let noise: Noise = format!("{name}:{scale}").parse().unwrap();
                    let distribution = noisy_argmax_distribution(&histogram, noise).unwrap();
                    for (a, b) in distribution.ln_p().iter().zip(custom.ln_p()) {
                        assert!((a - b).abs() < 1e-11 * (1.0 + b.abs()), "{counts:?} {noise}: {a} {b}");
                    }
                };
                compare(custom_argmax_distribution(&histogram, &Gaussian(scale)).unwrap(), "gaussian");
                compare(custom_argmax_distribution(&histogram, &Laplace(scale)).unwrap(), "laplace");
            }
        }
    }

    #[test]
    fn a_density_that_does_not_fit_its_distribution_function_is_rejected() {
        struct Wrong;
        impl LogConcaveNoise for Wrong {
            fn scale(&self) -> f64 {
                1.0
            }
            fn ln_density(&self, x: f64) -> f64 {
                -0.5 * x * x
            }
            fn ln_cdf(&self, x: f64) -> f64 {
                log_ndtr(x)
            }
        }
        assert!(custom_argmax_distribution(&VoteHistogram::new(vec![2, 1]).unwrap(), &Wrong).is_err());
    }
}
