//! Wide residual networks.

use super::ensemble::{Architecture, Networks};
use super::initial::Initial;
use super::layers::{
    BatchPass, Normalization, batch_normalization, convolution, dense, folded, group_normalization, running_statistics,
    unfolded,
};
use rand::Rng;
use std::slice::Iter;
use tch::{Device, Kind, Tensor};

/// Groups of channels in group normalization: De et al. (2022), "Unlocking high-accuracy differentially private image
/// classification through scale".
const GROUPS: i64 = 16;

/// WRN-d-k: a convolution of 3 x 3 with 16 filters, three stages of (d - 4)/6 residual blocks with 16 k, 32 k and 64 k
/// filters, the last two of which halve the images, normalization and ReLU, the mean over each image, and C classes.
///
/// A block normalizes, applies ReLU and convolves by 3 x 3, twice, and adds its input; if shapes differ, a convolution
/// of 1 x 1 of the output of its first normalization and ReLU instead. With group normalization ReLU comes first.
///
/// # References
/// Zagoruyko and Komodakis (2016), "Wide residual networks", table 1. Group normalization behind ReLU: De et al.
/// (2022), as used by Aerni et al. (2024), "Evaluations of machine learning privacy defenses are misleading", 5.
#[derive(Clone)]
pub(super) struct WideResNet {
    shape: [usize; 3],
    normalization: Normalization,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy)]
struct Block {
    inputs: usize,
    outputs: usize,
    stride: i64,
}

impl Block {
    fn changes_shape(self) -> bool {
        self.inputs != self.outputs || self.stride != 1
    }
}

/// Blocks of a network of depth d = 6 n + 4 and width k.
fn blocks(depth: usize, width: usize) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut inputs = 16;
    for (filters, stride) in [(16, 1), (32, 2), (64, 2)] {
        for number in 0..depth.saturating_sub(4) / 6 {
            let outputs = filters * width;
            blocks.push(Block { inputs, outputs, stride: if number == 0 { stride } else { 1 } });
            inputs = outputs;
        }
    }
    blocks
}

/// The tensors of all networks, read in the order in which they were made.
struct Reader<'a> {
    parameters: Iter<'a, Tensor>,
    statistics: Iter<'a, Tensor>,
}

/// The next tensors of a list.
fn next<'a, const N: usize>(tensors: &mut Iter<'a, Tensor>) -> [&'a Tensor; N] {
    let (front, rest) = tensors.as_slice().split_at(N);
    *tensors = rest.iter();
    std::array::from_fn(|index| &front[index])
}

impl WideResNet {
    /// One network for each stream, for images of shape \[channels, rows, columns\].
    pub fn networks<R: Rng>(
        streams: &mut [R],
        shape: [usize; 3],
        (depth, width, normalization): (usize, usize, Normalization),
        classes: usize,
        device: Device,
    ) -> Networks<Self> {
        let blocks = blocks(depth, width);
        let mut initial = Initial::new(streams, device);
        let mut normalized = Vec::new();
        let mut normalize = |initial: &mut Initial<'_, R>, channels| {
            initial.normalization(channels);
            normalized.push(channels);
        };
        initial.normal_convolution(shape[0], 16, 3);
        for block in &blocks {
            normalize(&mut initial, block.inputs);
            if block.changes_shape() {
                initial.normal_convolution(block.inputs, block.outputs, 1);
            }
            initial.normal_convolution(block.inputs, block.outputs, 3);
            normalize(&mut initial, block.outputs);
            initial.normal_convolution(block.outputs, block.outputs, 3);
        }
        normalize(&mut initial, 64 * width);
        initial.dense(64 * width, classes);
        let networks = initial.networks();
        let statistics = match normalization {
            Normalization::Batch => {
                normalized.into_iter().flat_map(|channels| running_statistics(networks, channels, device)).collect()
            }
            Normalization::Group => Vec::new(),
        };
        initial.finish(Self { shape, normalization, blocks }, statistics)
    }
}

/// Normalization and ReLU.
fn activation(
    networks: &Networks<WideResNet>,
    images: &Tensor,
    reader: &mut Reader<'_>,
    pass: &mut BatchPass<'_>,
) -> Tensor {
    let scale = next(&mut reader.parameters);
    match networks.architecture.normalization {
        Normalization::Batch => batch_normalization(images, scale, next(&mut reader.statistics), pass).relu(),
        Normalization::Group => group_normalization(&images.relu(), scale, GROUPS * networks.count),
    }
}

impl Architecture for WideResNet {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor {
        let mut reader = Reader { parameters: networks.parameters.iter(), statistics: networks.statistics.iter() };
        let convolved = |images: &Tensor, reader: &mut Reader<'_>, stride, padding| {
            let [weights] = next(&mut reader.parameters);
            convolution(images, weights, None, networks.count, stride, padding)
        };
        let mut images = convolved(&folded(inputs, networks.architecture.shape), &mut reader, 1, 1);
        for block in &networks.architecture.blocks {
            let activated = activation(networks, &images, &mut reader, pass);
            if block.changes_shape() {
                images = convolved(&activated, &mut reader, block.stride, 0);
            }
            let inner = convolved(&activated, &mut reader, block.stride, 1);
            let inner = activation(networks, &inner, &mut reader, pass);
            // Not in place: the normalization's gradient needs its input.
            images = convolved(&inner, &mut reader, 1, 1).g_add(&images);
        }
        let images = activation(networks, &images, &mut reader, pass);
        let means = images.mean_dim([2i64, 3].as_slice(), false, Kind::Float);
        let [weights, biases] = next(&mut reader.parameters);
        dense(&unfolded(&means, networks.count), weights, biases)
    }
}
