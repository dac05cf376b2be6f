//! Networks with one hidden layer.

use super::ensemble::Ensemble;
use rand::{Rng, RngExt};
use tch::{Device, Kind, Tensor};

/// M networks of F inputs, H hidden units with ReLU and C classes.
pub(super) struct MlpEnsemble {
    /// Weights [M, F, H], biases [M, 1, H], weights [M, H, C], biases [M, 1, C].
    parameters: [Tensor; 4],
}

impl MlpEnsemble {
    /// One network for each stream: weights and biases uniform within ±1/√(inputs of the layer).
    pub fn new<R: Rng>(streams: &mut [R], inputs: usize, hidden: usize, classes: usize, device: Device) -> Self {
        let shapes = [(inputs, hidden, inputs), (1, hidden, inputs), (hidden, classes, hidden), (1, classes, hidden)];
        let parameters = shapes.map(|(rows, columns, fan_in)| {
            let bound = 1.0 / (fan_in as f32).sqrt();
            let mut values = Vec::with_capacity(streams.len() * rows * columns);
            for stream in &mut *streams {
                values.extend((0..rows * columns).map(|_| bound * (2.0 * stream.random::<f32>() - 1.0)));
            }
            Tensor::from_slice(&values).view([streams.len() as i64, rows as i64, columns as i64]).to_device(device)
        });
        Self { parameters }
    }
}

impl Ensemble for MlpEnsemble {
    fn networks(&self) -> i64 {
        self.parameters[0].size()[0]
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        Box::new(Self { parameters: self.parameters.each_ref().map(change) })
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        let [w1, b1, w2, b2] = &self.parameters;
        b2.baddbmm(&b1.baddbmm(inputs, w1, 1.0, 1.0).relu(), w2, 1.0, 1.0)
    }

    /// With h = relu(x W₁ + b₁) and z = h W₂ + b₂: ∂z = (softmax z - target)/B, ∂W₂ = hᵀ ∂z, ∂b₂ = Σ_b ∂z,
    /// ∂h = ∂z W₂ᵀ where h > 0, ∂W₁ = xᵀ ∂h, ∂b₁ = Σ_b ∂h.
    fn gradients(&mut self, inputs: &Tensor, targets: &Tensor) -> Vec<Tensor> {
        let [w1, b1, w2, b2] = &self.parameters;
        let over_batch = |tensor: &Tensor| tensor.sum_dim_intlist([1i64].as_slice(), true, Kind::Float);
        let hidden = b1.baddbmm(inputs, w1, 1.0, 1.0).relu_();
        let logits = b2.baddbmm(&hidden, w2, 1.0, 1.0);
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
    use crate::torch::seed::{Purpose, stream};

    /// The same networks with gradients by automatic differentiation.
    struct Automatic(MlpEnsemble);

    impl Ensemble for Automatic {
        fn networks(&self) -> i64 {
            self.0.networks()
        }

        fn parameters(&mut self) -> &mut [Tensor] {
            self.0.parameters()
        }

        fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
            self.0.mapped(change)
        }

        fn logits(&self, inputs: &Tensor) -> Tensor {
            self.0.logits(inputs)
        }
    }

    fn networks(first: u64, count: u64) -> MlpEnsemble {
        let mut streams: Vec<_> =
            (first..first + count).map(|network| stream(5, Purpose::Weights, 0, network)).collect();
        MlpEnsemble::new(&mut streams, 6, 5, 3, Device::Cpu)
    }

    #[test]
    fn gradients_are_those_of_automatic_differentiation() {
        let floats = (Kind::Float, Device::Cpu);
        let inputs = Tensor::linspace(-1.0, 1.0, 3 * 4 * 6, floats).sin().view([3, 4, 6]);
        let targets = Tensor::linspace(0.0, 7.0, 3 * 4 * 3, floats).cos().view([3, 4, 3]).softmax(-1, Kind::Float);
        let by_hand = networks(0, 3).gradients(&inputs, &targets);
        let automatic = Automatic(networks(0, 3)).gradients(&inputs, &targets);
        for (by_hand, automatic) in by_hand.iter().zip(&automatic) {
            assert_eq!(by_hand.size(), automatic.size());
            let error = f64::try_from((by_hand - automatic).abs().max()).unwrap();
            assert!(error < 1e-6, "{error}");
        }
    }

    #[test]
    fn a_network_does_not_depend_on_its_neighbours() {
        let inputs = Tensor::ones([3, 2, 6], (Kind::Float, Device::Cpu));
        let together = networks(0, 3).logits(&inputs).select(0, 2);
        let alone = networks(2, 1).logits(&inputs.narrow(0, 2, 1)).select(0, 0);
        assert!(f64::try_from((together - alone).abs().max()).unwrap() < 1e-6);
    }
}
