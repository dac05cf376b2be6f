//! What a step of training descends.

use super::ensemble::Ensemble;
use tch::Tensor;

/// A loss of networks that are trained side by side.
pub(super) trait Loss: Sync {
    /// Gradients at a batch with respect to the parameters: inputs [M, B, F], targets [M, B, C] that are probabilities,
    /// in the pass `epoch` over the images, counted from 0. Each network gets the gradient of its own loss.
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, epoch: u64) -> Vec<Tensor>;
}

/// The mean cross-entropy of a batch, in nats.
pub(super) struct CrossEntropy;

impl Loss for CrossEntropy {
    fn gradients(&self, networks: &mut dyn Ensemble, inputs: &Tensor, targets: &Tensor, _: u64) -> Vec<Tensor> {
        networks.gradients(inputs, targets)
    }
}
