//! FixMatch: networks that learn from few labels and from images without labels.

mod loss;
mod plan;
mod views;

pub use plan::{FixMatchPlan, Unlabeled};

use super::augment::Augmenter;
use super::checks::unavailable;
use super::ensemble::{Ensemble, check_finite};
use super::groups::Trainer;
use super::moving_average::MovingAverage;
use super::optimizer::OptimizerState;
use super::progress::report;
use super::seed::Purpose;
use super::train::Batches;
use super::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use loss::{PseudoLabels, loss};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use tch::{TchError, Tensor};
use views::UnlabeledViews;

/// What a trained group answers, one value for each network: it gets the group, its place among the networks, and tensors
/// of its own.
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

#[cfg(test)]
mod tests;
