//! Encoders with a head, which is there only while they learn.

use super::plan::DIMENSION;
use crate::ensemble::Ensemble;
use crate::initial::Initial;
use crate::layers::dense;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

/// Parameters of a head.
const HEAD: usize = 4;

/// M encoders φ with a head g(h) = relu(h W₁ + b₁) W₂ + b₂ of 128 hidden numbers and 128 outputs: they answer with
/// φ(x), and while they learn with g(φ(x)).
pub(super) struct Projected {
    encoder: Box<dyn Ensemble>,
    /// The encoder's own, behind them the heads'.
    parameters: Vec<Tensor>,
}

impl Projected {
    /// The head of each encoder is drawn by its stream.
    pub fn new(mut encoder: Box<dyn Ensemble>, streams: &mut [ChaCha8Rng], device: Device) -> Self {
        let mut initial = Initial::new(streams, device);
        initial.dense(DIMENSION, DIMENSION);
        initial.dense(DIMENSION, DIMENSION);
        // Two names of the same tensors: a step along these is one of the encoder.
        let parameters = encoder.parameters().iter().map(Tensor::shallow_clone).chain(initial.parameters()).collect();
        Self { encoder, parameters }
    }

    fn head(&self) -> &[Tensor] {
        &self.parameters[self.parameters.len() - HEAD..]
    }
}

impl Ensemble for Projected {
    fn networks(&self) -> i64 {
        self.encoder.networks()
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn statistics(&mut self) -> &mut [Tensor] {
        self.encoder.statistics()
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let mut encoder = self.encoder.mapped(change);
        let own: Vec<Tensor> = encoder.parameters().iter().map(Tensor::shallow_clone).collect();
        let parameters = own.into_iter().chain(self.head().iter().map(change)).collect();
        Box::new(Self { encoder, parameters })
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        self.encoder.logits(inputs)
    }

    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        let features = self.encoder.learning_logits(inputs);
        let head = self.head();
        dense(&dense(&features, &head[0], &head[1]).relu(), &head[2], &head[3])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NetworkPlan;
    use crate::sample::farthest;
    use crate::seed::{Purpose, streams};
    use tch::Kind;

    fn networks(networks: std::ops::Range<usize>) -> Projected {
        let streams = |purpose| streams(4, purpose, 0, networks.clone());
        let encoder =
            NetworkPlan::Mlp { hidden: 5 }.build(&mut streams(Purpose::Weights), [1, 2, 3], DIMENSION, Device::Cpu);
        Projected::new(encoder, &mut streams(Purpose::Projection), Device::Cpu)
    }

    /// A step along the gradients of the projections moves the encoder and the head, and the answers are the encoder's.
    #[test]
    fn a_step_moves_encoder_and_head() {
        let inputs = Tensor::linspace(-1.0, 2.0, 2 * 3 * 6, (Kind::Float, Device::Cpu)).sin().view([2, 3, 6]);
        let mut networks = networks(0..2);
        let (features, projections) = (networks.logits(&inputs), networks.learning_logits(&inputs));
        assert_eq!((features.size(), projections.size()), (vec![2, 3, 128], vec![2, 3, 128]));
        assert!(farthest(&features, &projections) > 0.1);
        let copy = networks.mapped(&Tensor::copy);
        let loss = |projections: &Tensor| projections.square().sum(Kind::Float);
        let gradients = networks.gradients_of(&inputs, &loss);
        assert_eq!(gradients.len(), 4 + HEAD);
        for (parameter, gradient) in networks.parameters().iter_mut().zip(&gradients) {
            assert!(f64::try_from(gradient.abs().max()).unwrap() > 0.0);
            *parameter -= gradient * 1e-4;
        }
        assert!(farthest(&networks.logits(&inputs), &features) > 1e-6);
        let after = f64::try_from(loss(&networks.learning_logits(&inputs))).unwrap();
        assert!(after < f64::try_from(loss(&projections)).unwrap());
        assert!(farthest(&copy.logits(&inputs), &features) == 0.0);
    }

    #[test]
    fn a_network_does_not_depend_on_its_neighbors() {
        let inputs = Tensor::ones([2, 3, 6], (Kind::Float, Device::Cpu));
        let (mut together, mut alone) = (networks(0..2), networks(1..2));
        let last = |tensor: &Tensor| tensor.narrow(0, 1, 1);
        assert!(farthest(&last(&together.learning_logits(&inputs)), &alone.learning_logits(&last(&inputs))) < 1e-6);
    }
}
