//! Which images belong to which teacher.

use crate::seed::{Purpose, stream};
use leakbound::error::{Error, Result};
use rand::seq::SliceRandom;

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
    pub fn number(self) -> u64 {
        match self {
            Self::Queries => 0,
            Self::Adversary => 1,
            Self::Capc => 2,
            Self::Pate(instantiation) => 16 + instantiation,
        }
    }

    /// 0..n in random order.
    pub fn order(self, n: usize, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.shuffle(&mut stream(seed, Purpose::Split, self.number(), 0));
        order
    }
}

/// Images of each teacher: so many as were requested, or as many as there are for all.
pub(crate) fn images_each(teachers: usize, images: Option<usize>, available: usize) -> Result<usize> {
    let images = images.unwrap_or(available / teachers.max(1));
    if let Some((quantity, _)) =
        [("teachers", teachers), ("images of a teacher", images)].into_iter().find(|&(_, count)| count == 0)
    {
        return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
    }
    match images.checked_mul(teachers) {
        Some(needed) if needed <= available => Ok(images),
        _ => Err(Error::Rejected {
            operation: "teachers",
            reason: format!("{teachers} teachers with {images} images each need more than the {available} there are"),
        }),
    }
}

/// Images of each teacher, none of them in two hands.
pub(crate) fn partition(images: usize, (teachers, each): (usize, usize), seed: u64, split: Split) -> Vec<Vec<u32>> {
    split.order(images, seed).chunks_exact(each).take(teachers).map(<[u32]>::to_vec).collect()
}

/// So many different images at random.
pub(super) fn some_images(
    images: usize,
    count: usize,
    seed: u64,
    phase: Phase,
    (query, number): (usize, usize),
) -> Vec<u32> {
    let mut stream = stream(seed, Purpose::Split, (1 << 32) + ((phase as u64) << 33) + query as u64, number as u64);
    rand::seq::index::sample(&mut stream, images, count).into_iter().map(|image| image as u32).collect()
}
