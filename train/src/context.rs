//! What every recipe trains with.

use super::checkpoint::{Dependence, TrainingCheckpoint};
use super::checks::reject;
use super::device::TrainingDevice;
use super::ensemble::CrossEntropy;
use super::groups::Trainer;
use super::guard::TrainingProgress;
use super::network::NetworkPlan;
use super::train::TrainingPlan;
use leakbound::error::{Error, Result};
use leakbound::record::ImageSet;

/// The images and the device that a recipe trains with, its progress callback, and its checkpoint.
#[derive(Clone, Copy)]
pub struct TrainingContext<'a> {
    /// Training images.
    pub train: &'a ImageSet,
    /// Test images, of the same shape.
    pub test: &'a ImageSet,
    /// Where networks are trained.
    pub device: TrainingDevice,
    /// Progress callback.
    pub progress: &'a TrainingProgress<'a>,
    /// Where answers of trained networks are kept, and read from when a recipe is resumed.
    pub checkpoint: Option<&'a TrainingCheckpoint>,
}

impl<'a> TrainingContext<'a> {
    /// C, the classes of training and test images together.
    pub(super) fn classes(&self) -> usize {
        self.train.classes.max(self.test.classes)
    }

    /// # Errors
    /// [`Error::Length`] if training and test images differ in shape.
    pub(super) fn check_shapes(&self) -> Result<()> {
        let (train, test) = (self.train.shape(), self.test.shape());
        if train != test {
            let expected = format!("that of the training images, {train:?}");
            return Err(Error::Length { quantity: "shape of test images", found: test.iter().product(), expected });
        }
        Ok(())
    }

    /// # Errors
    /// [`Error::Rejected`] for a single class, because then no label is wrong.
    pub(super) fn check_wrong_labels(&self) -> Result<()> {
        if self.classes() < 2 { reject("canaries", "one class has no wrong label") } else { Ok(()) }
    }

    /// Networks of one shape, trained with this context by cross-entropy.
    pub(super) fn trainer(&self, network: NetworkPlan, training: &'a TrainingPlan, seed: u64) -> Trainer<'a> {
        let &Self { train, device, progress, checkpoint, .. } = self;
        let (shape, classes) = (train.shape(), self.classes());
        let loss = &CrossEntropy;
        let dependence = Dependence::default();
        Trainer { network, training, loss, shape, classes, seed, device, progress, checkpoint, dependence }
    }
}
