//! The convolutional network of the thesis "Attacking PATE" (its table 5.1).

use super::ensemble::{Ensemble, counted};
use super::initial::Initial;
use super::layers::{
    BatchPass, batch_normalization, convolution, dense, folded, max_pool_3, running_statistics, unfolded,
};
use rand::Rng;
use tch::{Device, Tensor};

/// Units of the dense layer.
const DENSE: usize = 128;

/// M networks: twice a convolution of 5 x 5 with ReLU, batch normalization and the largest of 3 x 3 at every second
/// place; then 128 units with ReLU, and C classes.
pub(super) struct CnnEnsemble {
    networks: i64,
    shape: [usize; 3],
    /// Of each block weights, biases, scales and shifts; then weights and biases of both dense layers.
    parameters: Vec<Tensor>,
    /// Of each block running means and variances.
    statistics: Vec<Tensor>,
}

impl CnnEnsemble {
    /// One network for each stream, for images of shape \[channels, rows, columns\].
    pub fn new<R: Rng>(streams: &mut [R], shape: [usize; 3], filters: usize, classes: usize, device: Device) -> Self {
        let [channels, rows, columns] = shape;
        let mut initial = Initial::new(streams, device);
        for inputs in [channels, filters] {
            initial.convolution(inputs, filters, 5);
            initial.constant(&[filters], 0.0);
            initial.constant(&[filters], 1.0);
            initial.constant(&[filters], 0.0);
        }
        initial.dense(filters * rows.div_ceil(2).div_ceil(2) * columns.div_ceil(2).div_ceil(2), DENSE);
        initial.dense(DENSE, classes);
        let networks = initial.networks();
        let statistics = (0..2).flat_map(|_| running_statistics(networks, filters, device)).collect();
        Self { networks, shape, parameters: initial.finish(), statistics }
    }

    fn forward(&self, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor {
        let (blocks, layers) = self.parameters.split_at(8);
        let mut images = folded(inputs, self.shape);
        for (block, statistics) in blocks.chunks_exact(4).zip(self.statistics.chunks_exact(2)) {
            images = convolution(&images, &block[0], Some(&block[1]), self.networks, 1, 2).relu();
            let statistics = [&statistics[0], &statistics[1]];
            images = max_pool_3(&batch_normalization(&images, [&block[2], &block[3]], statistics, pass));
        }
        let hidden = dense(&unfolded(&images, self.networks), &layers[0], &layers[1]).relu();
        dense(&hidden, &layers[2], &layers[3])
    }
}

impl Ensemble for CnnEnsemble {
    fn networks(&self) -> i64 {
        self.networks
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let parameters: Vec<Tensor> = self.parameters.iter().map(change).collect();
        let networks = counted(self.networks, &self.parameters, &parameters);
        Box::new(Self {
            networks,
            shape: self.shape,
            parameters,
            statistics: self.statistics.iter().map(change).collect(),
        })
    }

    fn statistics(&mut self) -> &mut [Tensor] {
        &mut self.statistics
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        self.forward(inputs, &mut BatchPass::Answering)
    }

    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        self.forward(inputs, &mut BatchPass::Learning)
    }

    fn measure(&self, inputs: &Tensor, distances: &mut Tensor) {
        let _ = self.forward(inputs, &mut BatchPass::Measuring(distances));
    }
}
