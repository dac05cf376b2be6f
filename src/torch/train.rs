//! The loop that trains an ensemble.

use super::ensemble::Ensemble;
use super::optimizer::{Optimizer, OptimizerState, Schedule};
use crate::record::ImageSet;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::{Device, Kind, Tensor};

/// How long and by which rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingPlan {
    /// Passes over the images of the network that has most.
    pub epochs: usize,
    /// Images in a step, for every network.
    pub batch: usize,
    /// The rule of a step.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub schedule: Schedule,
}

impl TrainingPlan {
    /// Steps of a training in which the largest network has `images` images.
    #[must_use]
    pub fn steps(&self, images: usize) -> u64 {
        (self.epochs as u64 * images as u64).div_ceil(self.batch.max(1) as u64)
    }
}

/// An image, and what is to be learnt about it: rows of [`TrainingImages::inputs`] and of [`TrainingImages::targets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Example {
    pub image: u32,
    pub target: u32,
}

impl Example {
    /// An image with its own label.
    pub const fn labelled(image: u32) -> Self {
        Self { image, target: image }
    }
}

/// Images and labels of all networks on their device.
pub(super) struct TrainingImages {
    /// [N, F], in [0, 1].
    pub inputs: Tensor,
    /// [T, C], probabilities: those of the images first, others behind them.
    pub targets: Tensor,
}

impl TrainingImages {
    /// Pixels of N images, divided by 255, and their labels.
    pub fn new(pixels: &[u8], labels: &[u8], classes: usize, device: Device) -> Self {
        let images = labels.len() as i64;
        let inputs = Tensor::from_slice(pixels).view([images, -1]).to_device(device).to_kind(Kind::Float) / 255.0;
        Self { inputs, targets: one_hot(labels, classes, device) }
    }

    /// The images of a set and their labels.
    pub fn of(set: &ImageSet, classes: usize, device: Device) -> Self {
        let pixels: Vec<u8> = set.pixels.iter().copied().collect();
        Self::new(&pixels, &set.labels.to_vec(), classes, device)
    }

    /// Inputs [n, F] and targets [n, C] of examples.
    pub fn rows(&self, examples: &[Example]) -> (Tensor, Tensor) {
        let rows = |row: &dyn Fn(&Example) -> u32| {
            let rows: Vec<i64> = examples.iter().map(|example| row(example).into()).collect();
            Tensor::from_slice(&rows).to_device(self.inputs.device())
        };
        let inputs = self.inputs.index_select(0, &rows(&|example| example.image));
        (inputs, self.targets.index_select(0, &rows(&|example| example.target)))
    }

    /// The same tensors, for another thread.
    pub fn share(&self) -> Self {
        Self { inputs: self.inputs.shallow_clone(), targets: self.targets.shallow_clone() }
    }
}

/// Labels as probabilities [N, C].
pub(super) fn one_hot(labels: &[u8], classes: usize, device: Device) -> Tensor {
    let mut targets = vec![0f32; labels.len() * classes];
    for (row, &label) in targets.chunks_exact_mut(classes.max(1)).zip(labels) {
        row[usize::from(label)] = 1.0;
    }
    Tensor::from_slice(&targets).view([labels.len() as i64, classes as i64]).to_device(device)
}

/// The examples of one network in random order, one pass after the other without end: every batch is full, and networks
/// with different numbers of examples stay in step.
pub(super) struct Passes {
    order: Vec<Example>,
    at: usize,
    stream: ChaCha8Rng,
}

impl Passes {
    pub fn new(examples: &[Example], stream: ChaCha8Rng) -> Self {
        Self { order: examples.to_vec(), at: examples.len(), stream }
    }

    /// Adds the next `size` examples, of which there is at least one.
    pub fn extend(&mut self, batch: &mut Vec<Example>, size: usize) {
        for _ in 0..size {
            if self.at >= self.order.len() {
                self.order.shuffle(&mut self.stream);
                self.at = 0;
            }
            batch.push(self.order[self.at]);
            self.at += 1;
        }
    }
}

/// Trains network m on the examples of `tables[m]`, whose order `streams[m]` draws, for so many steps.
///
/// No table may be empty.
pub(super) fn train(
    ensemble: &mut dyn Ensemble,
    images: &TrainingImages,
    tables: &[&[Example]],
    streams: Vec<ChaCha8Rng>,
    plan: &TrainingPlan,
    steps: u64,
) {
    let mut passes: Vec<Passes> =
        tables.iter().zip(streams).map(|(examples, stream)| Passes::new(examples, stream)).collect();
    let mut state = OptimizerState::new(plan.optimizer, ensemble.parameters());
    let mut batch = Vec::with_capacity(passes.len() * plan.batch);
    let shape = [ensemble.networks(), plan.batch as i64, -1];
    for step in 0..steps {
        batch.clear();
        for passes in &mut passes {
            passes.extend(&mut batch, plan.batch);
        }
        let (inputs, targets) = images.rows(&batch);
        let mut gradients = ensemble.gradients(&inputs.view(shape), &targets.view(shape));
        state.step(ensemble.parameters(), &mut gradients, plan.schedule.rate(step, steps));
    }
}
