//! A meta-classifier with one-dimensional convolutions on the weights as one vector.

use super::dropout::Dropout;
use super::plan::FlatPlan;
use crate::checks::reject;
use crate::ensemble::{Architecture, Networks};
use crate::initial::Initial;
use crate::layers::{BatchPass, dense};
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

/// A network of [`FlatPlan`]. Parameters are weights and biases of the convolutions, then of the dense layers.
#[derive(Clone)]
pub(super) struct Flat {
    plan: FlatPlan,
    dropout: Dropout,
}

impl Flat {
    /// One for vectors of `inputs` weights.
    pub fn network(
        plan: FlatPlan,
        (inputs, values): (usize, usize),
        stream: ChaCha8Rng,
        dropout: Dropout,
        device: Device,
    ) -> Networks<Self> {
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
        initial.finish(Self { plan, dropout }, Vec::new())
    }
}

impl Architecture for Flat {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, pass: &mut BatchPass<'_>) -> Tensor {
        let Self { plan, dropout } = &networks.architecture;
        let (convolutions, layers) = networks.parameters.split_at(2 * plan.blocks * plan.convolutions);
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
            units = dropout.in_pass(pass, dense(&units, &layer[0], &layer[1]).relu());
        }
        dense(&units, &last[0], &last[1])
    }
}

/// What pooling leaves of a vector of this many weights.
fn left(plan: FlatPlan, inputs: usize) -> usize {
    (0..plan.blocks).fold(inputs, |length, _| length / plan.pooling)
}

/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if pooling leaves nothing of the weights, or a kernel has no middle.
pub(super) fn check(plan: FlatPlan, inputs: usize) -> Result<()> {
    if plan.kernel.is_multiple_of(2) {
        return reject(
            "meta-classifier",
            format!("a kernel of length {}, which has no middle; take an odd one", plan.kernel),
        );
    }
    if left(plan, inputs) == 0 {
        return reject(
            "meta-classifier",
            format!(
                "{} blocks that each keep one of {} values leave nothing of {inputs} weights; take fewer blocks",
                plan.blocks, plan.pooling
            ),
        );
    }
    // Filters double from block to block.
    if plan.blocks > 20 || plan.filters > 1 << 12 {
        return reject("meta-classifier", format!("{} blocks of {} filters and more", plan.blocks, plan.filters));
    }
    Ok(())
}
