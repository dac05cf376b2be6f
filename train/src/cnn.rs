//! Convolutional networks: that of the thesis "Attacking PATE" (its table 5.1), and LeNet-5.

use super::ensemble::{Architecture, Networks};
use super::initial::Initial;
use super::layers::{
    BatchPass, batch_normalization, convolution, dense, folded, max_pool_3, running_statistics, unfolded,
};
use rand::Rng;
use tch::{Device, Tensor};

/// Units of the dense layer.
const DENSE: usize = 128;

/// Twice a convolution of 5 x 5 with ReLU, batch normalization and the largest of 3 x 3 at every second place; then 128
/// units with ReLU, and C classes.
///
/// Parameters are of each block weights, biases, scales and shifts; then weights and biases of both dense layers.
#[derive(Clone)]
pub(super) struct Cnn {
    shape: [usize; 3],
}

impl Cnn {
    /// One network for each stream, for images of shape \[channels, rows, columns\].
    pub fn networks<R: Rng>(
        streams: &mut [R],
        shape: [usize; 3],
        filters: usize,
        classes: usize,
        device: Device,
    ) -> Networks<Self> {
        let [channels, rows, columns] = shape;
        let mut initial = Initial::new(streams, device);
        for inputs in [channels, filters] {
            initial.convolution(inputs, filters, 5);
            initial.constant(&[filters], 0.0);
            initial.normalization(filters);
        }
        initial.dense(filters * rows.div_ceil(2).div_ceil(2) * columns.div_ceil(2).div_ceil(2), DENSE);
        initial.dense(DENSE, classes);
        let statistics = (0..2).flat_map(|_| running_statistics(initial.networks(), filters, device)).collect();
        initial.finish(Self { shape }, statistics)
    }
}

impl Architecture for Cnn {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor {
        let (blocks, layers) = networks.parameters.split_at(8);
        let mut images = folded(inputs, networks.architecture.shape);
        for (block, statistics) in blocks.chunks_exact(4).zip(networks.statistics.chunks_exact(2)) {
            images = convolution(&images, &block[0], Some(&block[1]), networks.count, 1, 2).relu();
            let statistics = [&statistics[0], &statistics[1]];
            images = max_pool_3(&batch_normalization(&images, [&block[2], &block[3]], statistics, pass));
        }
        let hidden = dense(&unfolded(&images, networks.count), &layers[0], &layers[1]).relu();
        dense(&hidden, &layers[2], &layers[3])
    }
}

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
