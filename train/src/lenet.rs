//! LeNet-5.

use super::architecture::{Architecture, Networks};
use super::initial::Initial;
use super::layers::{BatchPass, convolution, dense, folded, unfolded};
use rand::Rng;
use tch::{Device, Tensor};

/// Networks after LeCun et al. (1998), as they are built today: convolutions of 5 x 5 with 6 and 16 filters (the first
/// pads by 2), each with ReLU and the largest of 2 x 2; dense layers of 120 and 84 units with ReLU; C classes.
///
/// Parameters are weights and biases of the five layers.
#[derive(Clone)]
pub(super) struct LeNet {
    shape: [usize; 3],
}

impl LeNet {
    /// One network for each stream, for images of shape \[channels, rows, columns\] with at least 12 rows and columns.
    pub fn networks<R: Rng>(streams: &mut [R], shape: [usize; 3], classes: usize, device: Device) -> Networks<Self> {
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
        initial.finish(Self { shape }, Vec::new())
    }
}

impl Architecture for LeNet {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, _: &mut BatchPass<'_>) -> Tensor {
        let (convolutions, layers) = networks.parameters.split_at(4);
        let mut images = folded(inputs, networks.architecture.shape);
        for (layer, padding) in convolutions.chunks_exact(2).zip([2, 0]) {
            images = convolution(&images, &layer[0], Some(&layer[1]), networks.count, 1, padding).relu();
            images = images.max_pool2d([2, 2], [2, 2], [0, 0], [1, 1], false);
        }
        let mut values = unfolded(&images, networks.count);
        for (number, layer) in layers.chunks_exact(2).enumerate() {
            values = dense(&values, &layer[0], &layer[1]);
            if number < 2 {
                values = values.relu();
            }
        }
        values
    }
}
