//! The loop that trains an ensemble.

use super::augment::{Augmentation, Augmenter};
use super::checks::{check_counts, check_range, reject};
use super::early_stopping::{BestParameters, EarlyStopping};
use super::ensemble::Ensemble;
use super::loss::Loss;
use super::optimizer::{Optimizer, OptimizerState, Schedule};
use super::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

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
    /// Whether each network ends where it no longer gets better.
    pub early_stopping: Option<EarlyStopping>,
    /// How images are varied at every step; not at all if absent.
    pub augmentation: Option<Augmentation>,
    /// Networks that are trained side by side; if absent, as many as are fastest: on a CPU few on each thread, on a GPU
    /// all. Sums, and so the last digits, depend on it.
    pub side_by_side: Option<usize>,
}

impl TrainingPlan {
    /// Training by a rule alone: no images held out and none varied.
    #[must_use]
    pub const fn new(epochs: usize, batch: usize, optimizer: Optimizer, schedule: Schedule) -> Self {
        Self { epochs, batch, optimizer, schedule, early_stopping: None, augmentation: None, side_by_side: None }
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a share outside (0, 1),
    /// [`Error::Rejected`](leakbound::Error::Rejected) if of the `images` of the network that has fewest none is left
    /// to learn from.
    pub(super) fn check(&self, images: usize) -> Result<()> {
        let mut counts = vec![("images in a step", self.batch), ("epochs", self.epochs)];
        counts.extend(self.early_stopping.map(|stopping| ("patience", stopping.patience)));
        counts.extend(self.side_by_side.map(|networks| ("networks side by side", networks)));
        check_counts(counts)?;
        let Some(stopping) = self.early_stopping else { return Ok(()) };
        let share = stopping.validation;
        check_range("share of images for validation", share, share > 0.0 && share < 1.0, "(0, 1)")?;
        if images < 2 {
            return reject("early stopping", "a network with one image has none for validation");
        }
        Ok(())
    }

    /// Steps of a training in which the largest network has `images` images, those of its validation included.
    #[must_use]
    pub fn steps(&self, images: usize) -> u64 {
        let images = images - self.early_stopping.map_or(0, |stopping| stopping.held_out(images));
        (self.epochs as u64 * images as u64).div_ceil(self.batch.max(1) as u64)
    }
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

/// What an ensemble learns.
pub(super) struct Lesson<'a> {
    pub images: &'a TrainingImages,
    /// The examples of each network, at least one.
    pub tables: &'a [&'a [Example]],
    pub plan: &'a TrainingPlan,
    pub steps: u64,
    pub loss: &'a dyn Loss,
}

/// Trains network m on the examples of `tables[m]`, whose order `streams[m]` draws; `augmenter` is that of the plan's
/// augmentation.
pub(super) fn train(
    ensemble: &mut dyn Ensemble,
    &Lesson { images, tables, plan, steps, loss }: &Lesson<'_>,
    streams: Vec<ChaCha8Rng>,
    mut augmenter: Option<Augmenter>,
) {
    let mut held_out = Vec::new();
    let mut learn = |examples: &&[Example], mut stream: ChaCha8Rng| match plan.early_stopping {
        None => Passes::new(examples, stream),
        Some(stopping) => {
            let mut examples = examples.to_vec();
            examples.shuffle(&mut stream);
            held_out.push(examples.split_off(examples.len() - stopping.held_out(examples.len())));
            Passes::new(&examples, stream)
        }
    };
    let mut passes: Vec<Passes> =
        tables.iter().zip(streams).map(|(examples, stream)| learn(examples, stream)).collect();
    let mut best = plan.early_stopping.map(|stopping| BestParameters::new(ensemble, stopping, held_out));
    let mut state = OptimizerState::new(plan.optimizer, ensemble.parameters());
    let mut batch = Vec::with_capacity(passes.len() * plan.batch);
    let shape = [ensemble.networks(), plan.batch as i64, -1];
    for step in 0..steps {
        batch.clear();
        for passes in &mut passes {
            passes.extend(&mut batch, plan.batch);
        }
        let (inputs, targets) = images.rows(&batch);
        let inputs = match &mut augmenter {
            Some(augmenter) => augmenter.vary(&inputs, plan.batch),
            None => inputs,
        };
        let epoch = |steps_done: u64| steps_done * plan.epochs as u64 / steps;
        let mut gradients = loss.gradients(ensemble, &inputs.view(shape), &targets.view(shape), epoch(step));
        state.step(ensemble.parameters(), &mut gradients, plan.schedule.rate(step, steps));
        if epoch(step + 1) > epoch(step) && best.as_mut().is_some_and(|best| best.all_are_done(ensemble, images)) {
            break;
        }
    }
    if let Some(best) = best {
        best.restore(ensemble);
    }
}
