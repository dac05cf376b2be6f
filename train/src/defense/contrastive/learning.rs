//! Encoders that learn from pairs of views, and what is recorded about them.

use super::classifier::classifiers;
use super::plan::{DIMENSION, EncoderPlan};
use super::views::{RandomViews, random_views};
use crate::answers::{by_network, numbers};
use crate::checks::{reject, unavailable};
use crate::defense::method::{Answers, Further, Method, PHASE, Queries, Task};
use crate::ensemble::{Ensemble, check_finite, logits_of_all};
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::optimizer::{Optimizer, OptimizerState, Schedule};
use crate::seed::{Purpose, stream};
use crate::train::Batches;
use crate::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use ndarray::Array5;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use tch::{Device, Tensor};

/// Streams of random views: those of training, one for each network, and the one of all recorded embeddings.
const OF_TRAINING: u64 = 0;
const OF_SAMPLES: u64 = 1;

/// Samples whose views are shown.
const SHOWN: usize = 6;

/// The objective that encoders minimize, with its state between steps.
pub(super) trait Objective {
    /// Gradients with respect to the encoders' parameters at two views of the same images, [M, B, F] each: each network
    /// gets the gradient of its own loss.
    fn gradients(&mut self, encoders: &mut dyn Ensemble, views: [&Tensor; 2]) -> Vec<Tensor>;

    /// After the encoders' step.
    fn stepped(&mut self, _encoders: &mut dyn Ensemble) {}
}

/// Encoders at their start, and the objective that they minimize.
pub(super) type Start = (Box<dyn Ensemble>, Box<dyn Objective>);

/// Learning without labels.
pub(super) trait Learner: Sync {
    /// How long, at which rate and so on.
    fn plan(&self) -> &EncoderPlan;

    /// Encoders of networks [M, B, F] ↦ [M, B, 128]; a stream of each draws what the method begins with.
    fn start(&self, networks: Box<dyn Ensemble>, streams: &mut [ChaCha8Rng], device: Device) -> Start;

    /// # Errors
    /// A parameter that is out of range or does not fit the others.
    fn check(&self) -> Result<()> {
        self.plan().check()
    }

    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if a shadow model has too few images.
    fn check_images(&self, images: usize) -> Result<()> {
        let batch = self.plan().batch;
        if batch <= images {
            return Ok(());
        }
        reject(
            "defense",
            format!(
                "a batch of {batch} for an encoder of {images} images, which would be told apart from themselves; take a \
             smaller batch or more images"
            ),
        )
    }
}

impl<L: Learner> Method for L {
    fn check(&self, _: usize) -> Result<()> {
        Learner::check(self)
    }

    fn further(&self, Queries { attacked, .. }: Queries, _: usize) -> Vec<Further> {
        vec![Further::new("embeddings", vec![attacked, self.plan().views, DIMENSION])]
    }

    fn views(&self, task: &Task<'_>) -> Result<Option<Array5<f32>>> {
        shown_views(self, task).map(Some)
    }

    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        answers(self, task)
    }
}

/// The tensors of all groups, for one of them.
struct Tensors {
    images: TrainingImages,
    asked: Tensor,
    /// Random views of the attacked samples, [A · V, F].
    views: Tensor,
}

/// An encoder on the images of each table, and a linear classifier on it: logits, and embeddings of random views.
///
/// # Errors
/// Those of [`Trainer::in_groups`]; [`Error::Rejected`](leakbound::Error::Rejected) for a training that encoders cannot
/// have, and too few images.
fn answers(learner: &dyn Learner, task: &Task<'_>) -> Result<Vec<Answers>> {
    let &Task { trainer, images, tables, asked, .. } = task;
    check(learner, &trainer, tables)?;
    let views = guarded("views", || Ok(views_of_samples(learner, task)))?;
    let share = || Tensors { images: images.share(), asked: asked.shallow_clone(), views: views.shallow_clone() };
    let largest = tables.iter().map(Vec::len).max().unwrap_or(0);
    trainer.in_groups(PHASE, tables, &share, &|range, tensors| {
        Group { learner, trainer, tables: &tables[range.clone()], range, largest }.answers(&tensors)
    })
}

/// Random views of the attacked samples, [A · V, F], the same for all models.
fn views_of_samples(learner: &dyn Learner, Task { trainer, images, queries, .. }: &Task<'_>) -> Tensor {
    let attacked = images.inputs.narrow(0, queries.fixed as i64, queries.attacked as i64);
    let stream = stream(trainer.seed, Purpose::RandomViews, OF_SAMPLES, 0);
    random_views(&attacked, trainer.shape, learner.plan().views, stream)
}

/// Those of the first samples, [sample, view, channel, row, column].
///
/// # Errors
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
fn shown_views(learner: &dyn Learner, task: &Task<'_>) -> Result<Array5<f32>> {
    let (views, samples) = (learner.plan().views, SHOWN.min(task.queries.attacked));
    let [channels, rows, columns] = task.queries.image;
    let pixels = guarded("views", || numbers(&views_of_samples(learner, task).narrow(0, 0, (samples * views) as i64)))?;
    Array5::from_shape_vec((samples, views, channels, rows, columns), pixels).map_err(unavailable("views"))
}

fn check(learner: &dyn Learner, trainer: &Trainer<'_>, tables: &[Vec<Example>]) -> Result<()> {
    let training = trainer.training;
    if training.augmentation.is_some() || training.early_stopping.is_some() {
        let reason = "encoders learn from their own random views and for a set number of epochs; leave out flips, \
                      shifts and early stopping";
        return reject("defense", reason);
    }
    if trainer.shape[1..].iter().all(|&length| length < 2) {
        return reject("defense", "images of one pixel have no random views");
    }
    learner.check_images(tables.iter().map(Vec::len).min().unwrap_or(0))
}

/// Shadow models that are trained side by side.
struct Group<'a> {
    learner: &'a dyn Learner,
    trainer: Trainer<'a>,
    tables: &'a [Vec<Example>],
    range: Range<usize>,
    /// Images of the shadow model that has most, of all groups.
    largest: usize,
}

impl Group<'_> {
    fn answers(&self, Tensors { images, asked, views }: &Tensors) -> Result<Vec<Answers>> {
        let encoders = self.encoders(images)?;
        let streams = self.trainer.streams(Purpose::ClassifierOrder, PHASE, &self.range);
        let plan = self.learner.plan().classifier;
        let embeddings = logits_of_all(&*encoders, &images.inputs);
        let mut linear = classifiers(plan, &embeddings, &images.targets, self.tables, self.largest, streams);
        check_finite(linear.parameters(), "training")?;
        let rows = |tensor: Tensor| by_network(&tensor).map_err(unavailable("answers"));
        let logits = rows(linear.logits(&logits_of_all(&*encoders, asked)))?;
        let embeddings = rows(logits_of_all(&*encoders, views))?;
        Ok(logits.into_iter().zip(embeddings).map(|(logits, embeddings)| vec![logits, embeddings]).collect())
    }

    /// Encoders that have learned.
    fn encoders(&self, images: &TrainingImages) -> Result<Box<dyn Ensemble>> {
        let Self { learner, trainer, tables, range, largest } = self;
        let streams = |purpose| trainer.streams(purpose, PHASE, range);
        let device = trainer.device.tensors();
        let networks = trainer.network.build(&mut streams(Purpose::Weights), trainer.shape, DIMENSION, device);
        let (mut encoders, mut objective) = learner.start(networks, &mut streams(Purpose::Projection), device);
        let mut views = RandomViews::new(trainer.shape, trainer.streams(Purpose::RandomViews, OF_TRAINING, range));
        let &EncoderPlan { epochs, batch, rate, .. } = learner.plan();
        let mut batches = full_batches(tables, streams(Purpose::Order), batch);
        let (steps, schedule) = (epochs as u64 * (largest / batch) as u64, Schedule::Cosine { rate });
        let rule = Optimizer::Sgd { momentum: 0.9, weight_decay: 5e-4, nesterov: false };
        let mut state = OptimizerState::new(rule, encoders.parameters());
        let shape = [encoders.networks(), batch as i64, -1];
        for step in 0..steps {
            let (inputs, _) = images.rows(&batches.next());
            let [first, second] = [(), ()].map(|()| views.of(&inputs, batch).view(shape));
            let mut gradients = objective.gradients(&mut *encoders, [&first, &second]);
            state.step(encoders.parameters(), &mut gradients, schedule.rate(step, steps));
            objective.stepped(&mut *encoders);
        }
        check_finite(encoders.parameters(), "training")?;
        Ok(encoders)
    }
}

/// Batches without repeated images, because an image would be told apart from itself.
fn full_batches(tables: &[Vec<Example>], streams: Vec<ChaCha8Rng>, size: usize) -> Batches {
    let mut batches = Batches::new(tables.to_vec(), streams, size);
    batches.whole = true;
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_image_is_in_a_batch_twice() {
        let examples: Vec<Example> = (0..11).map(Example::labeled).collect();
        let mut batches = full_batches(&[examples], vec![stream(1, Purpose::Order, 0, 0)], 5);
        let mut left_out = std::collections::BTreeSet::new();
        for _ in 0..50 {
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..2 {
                seen.extend(batches.next().iter().map(|example| example.image));
            }
            assert_eq!(seen.len(), 10);
            left_out.extend((0..11).filter(|image| !seen.contains(image)));
        }
        // Another image each time: each of 11 is never left out with probability (10/11)^50 = 9e-3.
        assert!(left_out.len() > 7, "{left_out:?}");
    }
}
