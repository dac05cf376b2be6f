//! Soft randomized response: noise on one-hot labels.

use crate::error::{Error, Result};
use crate::quantity::NoiseScale;
use ndarray::Array2;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// ALIBI's labels: one-hot labels \[sample, class\] with independent Laplace noise of scale λ on every coordinate, as a
/// function of the seed.
///
/// They are (2/λ)-label-differentially private: one label moves two coordinates by 1 each
/// (`alibi_scale` gives λ = 2/ε). Doubles of finite precision: fit for experiments,
/// not for releases that must withstand attacks on floating-point noise.
///
/// # Errors
/// [`Error::Domain`] for a label that is not a class.
///
/// # Example
/// ```
/// # use leakbound::label_dp::alibi_labels;
/// # use leakbound::quantity::NoiseScale;
/// // 2/ε at ε = 8.
/// let lambda = NoiseScale::new(2.0 / 8.0)?;
/// let noisy = alibi_labels(&[2, 0], 3, lambda, 7)?;
/// assert_eq!(noisy.dim(), (2, 3));
/// assert_eq!(noisy, alibi_labels(&[2, 0], 3, lambda, 7)?);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Algorithm 3.
pub fn alibi_labels(labels: &[usize], classes: usize, lambda: NoiseScale, seed: u64) -> Result<Array2<f64>> {
    noisy(labels, classes, lambda, seed, |stream| {
        // A sign and an exponential variable; 1 - U lies in (0, 1].
        let (sign, u) = (stream.random::<bool>(), stream.random::<f64>());
        let size = -libm::log1p(-u);
        if sign { size } else { -size }
    })
}

/// AGIBI's labels: likewise, but with Gaussian noise of standard deviation σ.
///
/// # Errors
/// As [`alibi_labels`].
///
/// # Example
/// ```
/// # use leakbound::label_dp::agibi_labels;
/// # use leakbound::quantity::NoiseScale;
/// assert_eq!(agibi_labels(&[1], 4, NoiseScale::new(0.5)?, 0)?.dim(), (1, 4));
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", appendix D.2.
pub fn agibi_labels(labels: &[usize], classes: usize, sigma: NoiseScale, seed: u64) -> Result<Array2<f64>> {
    noisy(labels, classes, sigma, seed, |stream| StandardNormal.sample(stream))
}

fn noisy(
    labels: &[usize],
    classes: usize,
    scale: NoiseScale,
    seed: u64,
    noise: impl Fn(&mut ChaCha8Rng) -> f64,
) -> Result<Array2<f64>> {
    if let Some(&label) = labels.iter().find(|label| **label >= classes) {
        return Err(Error::Domain { quantity: "label", value: label as f64, domain: "the classes" });
    }
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    Ok(Array2::from_shape_fn((labels.len(), classes), |(sample, class)| {
        f64::from(u8::from(labels[sample] == class)) + scale.get() * noise(&mut stream)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of 200,000 draws: 2λ² and σ², each within five standard errors (false-alarm rate 1e-6 each).
    #[test]
    fn the_noise_has_its_moments() {
        let scale = NoiseScale::new(1.5).unwrap();
        let labels = vec![1; 100_000];
        let cases = [
            (alibi_labels(&labels, 2, scale, 1).unwrap(), 4.5, 24.0 * 1.5f64.powi(4)),
            (agibi_labels(&labels, 2, scale, 1).unwrap(), 2.25, 3.0 * 1.5f64.powi(4)),
        ];
        for (noisy, variance, fourth) in cases {
            let size = noisy.len() as f64;
            // Every label is class 1.
            let noise = noisy.indexed_iter().map(|((_, class), value)| value - class as f64);
            let (sum, squares) = noise.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
            println!("{} {}", sum / size, squares / size);
            assert!((sum / size).abs() < 5.0 * (variance / size).sqrt());
            assert!((squares / size - variance).abs() < 5.0 * ((fourth - variance * variance) / size).sqrt());
        }
        assert!(alibi_labels(&[2], 2, scale, 0).is_err());
        assert_eq!(agibi_labels(&[], 0, scale, 0).unwrap().len(), 0);
    }
}
