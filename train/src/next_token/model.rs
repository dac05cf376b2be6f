//! A transformer over bytes.

use super::plan::ByteTransformerPlan;
use crate::block::{Stack, causal_mask};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// The tokens: all bytes.
pub(super) const TOKENS: usize = 256;

/// A transformer whose parameters begin with the embeddings of bytes and of places.
pub(super) struct ByteTransformer {
    pub stack: Stack,
}

impl ByteTransformer {
    pub fn new(plan: &ByteTransformerPlan, stream: ChaCha8Rng, device: Device) -> Self {
        let stack = Stack::new((plan.width, plan.depth, plan.heads), TOKENS, (stream, device), |initial| {
            initial.embeddings(TOKENS, plan.width);
            initial.embeddings(plan.context, plan.width);
        });
        Self { stack }
    }

    /// The same with each tensor replaced.
    pub fn mapped(&self, change: impl Fn(&Tensor) -> Tensor) -> Self {
        Self { stack: self.stack.mapped(change) }
    }

    /// Gradients of the cross-entropy of windows [B, T + 1], added up and divided by `all`, with respect to these
    /// parameters, each a [`leaf`](crate::block::leaf).
    pub fn gradients(&self, windows: &Tensor, all: f64) -> Vec<Tensor> {
        let length = windows.size()[1] - 1;
        let (before, next) = (windows.narrow(1, 0, length), windows.narrow(1, 1, length).unsqueeze(2));
        let likely = self.logits(&before).log_softmax(-1, Kind::Float).gather(2, &next, false);
        self.stack.gradients(&(-likely.sum(Kind::Float) / all))
    }

    /// Logits [B, T, 256] of the byte behind each of bytes [B, T].
    pub fn logits(&self, bytes: &Tensor) -> Tensor {
        let (windows, length) = (bytes.size()[0], bytes.size()[1]);
        let [embeddings, places] = self.stack.layers(0);
        let embedded = embeddings.select(0, 0).index_select(0, &bytes.reshape([-1]));
        let tokens = embedded.view([windows, length, -1]) + places.select(0, 0).narrow(0, 0, length);
        let mask = causal_mask(length as usize, bytes.device());
        self.stack.logits(&self.stack.through(tokens, &mask))
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
