//! The blocks of transformers: attention, then a perceptron for each token.

use super::guard::guarded;
use super::initial::Initial;
use super::layers::dense;
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tch::{Device, Kind, Tensor};

/// Added to variances: Ba et al. (2016).
const VARIANCE_FLOOR: f64 = 1e-5;
/// Units of a perceptron for each number of a token.
const EXPANSION: usize = 4;
/// Tensors of a block.
const OF_BLOCK: usize = 12;
/// Tensors behind the last block.
const OF_END: usize = 4;

/// The tensors of a transformer: what embeds its tokens; those of each block; of the last normalization and of the dense
/// layer that gives logits.
pub(super) struct Stack {
    pub parameters: Vec<Tensor>,
    depth: usize,
    heads: i64,
}

impl Stack {
    /// With tokens of `width` numbers, which `embeddings` are drawn for.
    pub fn new(
        (width, depth, heads): (usize, usize, usize),
        classes: usize,
        (stream, device): (ChaCha8Rng, Device),
        embeddings: impl FnOnce(&mut Initial<'_, ChaCha8Rng>),
    ) -> Self {
        let mut streams = [stream];
        let mut initial = Initial::new(&mut streams, device);
        embeddings(&mut initial);
        for _ in 0..depth {
            initial_block(&mut initial, width);
        }
        initial_normalization(&mut initial, width);
        initial.dense(width, classes);
        Self { parameters: initial.parameters(), depth, heads: heads as i64 }
    }

    /// The same with each tensor replaced.
    pub fn mapped(&self, change: impl Fn(&Tensor) -> Tensor) -> Self {
        Self { parameters: self.parameters.iter().map(change).collect(), ..*self }
    }

    /// This many tensors from the first on.
    pub fn layers<const N: usize>(&self, first: usize) -> [&Tensor; N] {
        std::array::from_fn(|index| &self.parameters[first + index])
    }

    /// The tensors of a block.
    pub fn block(&self, number: usize) -> [&Tensor; OF_BLOCK] {
        let behind = OF_END + (self.depth - number) * OF_BLOCK;
        self.layers(self.parameters.len() - behind)
    }

    /// Tokens [B, T, W] after all blocks.
    pub fn through(&self, tokens: Tensor, mask: &Tensor) -> Tensor {
        (0..self.depth).fold(tokens, |tokens, number| block(&tokens, self.block(number), self.heads, mask))
    }

    /// Logits [B, T, C] of tokens that went through all blocks.
    pub fn logits(&self, tokens: &Tensor) -> Tensor {
        let [scale, shift, weights, biases] = self.layers(self.parameters.len() - OF_END);
        linear(&normalized(tokens, [scale, shift]), weights, biases)
    }

    /// Gradients of a loss with respect to these parameters, each a [`leaf`].
    pub fn gradients(&self, loss: &Tensor) -> Vec<Tensor> {
        Tensor::run_backward(&[loss], &self.parameters.iter().collect::<Vec<_>>(), false, false)
    }
}

/// The same values as a separate parameter with gradients.
pub(super) fn leaf(parameter: &Tensor) -> Tensor {
    parameter.detach().set_requires_grad(true)
}

/// The sum of the gradients of parts of a batch, each on one thread: it has one order on any number of threads.
pub(super) fn sum_of_parts<W: Send>(
    parts: Vec<W>,
    gradients: impl Fn(W) -> Vec<Tensor> + Send + Sync,
) -> Result<Vec<Tensor>> {
    let of_part = |part| guarded("training", || Ok(gradients(part)));
    let found: Vec<Vec<Tensor>> = parts.into_par_iter().map(of_part).collect::<Result<_>>()?;
    let sum = found.into_iter().reduce(|sum, part| sum.iter().zip(&part).map(|(a, b)| a + b).collect());
    Ok(sum.unwrap_or_default())
}

/// The tensors of a block over tokens of `width` numbers.
fn initial_block(initial: &mut Initial<'_, ChaCha8Rng>, width: usize) {
    initial_normalization(initial, width);
    initial.dense(width, 3 * width);
    initial.dense(width, width);
    initial_normalization(initial, width);
    initial.dense(width, EXPANSION * width);
    initial.dense(EXPANSION * width, width);
}

/// γ of 1 and β of 0.
fn initial_normalization(initial: &mut Initial<'_, ChaCha8Rng>, width: usize) {
    initial.constant(&[1, width], 1.0);
    initial.constant(&[1, width], 0.0);
}

/// γ (x - mean)/√(variance + 1e-5) + β over the numbers of each token.
fn normalized(tokens: &Tensor, [scale, shift]: [&Tensor; 2]) -> Tensor {
    let width = tokens.size()[2];
    tokens.layer_norm([width], Some(&scale.select(0, 0)), Some(&shift.select(0, 0)), VARIANCE_FLOOR, false)
}

/// x W + b for tokens [B, T, W].
fn linear(tokens: &Tensor, weights: &Tensor, biases: &Tensor) -> Tensor {
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

/// softmax(Q Kᵀ/√D + M) V for queries, keys and values [B, H, T, D] and a mask M [T, T], which is 0 if a token (row)
/// sees another (column) and -∞ otherwise.
///
/// # References
/// Vaswani et al. (2017), "Attention is all you need", (1).
fn attention(queries: &Tensor, keys: &Tensor, values: &Tensor, mask: &Tensor) -> Tensor {
    let dimension = queries.size()[3] as f64;
    let scores = queries.matmul(&keys.transpose(-2, -1)) / dimension.sqrt() + mask;
    scores.softmax(-1, queries.kind()).matmul(values)
}

/// The mask [T, T] of a context of `context` tokens with `queries` queries behind it, T = context + queries.
///
/// Tokens of the context see each other. A query sees the context and itself: it is the last token of its own prompt,
/// whatever else is asked.
pub(super) fn prompt_mask(context: usize, queries: usize, device: Device) -> Tensor {
    mask(context + queries, device, |row, column| column < context || column == row)
}

/// The mask [T, T] of a text of `tokens` tokens, in which each sees itself and those before it.
pub(super) fn causal_mask(tokens: usize, device: Device) -> Tensor {
    mask(tokens, device, |row, column| column <= row)
}

/// 0 where a token (row) sees another (column), -∞ elsewhere.
fn mask(tokens: usize, device: Device, sees: impl Fn(usize, usize) -> bool) -> Tensor {
    let mask: Vec<f32> = (0..tokens * tokens)
        .map(|place| if sees(place / tokens, place % tokens) { 0.0 } else { f32::NEG_INFINITY })
        .collect();
    Tensor::from_slice(&mask).view([tokens as i64, tokens as i64]).to_kind(Kind::Float).to_device(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: [usize; 4] = [2, 3, 6, 4];

    fn wave(phase: f64) -> Tensor {
        let count = SHAPE.iter().product::<usize>() as i64;
        let line = Tensor::linspace(0.0, 0.9 * count as f64, count, (Kind::Float, Device::Cpu)) + phase;
        ((&line * 1.7).sin() * 2.0).view(SHAPE.map(|length| length as i64))
    }

    #[test]
    fn attention_is_that_of_a_loop() {
        let [q, k, v] = [0.0, 0.4, 1.1].map(wave);
        let found = attention(&q, &k, &v, &prompt_mask(4, 2, Device::Cpu));
        let [batch, heads, tokens, dimension] = SHAPE;
        let mut furthest: f64 = 0.0;
        for (b, h, t) in (0..batch * heads * tokens).map(|i| (i / (heads * tokens), i / tokens % heads, i % tokens)) {
            let at = |tensor: &Tensor, token: usize, d: usize| {
                tensor.double_value(&[b as i64, h as i64, token as i64, d as i64])
            };
            // Four tokens of context; the two behind them see it and themselves.
            let seen: Vec<usize> = (0..tokens).filter(|&other| other < 4 || other == t).collect();
            let score = |other: usize| {
                (0..dimension).map(|d| at(&q, t, d) * at(&k, other, d)).sum::<f64>() / (dimension as f64).sqrt()
            };
            let weights: Vec<f64> = seen.iter().map(|&other| score(other).exp()).collect();
            for d in 0..dimension {
                let mean = seen.iter().zip(&weights).map(|(&other, weight)| weight * at(&v, other, d)).sum::<f64>()
                    / weights.iter().sum::<f64>();
                furthest = furthest.max((mean - at(&found, t, d)).abs());
            }
        }
        println!("furthest apart {furthest:e}");
        assert!(furthest < 1e-5);
    }
}
