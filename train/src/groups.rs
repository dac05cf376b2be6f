//! Many networks, trained a group at a time: a group on each thread of a CPU, all of them together on a GPU.

use super::augment::Augmenter;
use super::checkpoint::{Dependence, TrainingCheckpoint, kept_or_made};
use super::checks::unavailable;
use super::device::TrainingDevice;
use super::ensemble::{Ensemble, Loss, check_finite};
use super::guard::{TrainingProgress, guarded, report};
use super::network::NetworkPlan;
use super::seed::{Purpose, streams};
use super::train::{Lesson, TrainingPlan, train};
use super::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::Range;
use tch::{TchError, Tensor};

/// Networks trained side by side on a GPU at most.
const GPU_GROUP: usize = 512;

/// What a trained group answers, one value for each network: it gets the group, its place among the networks and the
/// images queried on.
pub(super) type Question<'a, T> =
    dyn Fn(&mut dyn Ensemble, Range<usize>, &Tensor) -> std::result::Result<Vec<T>, TchError> + Sync + 'a;

/// What is done with a group of networks: its place among the networks, and its own tensors.
pub(super) type Work<'a, S, T> = dyn Fn(Range<usize>, S) -> Result<Vec<T>> + Sync + 'a;

/// How the networks of a recipe are trained.
#[derive(Clone, Copy)]
pub(super) struct Trainer<'a> {
    /// The network.
    pub network: NetworkPlan,
    /// Its training.
    pub training: &'a TrainingPlan,
    /// What its training descends.
    pub loss: &'a dyn Loss,
    /// \[channels, rows, columns\] of an image.
    pub shape: [usize; 3],
    /// C.
    pub classes: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Where.
    pub device: TrainingDevice,
    /// Progress callback, in networks.
    pub progress: &'a TrainingProgress<'a>,
    /// Where the answers of groups are kept.
    pub checkpoint: Option<&'a TrainingCheckpoint>,
    /// What else the answers depend on.
    pub dependence: Dependence,
}

impl Trainer<'_> {
    /// Trains network n on the examples of `tables[n]`, and asks each group of networks about images `asked`.
    ///
    /// Networks of different `phase` share no random numbers, and a checkpoint knows them by it: a recipe trains each
    /// phase once.
    ///
    /// # Errors
    /// Those of [`in_groups`](Self::in_groups), and [`Error::Rejected`](leakbound::Error::Rejected) if training diverges.
    pub fn train_and_ask<T: Send + Serialize + DeserializeOwned>(
        &self,
        phase: u64,
        images: &TrainingImages,
        tables: &[Vec<Example>],
        asked: &Tensor,
        ask: &Question<'_, T>,
    ) -> Result<Vec<T>> {
        let steps = self.training.steps(tables.iter().map(Vec::len).max().unwrap_or(0));
        let share = || (images.share(), asked.shallow_clone());
        self.in_groups(phase, tables, &share, &|range, (images, asked)| {
            let streams = |purpose| self.streams(purpose, phase, &range);
            let device = self.device.tensors();
            let mut networks = self.network.build(&mut streams(Purpose::Weights), self.shape, self.classes, device);
            let augmenter = Augmenter::new(self.training.augmentation, self.shape, streams(Purpose::Augmentation));
            let tables = &tables[range.clone()];
            let lesson = Lesson { images: &images, tables, plan: self.training, steps, loss: self.loss };
            train(&mut *networks, &lesson, streams(Purpose::Order), augmenter);
            check_finite(networks.parameters(), "training")?;
            ask(&mut *networks, range, &asked).map_err(unavailable("answers"))
        })
    }

    /// The streams of a group's networks.
    pub fn streams(&self, purpose: Purpose, phase: u64, group: &Range<usize>) -> Vec<ChaCha8Rng> {
        streams(self.seed, purpose, phase, group.clone())
    }

    /// Work on each group of networks, where network n has the examples of `tables[n]`: it gets the place of the group
    /// and its own tensors, and gives an answer for each network. Answers in the checkpoint are not computed again.
    ///
    /// # Errors
    /// Those of the work; [`Error::Domain`](leakbound::Error::Domain) or [`Error::Rejected`](leakbound::Error::Rejected) if
    /// there is too little to learn from or the images are too small for the network,
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
    pub fn in_groups<S: Send, T: Send + Serialize + DeserializeOwned>(
        &self,
        phase: u64,
        tables: &[Vec<Example>],
        share: &dyn Fn() -> S,
        work: &Work<'_, S, T>,
    ) -> Result<Vec<T>> {
        self.network.check_images(self.shape)?;
        self.training.check(tables.iter().map(Vec::len).min().unwrap_or(usize::MAX))?;
        let fastest = if self.device.is_cuda() { GPU_GROUP } else { self.network.group() };
        let size = self.training.side_by_side.unwrap_or(fastest);
        let kept = self.dependence.phase(phase);
        let group = |(start, tensors): (usize, S)| {
            let range = start..tables.len().min(start + size);
            let answers =
                kept_or_made(self.checkpoint, kept, &range, || guarded("training", || work(range.clone(), tensors)))?;
            report(self.progress, range.len() as u64)?;
            Ok(answers)
        };
        let groups = (0..tables.len()).step_by(size).map(|start| (start, share()));
        Ok(self.device.each(groups.collect(), group)?.into_iter().flatten().collect())
    }
}
