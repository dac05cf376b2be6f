//! Initial parameters, each network's from its own stream.

use super::ensemble::Networks;
use super::memory::{Budget, out_of_memory};
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use tch::{Device, Tensor};

/// Initial parameters of one network for each stream; those of all networks are one tensor, with the networks folded
/// into its leading dimension.
pub(super) struct Initial<'a, R> {
    streams: &'a mut [R],
    device: Device,
    parameters: Vec<Tensor>,
    budget: Budget,
}

impl<'a, R: Rng> Initial<'a, R> {
    pub fn new(streams: &'a mut [R], device: Device) -> Self {
        Self { streams, device, parameters: Vec::new(), budget: Budget::of(device) }
    }

    /// Weights of a convolution, [out, in, size, size], as [`uniform`](Self::uniform) draws them.
    pub fn convolution(&mut self, inputs: usize, outputs: usize, size: usize) {
        let area = size * size;
        self.uniform(&[outputs, inputs, size, size], inputs * area, outputs * area);
    }

    /// Weights of a convolution of vectors, [out, in, size], as [`uniform`](Self::uniform) draws them.
    pub fn convolution_of_vectors(&mut self, inputs: usize, outputs: usize, size: usize) {
        self.uniform(&[outputs, inputs, size], inputs * size, outputs * size);
    }

    /// Weights [1, in, out] of a dense layer, as [`uniform`](Self::uniform) draws them, and biases [1, 1, out] of 0.
    pub fn dense(&mut self, inputs: usize, outputs: usize) {
        self.uniform(&[1, inputs, outputs], inputs, outputs);
        self.constant(&[1, 1, outputs], 0.0);
    }

    /// Uniform within ±√(6/(fan_in + fan_out)): Glorot and Bengio (2010), (16).
    fn uniform(&mut self, shape: &[usize], fan_in: usize, fan_out: usize) {
        let bound = (6.0 / (fan_in + fan_out) as f32).sqrt();
        self.draw(shape, |stream| bound * (2.0 * stream.random::<f32>() - 1.0));
    }

    /// Weights of a convolution with variance 2/fan_in, normal: He et al. (2015), (10).
    pub fn normal_convolution(&mut self, inputs: usize, outputs: usize, size: usize) {
        let deviation = (2.0 / (inputs * size * size) as f32).sqrt();
        self.draw(&[outputs, inputs, size, size], |stream| deviation * stream.sample::<f32, _>(StandardNormal));
    }

    /// Rows [1, rows, width] with the variance 1/width, normal.
    pub fn embeddings(&mut self, rows: usize, width: usize) {
        let deviation = (1.0 / width as f32).sqrt();
        self.draw(&[1, rows, width], |stream| deviation * stream.sample::<f32, _>(StandardNormal));
    }

    /// Scales of 1 and shifts of 0 for channels that are normalized.
    pub fn normalization(&mut self, channels: usize) {
        self.constant(&[channels], 1.0);
        self.constant(&[channels], 0.0);
    }

    /// The same value everywhere.
    pub fn constant(&mut self, shape: &[usize], value: f32) {
        self.draw(shape, |_| value);
    }

    fn draw(&mut self, shape: &[usize], value: impl Fn(&mut R) -> f32) {
        let count: usize = shape.iter().product();
        let all = self.streams.len() * count;
        self.budget.spend(self.streams.len(), all);
        let mut values = Vec::new();
        if values.try_reserve_exact(all).is_err() {
            out_of_memory(self.streams.len(), &format!("{all} parameters in one tensor"));
        }
        for stream in &mut *self.streams {
            values.extend((0..count).map(|_| value(stream)));
        }
        let mut folded: Vec<i64> = shape.iter().map(|&length| length as i64).collect();
        folded[0] *= self.streams.len() as i64;
        self.parameters.push(Tensor::from_slice(&values).view(folded.as_slice()).to_device(self.device));
    }

    /// Number of networks M.
    pub fn networks(&self) -> i64 {
        self.streams.len() as i64
    }

    /// What was drawn, in order.
    pub fn parameters(self) -> Vec<Tensor> {
        self.parameters
    }

    /// Networks with what was drawn, and with these running statistics.
    pub fn finish<A>(self, architecture: A, statistics: Vec<Tensor>) -> Networks<A> {
        Networks { architecture, count: self.networks(), parameters: self.parameters, statistics }
    }
}
