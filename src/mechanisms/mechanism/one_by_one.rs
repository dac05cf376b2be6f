//! Samplers that draw one output after the other.

use crate::simulate::{Sampler, Stream, World};

struct OneByOne<D> {
    outcomes: usize,
    draw: D,
}

/// A sampler over this many outcomes; `draw` gives the next one.
pub(super) fn one_by_one(
    outcomes: usize,
    draw: impl Fn(World, &mut Stream) -> usize + Sync + 'static,
) -> Box<dyn Sampler> {
    Box::new(OneByOne { outcomes, draw })
}

impl<D: Fn(World, &mut Stream) -> usize + Sync> Sampler for OneByOne<D> {
    fn outcomes(&self) -> usize {
        self.outcomes
    }

    fn sample_block(&self, world: World, stream: &mut Stream, samples: u64, counts: &mut [u64]) {
        for _ in 0..samples {
            counts[(self.draw)(world, stream)] += 1;
        }
    }
}
