//! Batches of images without labels.

use crate::augment::{Augmentation, Augmenter};
use crate::groups::Trainer;
use crate::rand_augment::RandAugment;
use crate::seed::Purpose;
use crate::train::Passes;
use crate::training_images::{Example, TrainingImages, rows_of};
use std::ops::Range;
use tch::{Device, Tensor};

/// Images of all networks of a group without their labels, in an order of each network's own: every batch twice, weakly
/// and strongly augmented.
pub(super) struct UnlabeledViews<'a> {
    passes: Vec<Passes>,
    batch: usize,
    weak: Option<Augmenter>,
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
            passes: streams(Purpose::UnlabeledOrder).into_iter().map(|stream| Passes::new(&all, stream)).collect(),
            batch,
            weak: augmentation.map(|weak| Augmenter::new(weak, trainer.shape, streams(Purpose::WeakViews))),
            strong: RandAugment::new(augmentation, trainer.shape, streams(Purpose::StrongViews)),
            pixels,
            device: trainer.device.tensors(),
        }
    }

    /// The next batch of each network, [M, μB, F], weakly and strongly augmented.
    pub fn next(&mut self, images: &TrainingImages) -> [Tensor; 2] {
        let mut batch = Vec::with_capacity(self.passes.len() * self.batch);
        for passes in &mut self.passes {
            passes.extend(&mut batch, self.batch);
        }
        let numbers: Vec<u32> = batch.iter().map(|example| example.image).collect();
        let inputs = rows_of(&images.inputs, numbers.iter().copied());
        let weak = match &mut self.weak {
            Some(weak) => weak.vary(&inputs, self.batch),
            None => inputs,
        };
        let strong = self.strong.views(self.pixels, &numbers, self.device);
        let shape = [self.passes.len() as i64, self.batch as i64, -1];
        [weak, strong].map(|views| views.view(shape))
    }
}
