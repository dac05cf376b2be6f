//! The loss of iterative Bayesian inference.

use crate::ensemble::Ensemble;
use crate::loss::Loss;
use tch::{Kind, Tensor};

/// The mean cross-entropy against the posterior of the label, with what the network says at that moment as the prior.
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
