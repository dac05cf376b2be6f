//! Networks with one hidden layer.

use super::ensemble::{Architecture, Networks};
use super::initial::Initial;
use super::layers::{BatchPass, dense};
use rand::Rng;
use tch::{Device, Kind, Tensor};

/// F inputs, H hidden units with ReLU and C classes.
///
/// Parameters are weights [M, F, H], biases [M, 1, H], weights [M, H, C], biases [M, 1, C].
#[derive(Clone)]
pub(super) struct Mlp;

impl Mlp {
    /// One network for each stream.
    pub fn networks<R: Rng>(
        streams: &mut [R],
        inputs: usize,
        hidden: usize,
        classes: usize,
        device: Device,
    ) -> Networks<Self> {
        let mut initial = Initial::new(streams, device);
        initial.dense(inputs, hidden);
        initial.dense(hidden, classes);
        initial.finish(Self, Vec::new())
    }
}

/// W₁, b₁, W₂, b₂.
fn layers(networks: &Networks<Mlp>) -> [&Tensor; 4] {
    std::array::from_fn(|index| &networks.parameters[index])
}

impl Architecture for Mlp {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, _: &mut BatchPass<'_>) -> Tensor {
        let [w1, b1, w2, b2] = layers(networks);
        dense(&dense(inputs, w1, b1).relu(), w2, b2)
    }

    /// With h = relu(x W₁ + b₁) and z = h W₂ + b₂: ∂z = (softmax z - target)/B, ∂W₂ = hᵀ ∂z, ∂b₂ = Σ_b ∂z,
    /// ∂h = ∂z W₂ᵀ where h > 0, ∂W₁ = xᵀ ∂h, ∂b₁ = Σ_b ∂h.
    fn gradients(networks: &mut Networks<Self>, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        let [w1, b1, w2, b2] = layers(networks);
        let over_batch = |tensor: &Tensor| tensor.sum_dim_intlist([1i64].as_slice(), true, Kind::Float);
        let hidden = dense(inputs, w1, b1).relu_();
        let logits = dense(&hidden, w2, b2);
        let at_logits = (logits.softmax(-1, Kind::Float) - targets) / targets.size()[1] as f64;
        let at_hidden = hidden.threshold_backward(&at_logits.bmm(&w2.transpose(1, 2)), 0.0);
        vec![
            inputs.transpose(1, 2).bmm(&at_hidden),
            over_batch(&at_hidden),
            hidden.transpose(1, 2).bmm(&at_logits),
            over_batch(&at_logits),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::{Ensemble, automatic_gradients};
    use crate::sample::farthest;
    use crate::seed::{Purpose, streams};

    fn networks(networks: std::ops::Range<usize>) -> Networks<Mlp> {
        Mlp::networks(&mut streams(5, Purpose::Weights, 0, networks), 6, 5, 3, Device::Cpu)
    }

    #[test]
    fn gradients_are_those_of_automatic_differentiation() {
        let floats = (Kind::Float, Device::Cpu);
        let inputs = Tensor::linspace(-1.0, 1.0, 3 * 4 * 6, floats).sin().view([3, 4, 6]);
        let targets = Tensor::linspace(0.0, 7.0, 3 * 4 * 3, floats).cos().view([3, 4, 3]).softmax(-1, Kind::Float);
        let by_hand = networks(0..3).gradients(&inputs, &targets);
        let automatic = automatic_gradients(&mut networks(0..3), &inputs, &targets);
        for (by_hand, automatic) in by_hand.iter().zip(&automatic) {
            assert_eq!(by_hand.size(), automatic.size());
            let error = farthest(by_hand, automatic);
            assert!(error < 1e-6, "{error}");
        }
    }

    #[test]
    fn a_network_does_not_depend_on_its_neighbors() {
        let inputs = Tensor::ones([3, 2, 6], (Kind::Float, Device::Cpu));
        let together = networks(0..3).logits(&inputs).select(0, 2);
        let alone = networks(2..3).logits(&inputs.narrow(0, 2, 1)).select(0, 0);
        assert!(farthest(&together, &alone) < 1e-6);
    }
}
