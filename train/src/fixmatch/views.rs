//! Batches of images without labels.

use crate::augment::{Augmentation, Augmenter};
use crate::groups::Trainer;
use crate::rand_augment::RandAugment;
use crate::seed::Purpose;
use crate::train::Batches;
use crate::training_images::{Example, TrainingImages, rows_of};
use std::ops::Range;
use tch::{Device, Tensor};

/// Images of all networks of a group without their labels, in an order of each network's own: every batch twice, weakly
/// and strongly augmented.
pub(super) struct UnlabeledViews<'a> {
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
    /// Batches of so many of the images of `pixels` for the networks `group` of a phase.
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
