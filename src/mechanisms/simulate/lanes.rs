//! Random words in bulk: eight generators side by side, in a form that compilers vectorize.

use super::lane_words::{LANES, Words};
use super::stream::Stream;
#[cfg(target_arch = "x86_64")]
use super::wide_lanes::{WideHalves, WideWords};
#[cfg(target_arch = "x86_64")]
use crate::vectorized::avx2;
use crate::vectorized::{Arch, in_vectors};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Eight xoshiro256++ generators; word i of the sequence comes from generator i mod 8.
///
/// Four words of a [`Stream`] are the key of ChaCha8 with nonce and counter 0. Its first 256 bytes, as little-endian
/// words, are the states: the eight first words of a state, then the eight second words, and so on.
pub(super) struct Lanes {
    pub(super) arch: Arch,
    state: [Words; 4],
}

impl Lanes {
    pub(super) fn new(stream: &mut Stream) -> Self {
        let mut key = [0; 32];
        stream.fill_bytes(&mut key);
        let mut chacha = ChaCha8Rng::from_seed(key);
        let mut state = [[0; LANES]; 4];
        state.iter_mut().flatten().for_each(|word| *word = chacha.next_u64());
        // A generator does not leave a state of zeros, which has probability 2^-256.
        for lane in 0..LANES {
            if state.iter().all(|words| words[lane] == 0) {
                state[0][lane] = 1;
            }
        }
        Self { arch: Arch::new(), state }
    }

    /// Words for `words`, whose length must be a multiple of [`LANES`].
    pub(super) fn fill(&mut self, words: &mut [u64]) {
        let (chunks, rest) = words.as_chunks_mut::<LANES>();
        debug_assert!(rest.is_empty());
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = avx2(self.arch) {
            self.state = simd.vectorize(WideWords { simd, state: &self.state, chunks });
            return;
        }
        self.state = in_vectors!(self.arch, {
            let mut state = self.state;
            for chunk in chunks {
                *chunk = step(&mut state);
            }
            state
        });
    }

    /// Half words for `halves`, whose length must be a multiple of 2 · [`LANES`]: of each eight words first the low
    /// halves, then the high ones.
    pub(super) fn fill_halves(&mut self, halves: &mut [u32]) {
        let (chunks, rest) = halves.as_chunks_mut::<{ 2 * LANES }>();
        debug_assert!(rest.is_empty());
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = avx2(self.arch) {
            self.state = simd.vectorize(WideHalves { simd, state: &self.state, chunks });
            return;
        }
        self.state = in_vectors!(self.arch, {
            let mut state = self.state;
            for chunk in chunks {
                let words = step(&mut state);
                let (low, high) = chunk.split_at_mut(LANES);
                for lane in 0..LANES {
                    low[lane] = words[lane] as u32;
                    high[lane] = (words[lane] >> 32) as u32;
                }
            }
            state
        });
    }
}

/// The next word of every generator. Compilers vectorize one operation on all of them at a time.
#[inline(always)]
fn step([a, b, c, d]: &mut [Words; 4]) -> Words {
    let words = both(both(*a, *d, u64::wrapping_add).map(|word| word.rotate_left(23)), *a, u64::wrapping_add);
    let shifted = b.map(|word| word << 17);
    let xor = |a: u64, b: u64| a ^ b;
    *c = both(*c, *a, xor);
    *d = both(*d, *b, xor);
    *b = both(*b, *c, xor);
    *a = both(*a, *d, xor);
    *c = both(*c, shifted, xor);
    *d = d.map(|word| word.rotate_left(45));
    words
}

#[inline(always)]
fn both(left: Words, right: Words, operation: impl Fn(u64, u64) -> u64) -> Words {
    std::array::from_fn(|lane| operation(left[lane], right[lane]))
}

#[cfg(test)]
mod tests {
    use super::super::stream::{StreamId, World};
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn every_lane_is_a_generator_of_its_own() {
        for arch in [Arch::new(), Arch::Scalar] {
            every_lane(arch);
        }
    }

    fn every_lane(arch: Arch) {
        let mut stream = Stream::new(StreamId { seed: 3, query: 1, world: World::Neighbor, block: 4 });
        let mut key = [0; 32];
        stream.clone().fill_bytes(&mut key);
        let mut chacha = ChaCha8Rng::from_seed(key);
        let mut bytes = [0u8; 256];
        chacha.fill_bytes(&mut bytes);
        let mut lanes = Lanes { arch, ..Lanes::new(&mut stream) };
        let (mut words, mut halves) = ([0; 5 * LANES], [0; 4 * LANES]);
        lanes.fill(&mut words);
        lanes.fill_halves(&mut halves);
        for lane in 0..LANES {
            let mut seed = [0; 32];
            for (part, target) in seed.chunks_exact_mut(8).enumerate() {
                target.copy_from_slice(&bytes[64 * part + 8 * lane..][..8]);
            }
            let mut generator = Xoshiro256PlusPlus::from_seed(seed);
            for step in 0..5 {
                assert_eq!(words[LANES * step + lane], generator.next_u64());
            }
            for step in 0..2 {
                let word = generator.next_u64();
                assert_eq!(halves[2 * LANES * step + lane], word as u32);
                assert_eq!(halves[2 * LANES * step + LANES + lane], (word >> 32) as u32);
            }
        }
    }
}
