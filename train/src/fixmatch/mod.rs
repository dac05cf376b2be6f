//! FixMatch: networks that learn from few labels and from images without labels.

mod plan;

pub use plan::{FixMatchPlan, Unlabeled};

use super::augment::{Augmentation, Augmenter};
use super::checks::unavailable;
use super::ensemble::{Ensemble, check_finite};
use super::groups::Trainer;
use super::guard::report;
use super::moving_average::MovingAverage;
use super::optimizer::OptimizerState;
use super::rand_augment::RandAugment;
use super::seed::Purpose;
use super::train::Batches;
use super::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use tch::{Device, Kind, TchError, Tensor};

/// What a trained group answers, one value for each network: it gets the group, its place among the networks, and its
/// own tensors.
pub(super) type Question<'a, S, T> =
    dyn Fn(&mut dyn Ensemble, Range<usize>, &S) -> std::result::Result<Vec<T>, TchError> + Sync + 'a;

/// FixMatch for many networks.
pub(super) struct FixMatch<'a> {
    /// How groups are trained, by [`FixMatchPlan::training`].
    pub trainer: Trainer<'a>,
    pub plan: &'a FixMatchPlan,
    /// The images that are learned from without labels, \[image, channel, row, column\]: those of the training images.
    pub pixels: &'a [u8],
}

impl FixMatch<'_> {
    /// Trains network n on the examples of `tables[n]`, and on all images without their labels, and asks each group of
    /// networks with averaged parameters; phases are those of [`Trainer::train_and_ask`].
    ///
    /// A step takes B labeled images and μB others, weakly augmented. The networks label the latter without a gradient
    /// and as they are in training, so that running statistics see them; then one pass with a gradient sees the labeled
    /// images and strongly augmented versions of the others.
    ///
    /// # Errors
    /// Those of [`Trainer::in_groups`] and [`FixMatchPlan::check`]; [`Error::Rejected`](leakbound::Error::Rejected) if
    /// training diverges.
    ///
    /// # References
    /// Sohn et al. (2020), "FixMatch: Simplifying semi-supervised learning with consistency and confidence", Algorithm 1.
    pub fn train_and_ask<S: Send, T: Send + Serialize + DeserializeOwned>(
        &self,
        phase: u64,
        images: &TrainingImages,
        tables: &[Vec<Example>],
        share: &dyn Fn() -> S,
        ask: &Question<'_, S, T>,
    ) -> Result<Vec<T>> {
        self.plan.check(self.trainer.shape)?;
        let trainer = &self.trainer;
        let share = || (images.share(), share());
        trainer.in_groups(phase, tables, &share, &|group, (images, asked)| {
            let mut weights = trainer.streams(Purpose::Weights, phase, &group);
            let device = trainer.device.tensors();
            let networks = trainer.network.build(&mut weights, trainer.shape, trainer.classes, device);
            let mut networks = self.train(networks, (phase, &group), &images, &tables[group.clone()])?;
            check_finite(networks.parameters(), "training")?;
            ask(&mut *networks, group, &asked).map_err(unavailable("answers"))
        })
    }

    /// The networks with averaged parameters.
    fn train(
        &self,
        mut networks: Box<dyn Ensemble>,
        (phase, group): (u64, &Range<usize>),
        images: &TrainingImages,
        tables: &[Vec<Example>],
    ) -> Result<Box<dyn Ensemble>> {
        let &FixMatch { ref trainer, plan, pixels } = self;
        let streams = |purpose| trainer.streams(purpose, phase, group);
        let mut batches = Batches::new(tables.to_vec(), streams(Purpose::Order), plan.batch);
        let mut augmenter = Augmenter::new(plan.augmentation, trainer.shape, streams(Purpose::Augmentation));
        let mut unlabeled = plan.unlabeled.map(|part| {
            let batch = part.ratio * plan.batch;
            (part, UnlabeledViews::new(trainer, (phase, group), plan.augmentation, batch, pixels))
        });
        let mut state = OptimizerState::new(trainer.training.optimizer, networks.parameters());
        let mut average = MovingAverage::new(&*networks, plan.average);
        let shape = [tables.len() as i64, plan.batch as i64, -1];
        for step in 0..plan.steps {
            let (inputs, targets) = images.rows(&batches.next());
            let (labeled, targets) = (augmenter.vary(inputs, plan.batch).view(shape), targets.view(shape));
            let mut gradients = match &mut unlabeled {
                None => networks.gradients(&labeled, &targets),
                Some((part, views)) => {
                    let [weak, strong] = views.next(images);
                    let pseudo = PseudoLabels::of(&networks.learning_logits(&weak), part.confidence);
                    let inputs = Tensor::cat(&[labeled, strong], 1);
                    networks.gradients_of(&inputs, &|logits| loss(logits, &targets, &pseudo, *part))
                }
            };
            let rate = trainer.training.schedule.rate(step, plan.steps);
            state.step(networks.parameters(), &mut gradients, rate);
            average.follow(&mut *networks);
            // Nothing is done, but the work may be interrupted.
            report(trainer.progress, 0)?;
        }
        Ok(average.into_network())
    }
}

/// What networks predict for weakly augmented images without labels.
struct PseudoLabels {
    /// The likeliest class, [M, μB, 1].
    classes: Tensor,
    /// 1 where its probability is at least τ and 0 elsewhere, [M, μB].
    mask: Tensor,
}

impl PseudoLabels {
    /// From logits [M, μB, C].
    pub fn of(logits: &Tensor, confidence: f64) -> Self {
        let (largest, classes) = logits.softmax(-1, Kind::Float).max_dim(-1, true);
        Self { classes, mask: largest.squeeze_dim(-1).ge(confidence).to_kind(Kind::Float) }
    }
}

/// Σ_m [mean_b CE(labeled) + λ/(μB) Σ_b 1(max q_b ≥ τ) CE(strong, argmax q_b)], a sum over the networks, for the logits
/// [M, B + μB, C] of labeled images, then of strongly augmented ones; targets [M, B, C] are probabilities. The pseudo-
/// labels have no gradient.
///
/// # References
/// Sohn et al. (2020), (3) and (4).
fn loss(logits: &Tensor, targets: &Tensor, pseudo: &PseudoLabels, unlabeled: Unlabeled) -> Tensor {
    let (labeled, strong) = (targets.size()[1], pseudo.mask.size()[1]);
    let logs = logits.log_softmax(-1, Kind::Float);
    let supervised = (logs.narrow(1, 0, labeled) * targets).sum(Kind::Float) / labeled as f64;
    let at_pseudo_labels = logs.narrow(1, labeled, strong).gather(-1, &pseudo.classes, false).squeeze_dim(-1);
    let unsupervised = (at_pseudo_labels * &pseudo.mask).sum(Kind::Float) / strong as f64;
    -(supervised + unsupervised * unlabeled.weight)
}

/// Images of all networks of a group without their labels, in an order of each network's own: every batch twice, weakly
/// and strongly augmented.
struct UnlabeledViews<'a> {
    batches: Batches,
    /// Networks, and images of each in a batch.
    shape: [usize; 2],
    weak: Augmenter,
    strong: RandAugment,
    /// \[image, channel, row, column\].
    pixels: &'a [u8],
    device: Device,
}

impl<'a> UnlabeledViews<'a> {
    /// Batches of the given size of the images of `pixels` for the networks `group` of a phase.
    pub fn new(
        trainer: &Trainer<'_>,
        (phase, group): (u64, &Range<usize>),
        augmentation: Option<Augmentation>,
        batch: usize,
        pixels: &'a [u8],
    ) -> Self {
        let streams = |purpose| trainer.streams(purpose, phase, group);
        let images = pixels.len() / trainer.shape.iter().product::<usize>().max(1);
        let all: Vec<Example> = (0..images as u32).map(Example::labeled).collect();
        Self {
            batches: Batches::new(vec![all; group.len()], streams(Purpose::UnlabeledOrder), batch),
            shape: [group.len(), batch],
            weak: Augmenter::new(augmentation, trainer.shape, streams(Purpose::WeakViews)),
            strong: RandAugment::new(augmentation, trainer.shape, streams(Purpose::StrongViews)),
            pixels,
            device: trainer.device.tensors(),
        }
    }

    /// The next batch of each network, [M, μB, F], weakly and strongly augmented.
    pub fn next(&mut self, images: &TrainingImages) -> [Tensor; 2] {
        let numbers: Vec<u32> = self.batches.next().iter().map(|example| example.image).collect();
        let [networks, batch] = self.shape;
        let weak = self.weak.vary(rows_of(&images.inputs, numbers.iter().copied()), batch);
        let strong = self.strong.views(self.pixels, &numbers, self.device);
        [weak, strong].map(|views| views.view([networks as i64, batch as i64, -1]))
    }
}

#[cfg(test)]
mod tests;
