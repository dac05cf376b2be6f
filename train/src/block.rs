//! The blocks of transformers: attention, then a perceptron for each token.

use super::attention::attention;
use super::initial::Initial;
use super::layers::dense;
use rand_chacha::ChaCha8Rng;
use tch::Tensor;

/// Added to variances: Ba et al. (2016).
const VARIANCE_FLOOR: f64 = 1e-5;
/// Units of a perceptron for each number of a token.
const EXPANSION: usize = 4;
/// Tensors of a block.
pub(super) const OF_BLOCK: usize = 12;

/// The tensors of a block over tokens of `width` numbers.
pub(super) fn initial_block(initial: &mut Initial<'_, ChaCha8Rng>, width: usize) {
    initial_normalization(initial, width);
    initial.dense(width, 3 * width);
    initial.dense(width, width);
    initial_normalization(initial, width);
    initial.dense(width, EXPANSION * width);
    initial.dense(EXPANSION * width, width);
}

/// γ of 1 and β of 0.
pub(super) fn initial_normalization(initial: &mut Initial<'_, ChaCha8Rng>, width: usize) {
    initial.constant(&[1, width], 1.0);
    initial.constant(&[1, width], 0.0);
}

/// γ (x - mean)/√(variance + 1e-5) + β over the numbers of each token.
pub(super) fn normalized(tokens: &Tensor, [scale, shift]: [&Tensor; 2]) -> Tensor {
    let width = tokens.size()[2];
    tokens.layer_norm([width], Some(&scale.select(0, 0)), Some(&shift.select(0, 0)), VARIANCE_FLOOR, false)
}

/// x W + b for tokens [B, T, W].
pub(super) fn linear(tokens: &Tensor, weights: &Tensor, biases: &Tensor) -> Tensor {
    let (batch, length, width) = (tokens.size()[0], tokens.size()[1], tokens.size()[2]);
    dense(&tokens.reshape([1, batch * length, width]), weights, biases).view([batch, length, -1])
}

/// x + A(norm x), then x + P(norm x), with attention A of H heads and a perceptron P: Xiong et al. (2020), "On layer
/// normalization in the transformer architecture", table 1.
pub(super) fn block(tokens: &Tensor, parameters: [&Tensor; OF_BLOCK], heads: i64, mask: &Tensor) -> Tensor {
    let [scale, shift, inward, inward_bias, outward, outward_bias, scale_2, shift_2, w1, b1, w2, b2] = parameters;
    let (batch, length, width) = (tokens.size()[0], tokens.size()[1], tokens.size()[2]);
    let parts = linear(&normalized(tokens, [scale, shift]), inward, inward_bias)
        .view([batch, length, 3, heads, width / heads])
        .permute([2, 0, 3, 1, 4]);
    let seen = attention(&parts.select(0, 0), &parts.select(0, 1), &parts.select(0, 2), mask);
    let seen = seen.transpose(1, 2).reshape([batch, length, width]);
    let tokens = tokens + linear(&seen, outward, outward_bias);
    let hidden = linear(&normalized(&tokens, [scale_2, shift_2]), w1, b1).gelu("none");
    tokens + linear(&hidden, w2, b2)
}
