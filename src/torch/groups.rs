//! Many networks, trained a group at a time: a group on each thread of a CPU, all of them at once on a GPU.

use super::augment::Augmenter;
use super::device::TrainingDevice;
use super::ensemble::Ensemble;
use super::guard::guarded;
use super::network::NetworkPlan;
use super::seed::{Purpose, stream};
use super::train::{Example, TrainingImages, TrainingPlan, train};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::ops::Range;
use tch::{TchError, Tensor};

/// Networks trained side by side on a GPU at most.
const GPU_GROUP: usize = 512;

/// What a trained group answers, one value for each network: it gets the group, its place among the networks and the
/// images asked about.
pub(super) type Question<'a, T> =
    dyn Fn(&mut dyn Ensemble, Range<usize>, &Tensor) -> std::result::Result<Vec<T>, TchError> + Sync + 'a;

/// How the networks of a recipe are trained.
pub(super) struct Trainer<'a> {
    /// The network.
    pub network: NetworkPlan,
    /// Its training.
    pub training: &'a TrainingPlan,
    /// \[channels, rows, columns\] of an image.
    pub shape: [usize; 3],
    /// C.
    pub classes: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Where.
    pub device: TrainingDevice,
    /// Is told how many networks more are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Trainer<'_> {
    /// Trains network n on the examples of `tables[n]`, and asks each group of networks about images `asked`.
    ///
    /// Networks of different `phase` share no random numbers.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if libtorch fails.
    pub fn train_and_ask<T: Send>(
        &self,
        phase: u64,
        images: &TrainingImages,
        tables: &[Vec<Example>],
        asked: &Tensor,
        ask: &Question<'_, T>,
    ) -> Result<Vec<T>> {
        let steps = self.training.steps(tables.iter().map(Vec::len).max().unwrap_or(0));
        let size = if self.device.is_cuda() { GPU_GROUP } else { self.network.group() };
        let group = |start: usize, images: TrainingImages, asked: Tensor| {
            guarded("training", || {
                let range = start..tables.len().min(start + size);
                let streams = |purpose| -> Vec<_> {
                    range.clone().map(|network| stream(self.seed, purpose, phase, network as u64)).collect()
                };
                let device = self.device.tensors();
                let mut networks = self.network.build(&mut streams(Purpose::Weights), self.shape, self.classes, device);
                let tables: Vec<&[Example]> = tables[range.clone()].iter().map(Vec::as_slice).collect();
                let augmenter = self
                    .training
                    .augmentation
                    .map(|augmentation| Augmenter::new(augmentation, self.shape, streams(Purpose::Augmentation)));
                train(&mut *networks, &images, &tables, streams(Purpose::Order), augmenter, self.training, steps);
                let count = range.len() as u64;
                let answers = ask(&mut *networks, range, &asked);
                (self.progress)(count);
                answers.map_err(|error| Error::Unavailable { operation: "answers", reason: error.to_string() })
            })
        };
        // Tensors may go to another thread but not be seen by two.
        let groups: Vec<_> =
            (0..tables.len()).step_by(size).map(|start| (start, images.share(), asked.shallow_clone())).collect();
        let answers: Result<Vec<Vec<T>>> = if self.device.is_cuda() {
            groups.into_iter().map(|(start, images, asked)| group(start, images, asked)).collect()
        } else {
            let group = &group;
            groups.into_par_iter().map(|(start, images, asked)| group(start, images, asked)).collect()
        };
        Ok(answers?.into_iter().flatten().collect())
    }
}
