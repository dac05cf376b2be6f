//! A transformer over bytes.

use super::plan::ByteTransformerPlan;
use crate::attention::causal_mask;
use crate::block::{OF_BLOCK, block, initial_block, initial_normalization, linear, normalized};
use crate::initial::Initial;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// The tokens: all bytes.
pub(super) const TOKENS: usize = 256;
/// Tensors before the first block.
const BEFORE_BLOCKS: usize = 2;

/// A transformer with its parameters: embeddings of bytes and of places; of each block; of the last normalization and
/// of the tokens.
pub(super) struct ByteTransformer {
    pub parameters: Vec<Tensor>,
    depth: usize,
    heads: i64,
}

impl ByteTransformer {
    pub fn new(plan: &ByteTransformerPlan, stream: ChaCha8Rng, device: Device) -> Self {
        let (width, mut streams) = (plan.width, [stream]);
        let mut initial = Initial::new(&mut streams, device);
        initial.embeddings(TOKENS, width);
        initial.embeddings(plan.context, width);
        for _ in 0..plan.depth {
            initial_block(&mut initial, width);
        }
        initial_normalization(&mut initial, width);
        initial.dense(width, TOKENS);
        Self { parameters: initial.parameters(), depth: plan.depth, heads: plan.heads as i64 }
    }

    /// The same tensors, for another thread that only reads them.
    pub fn shared(&self) -> Self {
        Self { parameters: self.parameters.iter().map(Tensor::shallow_clone).collect(), ..*self }
    }

    /// The same values in tensors of their own.
    pub fn copied(&self) -> Self {
        Self { parameters: self.parameters.iter().map(Tensor::copy).collect(), ..*self }
    }

    /// The same values as parameters of their own, which gradients are taken of.
    pub fn leaves(&self) -> Self {
        let leaf = |parameter: &Tensor| parameter.detach().set_requires_grad(true);
        Self { parameters: self.parameters.iter().map(leaf).collect(), ..*self }
    }

    /// Gradients of the cross-entropy of windows [B, T + 1], added up and divided by `all`, with respect to the
    /// [`leaves`](Self::leaves) that these are.
    pub fn gradients(&self, windows: &Tensor, all: f64) -> Vec<Tensor> {
        let length = windows.size()[1] - 1;
        let (before, next) = (windows.narrow(1, 0, length), windows.narrow(1, 1, length).unsqueeze(2));
        let likely = self.logits(&before).log_softmax(-1, Kind::Float).gather(2, &next, false);
        let loss = -likely.sum(Kind::Float) / all;
        Tensor::run_backward(&[&loss], &self.parameters.iter().collect::<Vec<_>>(), false, false)
    }

    fn layers<const N: usize>(&self, first: usize) -> [&Tensor; N] {
        std::array::from_fn(|index| &self.parameters[first + index])
    }

    /// Logits [B, T, 256] of the byte behind each of bytes [B, T].
    pub fn logits(&self, bytes: &Tensor) -> Tensor {
        let (windows, length) = (bytes.size()[0], bytes.size()[1]);
        let [embeddings, places] = self.layers(0);
        let embedded = embeddings.select(0, 0).index_select(0, &bytes.reshape([-1]));
        let mut tokens = embedded.view([windows, length, -1]) + places.select(0, 0).narrow(0, 0, length);
        let mask = causal_mask(length as usize, bytes.device());
        for number in 0..self.depth {
            tokens = block(&tokens, self.layers(BEFORE_BLOCKS + number * OF_BLOCK), self.heads, &mask);
        }
        let [scale, shift, weights, biases] = self.layers(BEFORE_BLOCKS + self.depth * OF_BLOCK);
        linear(&normalized(&tokens, [scale, shift]), weights, biases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};

    /// What comes later changes nothing.
    #[test]
    fn a_byte_sees_itself_and_those_before_it() {
        let plan = ByteTransformerPlan { width: 8, depth: 2, heads: 2, context: 6 };
        let model = ByteTransformer::new(&plan, stream(1, Purpose::Weights, 0, 0), Device::Cpu);
        let logits = |bytes: &[i64]| model.logits(&Tensor::from_slice(bytes).unsqueeze(0)).select(0, 0);
        let whole = logits(&[3, 200, 7, 9, 0, 255]);
        for length in 1..6 {
            let cut = logits(&[3, 200, 7, 9, 0, 255][..length]);
            let apart = (whole.narrow(0, 0, length as i64) - cut).abs().max().double_value(&[]);
            assert!(apart < 1e-5, "{length}: {apart}");
        }
        let changed = logits(&[4, 200, 7, 9, 0, 255]);
        assert!((whole - changed).abs().max().double_value(&[]) > 1e-3);
    }
}
