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
        let at_hidden = at_logits.bmm(&w2.transpose(1, 2)).threshold_backward(&hidden, 0.0);
        vec![
            inputs.transpose(1, 2).bmm(&at_hidden),
            over_batch(&at_hidden),
            hidden.transpose(1, 2).bmm(&at_logits),
            over_batch(&at_logits),
        ]
    }
}
