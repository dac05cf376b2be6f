//! Random words of a batch: half of each immediately, and the rest where it is needed.

use super::lanes::Lanes;
use super::stream::Stream;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// Words that complete draws: those of SplitMix64 (Steele, Lea and Flood 2014) at separate places, from a random start.
///
/// The draws are a function of the stream alone, whichever of these words are generated: an approximation may leave
/// more or fewer draws open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rest(u64);

impl Rest {
    /// From a word of the stream.
    pub(super) fn new(stream: &mut Stream) -> Self {
        Self(stream.next_u64())
    }

    /// The word of a place.
    pub(super) fn word(self, place: usize) -> u64 {
        // The increment of the generator from word to word.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        SplitMix64::seed_from_u64(self.0.wrapping_add((place as u64).wrapping_mul(STEP))).next_u64()
    }

    /// The half word of a place.
    pub(super) fn half(self, place: usize) -> u32 {
        (self.word(place) >> 32) as u32
    }
}

/// A word for each sample of a batch.
pub(super) struct Halves {
    /// Their source.
    pub(super) lanes: Lanes,
    first: Vec<u32>,
    rest: Rest,
}

impl Halves {
    /// For batches of this many samples, a multiple of 16; no word is drawn yet.
    pub(super) fn new(stream: &mut Stream, batch: usize) -> Self {
        Self { lanes: Lanes::new(stream), first: vec![0; batch], rest: Rest(0) }
    }

    /// Draws words: their first halves, and one word of the stream for the rest.
    pub(super) fn renew(&mut self, stream: &mut Stream) {
        self.lanes.fill_halves(&mut self.first);
        self.rest = Rest::new(stream);
    }

    /// Number of samples in the batch.
    pub(super) const fn len(&self) -> usize {
        self.first.len()
    }

    /// The first half of each word.
    pub(super) fn first(&self) -> &[u32] {
        &self.first
    }

    /// The words that complete them, by the number of the sample.
    pub(super) const fn rest(&self) -> Rest {
        self.rest
    }
}
