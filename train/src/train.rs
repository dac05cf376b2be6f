//! The loop that trains an ensemble.

use super::augment::{Augmentation, Augmenter};
use super::checks::{check_counts, check_range};
use super::early_stopping::{BestParameters, EarlyStopping};
use super::ensemble::{Ensemble, Loss};
use super::optimizer::{Optimizer, OptimizerState, Schedule};
use super::training_images::{Example, TrainingImages};
use leakbound::error::{Error, Result};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// How long and by which rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrainingPlan {
    /// Passes over the images of the network that has the most.
    pub epochs: usize,
    /// Images in a step, for every network.
    pub batch: usize,
    /// The rule of a step.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub schedule: Schedule,
    /// Whether each network ends when it stops improving.
    pub early_stopping: Option<EarlyStopping>,
    /// How images are varied at every step; not at all if absent.
    pub augmentation: Option<Augmentation>,
    /// Networks that are trained side by side; if absent, the fastest number: on a CPU a few on each thread, on a GPU
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
    /// [`Error::Rejected`](leakbound::Error::Rejected) if no image is left to learn from for the network that has the
    /// fewest of the `images`.
    pub(super) fn check(&self, images: usize) -> Result<()> {
        let mut counts = vec![("images in a step", self.batch), ("epochs", self.epochs)];
        counts.extend(self.early_stopping.map(|stopping| ("patience", stopping.patience)));
        counts.extend(self.side_by_side.map(|networks| ("networks side by side", networks)));
        check_counts(counts)?;
        let Some(stopping) = self.early_stopping else { return Ok(()) };
        let share = stopping.validation;
        check_range("share of images for validation", share, share > 0.0 && share < 1.0, "(0, 1)")?;
        Error::check_possible(images >= 2, "early stopping", "a network with one image has none for validation")?;
        Ok(())
    }

    /// Steps of a training in which the largest network has `images` images, those of its validation included.
    #[must_use]
    pub fn steps(&self, images: usize) -> u64 {
        let images = images - self.early_stopping.map_or(0, |stopping| stopping.held_out(images));
        (self.epochs as u64 * images as u64).div_ceil(self.batch.max(1) as u64)
    }
}

/// The examples of one network in random order, one pass after the other without end.
struct Passes {
    order: Vec<Example>,
    at: usize,
    stream: ChaCha8Rng,
}

impl Passes {
    /// Adds the next `size` examples; there is at least one.
    fn extend(&mut self, batch: &mut Vec<Example>, size: usize) {
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

/// Batches of networks that are trained side by side: every batch is full, and networks with different numbers of
/// examples stay in step.
pub(super) struct Batches {
    networks: Vec<Passes>,
    /// Examples of a network in a batch.
    size: usize,
    /// Whether an incomplete batch is left out of a pass, so that no example is in a batch twice.
    pub whole: bool,
}

impl Batches {
    /// Of the examples of each network, whose order its stream draws.
    pub fn new(tables: Vec<Vec<Example>>, streams: Vec<ChaCha8Rng>, size: usize) -> Self {
        let passes = |(order, stream): (Vec<Example>, _)| Passes { at: order.len(), order, stream };
        Self { networks: tables.into_iter().zip(streams).map(passes).collect(), size, whole: false }
    }

    /// The next examples, those of network 0 first.
    pub fn next(&mut self) -> Vec<Example> {
        let mut batch = Vec::with_capacity(self.networks.len() * self.size);
        for passes in &mut self.networks {
            if self.whole && passes.at + self.size > passes.order.len() {
                passes.at = passes.order.len();
            }
            passes.extend(&mut batch, self.size);
        }
        batch
    }
}

/// What an ensemble learns.
pub(super) struct Lesson<'a> {
    pub images: &'a TrainingImages,
    /// The examples of each network, at least one.
    pub tables: &'a [Vec<Example>],
    pub plan: &'a TrainingPlan,
    pub steps: u64,
    pub loss: &'a dyn Loss,
}

/// Trains network m on the examples of `tables[m]`, whose order `streams[m]` draws; `augmenter` is that of the plan's
/// augmentation.
pub(super) fn train(
    ensemble: &mut dyn Ensemble,
    &Lesson { images, tables, plan, steps, loss }: &Lesson<'_>,
    mut streams: Vec<ChaCha8Rng>,
    mut augmenter: Augmenter,
) {
    let mut tables = tables.to_vec();
    let mut best = plan.early_stopping.map(|stopping| {
        let hold_out = |(examples, stream): (&mut Vec<Example>, &mut ChaCha8Rng)| {
            examples.shuffle(stream);
            examples.split_off(examples.len() - stopping.held_out(examples.len()))
        };
        BestParameters::new(ensemble, stopping, tables.iter_mut().zip(&mut streams).map(hold_out).collect())
    });
    let mut batches = Batches::new(tables, streams, plan.batch);
    let mut state = OptimizerState::new(plan.optimizer, ensemble.parameters());
    let shape = [ensemble.networks(), plan.batch as i64, -1];
    for step in 0..steps {
        let (inputs, targets) = images.rows(&batches.next());
        let inputs = augmenter.vary(inputs, plan.batch);
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
