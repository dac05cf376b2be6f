//! Random quarters of private images and of others.

use crate::error::{Error, Result};
use ndarray::Array2;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Parts of the samples.
pub(super) const PARTS: usize = 4;

/// Four random quarters of members and of others, of the same sizes.
pub(super) struct Quarters {
    /// The images of members and of others in random order.
    order: [Vec<usize>; 2],
    /// Members and others of a quarter.
    sizes: [usize; 2],
}

impl Quarters {
    pub fn new(images: [usize; 2], seed: u64) -> Result<Self> {
        let sizes = images.map(|images| images / PARTS);
        if let Some(&found) = images.iter().find(|&&images| images < 2 * PARTS) {
            return Err(Error::length("images of a kind", found, "at least 8"));
        }
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let order = images.map(|images| {
            let mut order: Vec<usize> = (0..images).collect();
            order.shuffle(&mut stream);
            order
        });
        Ok(Self { order, sizes })
    }

    pub const fn samples(&self) -> usize {
        self.sizes[0] + self.sizes[1]
    }

    /// Kind and number of a sample of a quarter: members first.
    pub fn image(&self, part: usize, sample: usize) -> (usize, usize) {
        let kind = usize::from(sample >= self.sizes[0]);
        let place = sample - kind * self.sizes[0];
        (kind, self.order[kind][part * self.sizes[kind] + place])
    }

    pub fn members(&self) -> Array2<bool> {
        Array2::from_shape_fn((PARTS, self.samples()), |(_, sample)| sample < self.sizes[0])
    }
}
