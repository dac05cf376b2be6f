//! The convolutional network of the thesis "Attacking PATE" (its table 5.1).

use super::architecture::{Architecture, Networks};
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
