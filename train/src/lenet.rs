//! LeNet-5.

use super::ensemble::{Ensemble, counted};
use super::initial::Initial;
use super::layers::{convolution, dense, folded, unfolded};
use rand::Rng;
use tch::{Device, Tensor};

/// M networks after LeCun et al. (1998), as they are built today: convolutions of 5 x 5 with 6 and 16 filters (the
/// first pads by 2), each with ReLU and the largest of 2 x 2; dense layers of 120 and 84 units with ReLU; C classes.
pub(super) struct LeNetEnsemble {
    networks: i64,
    shape: [usize; 3],
    /// Weights and biases of the five layers.
    parameters: Vec<Tensor>,
}

impl LeNetEnsemble {
    /// One network for each stream, for images of shape \[channels, rows, columns\] with at least 12 rows and columns.
    pub fn new<R: Rng>(streams: &mut [R], shape: [usize; 3], classes: usize, device: Device) -> Self {
        let [channels, rows, columns] = shape;
        let mut initial = Initial::new(streams, device);
        for (inputs, outputs) in [(channels, 6), (6, 16)] {
            initial.convolution(inputs, outputs, 5);
            initial.constant(&[outputs], 0.0);
        }
        let left = |length: usize| (length / 2).saturating_sub(4) / 2;
        initial.dense(16 * left(rows) * left(columns), 120);
        initial.dense(120, 84);
        initial.dense(84, classes);
        Self { networks: initial.networks(), shape, parameters: initial.finish() }
    }
}

impl Ensemble for LeNetEnsemble {
    fn networks(&self) -> i64 {
        self.networks
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let parameters: Vec<Tensor> = self.parameters.iter().map(change).collect();
        let networks = counted(self.networks, &self.parameters, &parameters);
        Box::new(Self { networks, shape: self.shape, parameters })
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        let (convolutions, layers) = self.parameters.split_at(4);
        let mut images = folded(inputs, self.shape);
        for (layer, padding) in convolutions.chunks_exact(2).zip([2, 0]) {
            images = convolution(&images, &layer[0], Some(&layer[1]), self.networks, 1, padding).relu();
            images = images.max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false);
        }
        let mut values = unfolded(&images, self.networks);
        for (number, layer) in layers.chunks_exact(2).enumerate() {
            values = dense(&values, &layer[0], &layer[1]);
            if number < 2 {
                values = values.relu();
            }
        }
        values
    }
}
