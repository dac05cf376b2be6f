//! A meta-classifier with one-dimensional convolutions on the weights as one vector.

use super::dropout::Dropout;
use super::plan::FlatPlan;
use crate::ensemble::Ensemble;
use crate::initial::Initial;
use crate::layers::dense;
use leakbound::error::{Error, Result};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

/// One network of [`FlatPlan`].
pub(super) struct FlatClassifier {
    plan: FlatPlan,
    dropout: Dropout,
    /// Weights and biases of the convolutions, then of the dense layers.
    parameters: Vec<Tensor>,
}

impl FlatClassifier {
    /// A network for vectors of `inputs` weights.
    pub fn new(
        plan: FlatPlan,
        (inputs, values): (usize, usize),
        stream: ChaCha8Rng,
        dropout: Dropout,
        device: Device,
    ) -> Self {
        let mut streams = [stream];
        let mut initial = Initial::new(&mut streams, device);
        let mut below = 1;
        for block in 0..plan.blocks {
            let filters = plan.filters << block;
            for _ in 0..plan.convolutions {
                initial.convolution_of_vectors(below, filters, plan.kernel);
                initial.constant(&[filters], 0.0);
                below = filters;
            }
        }
        below *= left(plan, inputs);
        for _ in 0..plan.dense {
            initial.dense(below, plan.units);
            below = plan.units;
        }
        initial.dense(below, values);
        Self { plan, dropout, parameters: initial.parameters() }
    }

    fn forward(&self, inputs: &Tensor, drop: &mut dyn FnMut(Tensor) -> Tensor) -> Tensor {
        let plan = self.plan;
        let (convolutions, layers) = self.parameters.split_at(2 * plan.blocks * plan.convolutions);
        let (batch, pooling) = (inputs.size()[1], plan.pooling as i64);
        let mut vectors = inputs.view([batch, 1, -1]);
        for block in convolutions.chunks_exact(2 * plan.convolutions) {
            for layer in block.chunks_exact(2) {
                let padding = plan.kernel as i64 / 2;
                vectors = vectors.conv1d(&layer[0], Some(&layer[1]), 1, padding, 1, 1).relu();
            }
            vectors = vectors.max_pool1d(pooling, pooling, 0, 1, false);
        }
        let mut units = vectors.reshape([1, batch, -1]);
        let (last, hidden) = (&layers[layers.len() - 2..], &layers[..layers.len() - 2]);
        for layer in hidden.chunks_exact(2) {
            units = drop(dense(&units, &layer[0], &layer[1]).relu());
        }
        dense(&units, &last[0], &last[1])
    }
}

/// What pooling leaves of a vector of so many weights.
fn left(plan: FlatPlan, inputs: usize) -> usize {
    (0..plan.blocks).fold(inputs, |length, _| length / plan.pooling)
}

/// # Errors
/// [`Error::Rejected`] if pooling leaves nothing of the weights, or a kernel has no middle.
pub(super) fn check(plan: FlatPlan, inputs: usize) -> Result<()> {
    let rejected = |reason| Err(Error::Rejected { operation: "meta-classifier", reason });
    if plan.kernel.is_multiple_of(2) {
        return rejected(format!("a kernel of length {}, which has no middle; take an odd one", plan.kernel));
    }
    if left(plan, inputs) == 0 {
        return rejected(format!(
            "{} blocks that each keep one of {} values leave nothing of {inputs} weights; take fewer blocks",
            plan.blocks, plan.pooling
        ));
    }
    // Filters double from block to block.
    if plan.blocks > 20 || plan.filters > 1 << 12 {
        return rejected(format!("{} blocks of {} filters and more", plan.blocks, plan.filters));
    }
    Ok(())
}

impl Ensemble for FlatClassifier {
    fn networks(&self) -> i64 {
        1
    }

    fn parameters(&mut self) -> &mut [Tensor] {
        &mut self.parameters
    }

    fn mapped(&self, change: &dyn Fn(&Tensor) -> Tensor) -> Box<dyn Ensemble> {
        let parameters = self.parameters.iter().map(change).collect();
        Box::new(Self { plan: self.plan, dropout: self.dropout.clone(), parameters })
    }

    fn logits(&self, inputs: &Tensor) -> Tensor {
        self.forward(inputs, &mut |units| units)
    }

    fn learning_logits(&mut self, inputs: &Tensor) -> Tensor {
        let mut dropout = self.dropout.clone();
        let logits = self.forward(inputs, &mut |units| dropout.of(&units));
        self.dropout = dropout;
        logits
    }
}
