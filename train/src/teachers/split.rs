//! Which images belong to which teacher.

use crate::checks::{check_counts, reject};
use crate::seed::{Purpose, sampled, shuffled, stream};
use leakbound::error::Result;
use rand_chacha::ChaCha8Rng;

/// Trainings that must not share random numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Pate = 1,
    Capc = 2,
    PateNatural = 3,
    PatePoisoned = 4,
    CapcNatural = 5,
    CapcPoisoned = 6,
    PateOther = 7,
}

/// Which split of the images.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Split {
    /// Of an instantiation.
    Pate(u64),
    Capc,
    Queries,
    Adversary,
}

impl Split {
    fn number(self) -> u64 {
        match self {
            Self::Queries => 0,
            Self::Adversary => 1,
            Self::Capc => 2,
            Self::Pate(instantiation) => 16 + instantiation,
        }
    }

    pub fn stream(self, seed: u64) -> ChaCha8Rng {
        stream(seed, Purpose::Split, self.number(), 0)
    }
}

/// Images of each teacher: the requested number, or the most that suffice for all.
pub(crate) fn images_each(teachers: usize, images: Option<usize>, available: usize) -> Result<usize> {
    let images = images.unwrap_or(available / teachers.max(1));
    check_counts([("teachers", teachers), ("images of a teacher", images)])?;
    match images.checked_mul(teachers) {
        Some(needed) if needed <= available => Ok(images),
        _ => {
            let reason =
                format!("{teachers} teachers with {images} images each need more than the {available} there are");
            reject("teachers", reason)
        }
    }
}

/// Images of each teacher, none of them in two hands.
pub(crate) fn partition(images: usize, (teachers, each): (usize, usize), seed: u64, split: Split) -> Vec<Vec<u32>> {
    shuffled(images, split.stream(seed)).chunks_exact(each).take(teachers).map(<[u32]>::to_vec).collect()
}

/// This many different images at random.
pub(super) fn some_images(
    images: usize,
    count: usize,
    seed: u64,
    phase: Phase,
    (query, number): (usize, usize),
) -> Vec<u32> {
    let instantiation = (1 << 32) + ((phase as u64) << 33) + query as u64;
    sampled(images, count, &mut stream(seed, Purpose::Split, instantiation, number as u64))
}
