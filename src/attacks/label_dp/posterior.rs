//! The posterior of a label, given a noisy one-hot label and a prior.

use crate::error::{Error, Result};
use crate::quantity::NoiseScale;

/// ALIBI's posterior of the label given Laplace-noised one-hot labels o and a prior: softmax(f_c/λ + ln prior_c) with
/// f_c = -Σ_k |o_k - \[c = k\]|.
///
/// Bayes' rule: coordinate k has the density exp(-|o_k - \[c = k\]|/λ)/(2λ) given label c. The f_c differ by what
/// coordinate c contributes: f_c = |o_c| - |o_c - 1| + a constant, which is how it is computed. `observed` and `prior`
/// have one entry per class; the prior need not be normalized.
///
/// # Errors
/// [`Error::Length`] when the lengths differ or are 0, [`Error::Domain`] for an observation that is not finite or a
/// prior weight that is negative or not finite, or if all are 0.
///
/// # Example
/// ```
/// # use leakbound::label_dp::alibi_posterior;
/// # use leakbound::quantity::NoiseScale;
/// let posterior = alibi_posterior(&[1.0, 0.0], &[0.5, 0.5], NoiseScale::new(2.0)?)?;
/// // f = (0, -2): odds e^(2/2).
/// assert!((posterior[0] / posterior[1] - 1f64.exp()).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Eq. (3).
pub fn alibi_posterior(observed: &[f64], prior: &[f64], lambda: NoiseScale) -> Result<Vec<f64>> {
    posterior(observed, prior, |o| alibi_log_likelihood(o, lambda))
}

/// What coordinate c of ALIBI's noisy label adds to the logarithm of the likelihood of class c: (|o_c| - |o_c - 1|)/λ,
/// so that the posterior is the softmax of this and of the logarithm of the prior.
///
/// ```
/// # use leakbound::label_dp::alibi_log_likelihood;
/// # use leakbound::quantity::NoiseScale;
/// let lambda = NoiseScale::new(0.5)?;
/// assert_eq!([-3.0, 0.75, 40.0].map(|o| alibi_log_likelihood(o, lambda)), [-2.0, 1.0, 2.0]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn alibi_log_likelihood(observed: f64, lambda: NoiseScale) -> f64 {
    // |o| - |o - 1| without cancellation of large |o|.
    (2.0 * observed.clamp(0.0, 1.0) - 1.0) / lambda.get()
}

/// AGIBI's posterior of the label given Gaussian-noised one-hot labels: softmax(o_c/σ² + ln prior_c).
///
/// # Errors
/// As [`alibi_posterior`].
///
/// # Example
/// ```
/// # use leakbound::label_dp::agibi_posterior;
/// # use leakbound::quantity::NoiseScale;
/// let posterior = agibi_posterior(&[1.0, 0.0], &[0.5, 0.5], NoiseScale::new(2.0)?)?;
/// assert!((posterior[0] / posterior[1] - 0.25f64.exp()).abs() < 1e-14);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Eq. (5).
pub fn agibi_posterior(observed: &[f64], prior: &[f64], sigma: NoiseScale) -> Result<Vec<f64>> {
    posterior(observed, prior, |o| agibi_log_likelihood(o, sigma))
}

/// What coordinate c of AGIBI's noisy label adds to the logarithm of the likelihood of class c: o_c/σ².
///
/// ```
/// # use leakbound::label_dp::agibi_log_likelihood;
/// # use leakbound::quantity::NoiseScale;
/// assert_eq!(agibi_log_likelihood(0.5, NoiseScale::new(0.5)?), 2.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[must_use]
pub fn agibi_log_likelihood(observed: f64, sigma: NoiseScale) -> f64 {
    observed / sigma.get() / sigma.get()
}

fn posterior(observed: &[f64], prior: &[f64], score: impl Fn(f64) -> f64) -> Result<Vec<f64>> {
    let (found, labels) = (prior.len(), observed.len());
    let expected = format_args!("{labels}, one per noisy label, and at least 1");
    Error::check_length(labels > 0 && found == labels, "prior", found, expected)?;
    Error::check_domain_of_all(observed, |value| value.is_finite(), "noisy label", "(-inf, inf)")?;
    Error::check_domain_of_all(prior, |weight| (0.0..f64::INFINITY).contains(&weight), "prior weight", "[0, inf)")?;
    // A tiny scale makes scores infinite: then the most likely class with a prior has all of it.
    let logs: Vec<f64> = observed
        .iter()
        .zip(prior)
        .map(|(&o, &weight)| if weight > 0.0 { score(o).clamp(-1e300, 1e300) + weight.ln() } else { f64::NEG_INFINITY })
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Error::check_domain(top != f64::NEG_INFINITY, "sum of the prior", 0.0, "(0, inf)")?;
    let weights: Vec<f64> = logs.iter().map(|log| libm::exp(log - top)).collect();
    let sum: f64 = weights.iter().sum();
    Ok(weights.into_iter().map(|weight| weight / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the densities themselves, and the f of the paper.
        #[test]
        fn posteriors_are_bayes_rule(
            pairs in prop::collection::vec((-3.0f64..3.0, 0.01f64..1.0), 2..6), scale in 0.3f64..4.0,
        ) {
            let (observed, prior): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let one_hot = |c: usize, k: usize| f64::from(u8::from(c == k));
            let bayes = |log_density: &dyn Fn(f64) -> f64| -> Vec<f64> {
                let joint: Vec<f64> = (0..observed.len()).map(|c| {
                    let ln: f64 = observed.iter().enumerate().map(|(k, o)| log_density(o - one_hot(c, k))).sum();
                    prior[c] * ln.exp()
                }).collect();
                let sum: f64 = joint.iter().sum();
                joint.into_iter().map(|value| value / sum).collect()
            };
            let noise = NoiseScale::new(scale).unwrap();
            let pairs = [
                (alibi_posterior(&observed, &prior, noise).unwrap(), bayes(&|x| -x.abs() / scale)),
                (agibi_posterior(&observed, &prior, noise).unwrap(), bayes(&|x| -0.5 * (x / scale).powi(2))),
            ];
            for (got, expected) in pairs {
                for (got, expected) in got.into_iter().zip(expected) {
                    prop_assert!((got - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn extremes() {
        let tiny = NoiseScale::new(f64::MIN_POSITIVE).unwrap();
        assert_eq!(alibi_posterior(&[1.0, 0.0], &[1e-300, 1.0], tiny).unwrap(), [1.0, 0.0]);
        assert_eq!(agibi_posterior(&[1e300, 0.0], &[1.0, 1.0], tiny).unwrap(), [1.0, 0.0]);
        let one = NoiseScale::new(1.0).unwrap();
        for (observed, prior) in
            [(vec![], vec![]), (vec![f64::NAN], vec![1.0]), (vec![1.0], vec![0.0]), (vec![1.0], vec![-1.0])]
        {
            assert!(alibi_posterior(&observed, &prior, one).is_err());
        }
    }
}
