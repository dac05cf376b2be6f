//! Labels made private, as targets of training, and the loss of iterative Bayesian inference.

use crate::ensemble::{Ensemble, Loss};
use crate::seed::{Purpose, stream};
use crate::training_images::one_hot_rows;
use leakbound::error::Result;
use leakbound::label_dp::{PriorResponse, agibi_labels, agibi_log_likelihood, alibi_labels, alibi_log_likelihood};
use leakbound::quantity::{Epsilon, NoiseScale};
use ndarray::{Array1, Array2};
use rand::RngExt;
use tch::{Kind, Tensor};

/// Targets of the images of one model, row by row, and the share of them that are largest at the label.
pub(super) struct PrivateLabels {
    /// \[image, class\], flat.
    pub targets: Vec<f32>,
    /// The accuracy of guessing without images.
    pub accuracy: f64,
}

/// What draws the labels of a model: its seed and its number.
pub(super) type Draws = (u64, u64);

impl PrivateLabels {
    /// One-hot labels.
    pub fn one_hot(given: &[u8], labels: &[u8], classes: usize) -> Self {
        let right = given.iter().zip(labels).filter(|(given, label)| given == label).count();
        Self { targets: one_hot_rows(given, classes), accuracy: right as f64 / labels.len() as f64 }
    }

    /// Log-likelihoods of ALIBI's noisy labels.
    pub fn alibi(labels: &[u8], classes: usize, lambda: NoiseScale, draws: Draws) -> Result<Self> {
        let noisy = alibi_labels(&numbers(labels), classes, lambda, noise_seed(draws))?;
        Ok(Self::of_noisy(&noisy, labels, |o| alibi_log_likelihood(o, lambda)))
    }

    /// Log-likelihoods of AGIBI's noisy labels.
    pub fn agibi(labels: &[u8], classes: usize, sigma: NoiseScale, draws: Draws) -> Result<Self> {
        let noisy = agibi_labels(&numbers(labels), classes, sigma, noise_seed(draws))?;
        Ok(Self::of_noisy(&noisy, labels, |o| agibi_log_likelihood(o, sigma)))
    }

    fn of_noisy(noisy: &Array2<f64>, labels: &[u8], log_likelihood: impl Fn(f64) -> f64) -> Self {
        let right = noisy.outer_iter().zip(labels);
        let right = right.filter(|(noisy, label)| noisy.iter().all(|o| *o <= noisy[usize::from(**label)]));
        Self {
            accuracy: right.count() as f64 / labels.len() as f64,
            targets: noisy.outer_iter().flat_map(|noisy| below_largest(&noisy.mapv(&log_likelihood))).collect(),
        }
    }
}

/// Logarithms less the largest one, within single precision also where noise is tiny.
fn below_largest(logs: &Array1<f64>) -> Vec<f32> {
    let largest = logs.iter().copied().fold(f64::MIN, f64::max).min(f64::MAX);
    logs.iter().map(|log| (log.min(f64::MAX) - largest).max(-1e30) as f32).collect()
}

/// A class for each label by plain randomized response.
pub(super) fn randomized(labels: &[u8], classes: usize, epsilon: Epsilon, (seed, model): Draws) -> Result<Vec<u8>> {
    let response = PriorResponse::uniform(classes, epsilon)?;
    let mut answers = stream(seed, Purpose::Labels, 0, model);
    labels.iter().map(|&label| Ok(response.draw(label.into(), &mut answers)? as u8)).collect()
}

/// A class for each label by randomized response with the prior of its image, \[image, class\] flat, in a later stage.
pub(super) fn randomized_with_priors(
    labels: &[u8],
    priors: &[f32],
    epsilon: Epsilon,
    ((seed, model), stage): (Draws, u64),
) -> Result<Vec<u8>> {
    let classes = priors.len() / labels.len().max(1);
    let mut answers = stream(seed, Purpose::Labels, stage, model);
    let answer = |(&label, prior): (&u8, &[f32])| {
        let prior: Vec<f64> = prior.iter().map(|&probability| probability.into()).collect();
        Ok(PriorResponse::new(&prior, epsilon)?.draw(label.into(), &mut answers)? as u8)
    };
    labels.iter().zip(priors.chunks_exact(classes.max(1))).map(answer).collect()
}

fn numbers(labels: &[u8]) -> Vec<usize> {
    labels.iter().map(|&label| label.into()).collect()
}

fn noise_seed((seed, model): Draws) -> u64 {
    stream(seed, Purpose::Labels, 0, model).random()
}

/// The mean cross-entropy against the posterior of the label, with the network's current prediction as the prior.
///
/// Targets are log-likelihoods ℓ of the noisy label given each class, up to a constant. With the network's softmax
/// probabilities p the soft label is softmax(ℓ + ln p), which counts as a constant, and the loss -Σ_c soft_c ln p_c.
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", Algorithm 3 and Eq. (3).
pub(super) struct PosteriorLoss;

impl Loss for PosteriorLoss {
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, _: u64) -> Vec<Tensor> {
        let batch = targets.size()[1] as f64;
        networks.gradients_of(inputs, &|logits| {
            let log_probabilities = logits.log_softmax(-1, Kind::Float);
            let posterior = (targets + log_probabilities.detach()).softmax(-1, Kind::Float);
            -(log_probabilities * posterior).sum(Kind::Float) / batch
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::sample::farthest;
    use crate::seed::{Purpose, stream};
    use leakbound::label_dp::{alibi_log_likelihood, alibi_posterior};
    use leakbound::quantity::NoiseScale;
    use tch::Device;

    /// Two images: the gradient is that of cross-entropy against the posterior of the library.
    #[test]
    fn a_step_goes_toward_the_posterior() {
        let build = || {
            let streams = &mut [stream(3, Purpose::Weights, 0, 0)];
            NetworkPlan::Mlp { hidden: 4 }.build(streams, [1, 1, 2], 3, Device::Cpu)
        };
        let images = Tensor::from_slice(&[0.3f32, -0.8, 1.0, 0.2]).view([1, 2, 2]);
        let noisy = [[1.4, 0.3, -0.6], [0.1, 0.9, 0.2]];
        let lambda = NoiseScale::new(0.8).unwrap();
        let likelihoods = noisy.as_flattened().iter().map(|&o| alibi_log_likelihood(o, lambda) as f32);
        let likelihoods = Tensor::from_slice(&likelihoods.collect::<Vec<_>>()).view([1, 2, 3]);
        let mut network = build();
        let found = PosteriorLoss.gradients(&mut *network, &images, &likelihoods, 0);

        let prior: Vec<Vec<f64>> = network.logits(&images).softmax(-1, Kind::Double).squeeze_dim(0).try_into().unwrap();
        let posteriors = noisy.iter().zip(&prior).flat_map(|(o, prior)| alibi_posterior(o, prior, lambda).unwrap());
        let posteriors: Vec<f32> = posteriors.map(|probability| probability as f32).collect();
        let expected = network.gradients(&images, &Tensor::from_slice(&posteriors).view([1, 2, 3]));
        for (found, expected) in found.iter().zip(&expected) {
            let error = farthest(found, expected);
            assert!(error < 1e-6, "{error}");
        }
    }
}
