//! The generators of synthetic images.

use crate::initial::Initial;
use crate::layers::{convolution, dense, folded, own_normalization, unfolded};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// Numbers that an image is made of: Fang et al. (2022).
pub(super) const NOISE: usize = 256;
/// Slope of LeakyReLU for negative numbers.
const LEAK: f64 = 0.2;

/// M generators side by side.
///
/// A dense layer from noise to 2 f channels of a quarter of the image's height and width; then twice: nearest-neighbor
/// upsampling by two, a convolution of 3 x 3 (2 f, then f filters), and LeakyReLU, with batch normalization by the
/// batch's own statistics behind the dense layer and each convolution; last, a convolution of 3 x 3 to the channels of
/// the image, and the logistic function.
pub(super) struct Generators {
    networks: i64,
    filters: usize,
    image: [usize; 3],
    /// Weights and biases of the dense layer; scales and shifts; then of each convolution its weights, biases, scales and
    /// shifts; weights and biases of the last one.
    pub parameters: Vec<Tensor>,
}

impl Generators {
    /// One generator for each stream.
    pub fn new(streams: &mut [ChaCha8Rng], filters: usize, image: [usize; 3], device: Device) -> Self {
        let mut initial = Initial::new(streams, device);
        let [rows, columns] = smallest(image);
        initial.dense(NOISE, 2 * filters * rows * columns);
        initial.normalization(2 * filters);
        for outputs in [2 * filters, filters] {
            initial.convolution(2 * filters, outputs, 3);
            initial.constant(&[outputs], 0.0);
            initial.normalization(outputs);
        }
        initial.convolution(filters, image[0], 3);
        initial.constant(&[image[0]], 0.0);
        Self { networks: initial.networks(), filters, image, parameters: initial.parameters() }
    }

    /// Draws the weights and biases of the dense layer again.
    pub fn reset_first_layer(&mut self, streams: &mut [ChaCha8Rng]) {
        let mut initial = Initial::new(streams, self.parameters[0].device());
        let [rows, columns] = smallest(self.image);
        initial.dense(NOISE, 2 * self.filters * rows * columns);
        self.parameters.splice(..2, initial.parameters());
    }

    /// Images [M, B, F] in (0, 1) that generators with these parameters make of noise [M, B, 256].
    pub fn images(&self, parameters: &[Tensor], noise: &Tensor) -> Tensor {
        let [_, rows, columns] = self.image;
        let [least_rows, least_columns] = smallest(self.image);
        let (first, rest) = parameters.split_at(4);
        let (blocks, last) = rest.split_at(8);
        let spread = dense(noise, &first[0], &first[1]);
        let mut images = folded(&spread, [2 * self.filters, least_rows, least_columns]);
        images = own_normalization(&images, [&first[2], &first[3]]);
        let sizes = [[rows.div_ceil(2), columns.div_ceil(2)], [rows, columns]];
        for (block, size) in blocks.chunks_exact(4).zip(sizes) {
            let larger = images.upsample_nearest2d(size.map(|length| length as i64).as_slice(), None, None);
            let convolved = convolution(&larger, &block[0], Some(&block[1]), self.networks, 1, 1);
            let normalized = own_normalization(&convolved, [&block[2], &block[3]]);
            // LeakyReLU: tch's has no slope to set.
            images = normalized.relu() - (-&normalized).relu() * LEAK;
        }
        let images = convolution(&images, &last[0], Some(&last[1]), self.networks, 1, 1).sigmoid();
        unfolded(&images, self.networks).to_kind(Kind::Float)
    }
}

/// Rows and columns before upsampling.
fn smallest([_, rows, columns]: [usize; 3]) -> [usize; 2] {
    [rows, columns].map(|length| length.div_ceil(2).div_ceil(2))
}
