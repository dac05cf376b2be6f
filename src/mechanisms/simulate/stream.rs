//! Random streams: one for each block of samples.

use rand::rand_core::Infallible;
use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One of the two neighboring datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// The dataset S.
    Dataset,
    /// Its neighbor S'.
    Neighbor,
}

impl World {
    /// Both, the dataset first.
    pub const ALL: [Self; 2] = [Self::Dataset, Self::Neighbor];

    /// 0 for the dataset, 1 for its neighbor.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Dataset => 0,
            Self::Neighbor => 1,
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Dataset => "dataset",
            Self::Neighbor => "neighbor",
        })
    }
}

/// The identity of a stream: streams with different identities are independent for all practical purposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StreamId {
    /// The seed chosen by the user.
    pub seed: u64,
    /// The query, counted from 0.
    pub query: u64,
    /// The world.
    pub world: World,
    /// The block of samples, counted from 0.
    pub block: u64,
}

/// A stream of random bits, the same on every platform: a [`rand::Rng`].
///
/// The four numbers of a [`StreamId`] (seed, query, world as 0 or 1, block), written as little-endian 64-bit words,
/// are the key of ChaCha8 with nonce and counter 0; its first 32 output bytes are, as little-endian words, the state of
/// xoshiro256++, which generates the stream. Different keys give unrelated states, so no stream is reached from another
/// by a jump: the probability that two of n streams overlap within 2^64 draws each is below n² 2^-191. A state of
/// zeros, which has probability 2^-256 and from which xoshiro256++ would not move, is replaced.
///
/// It is meant for simulation, not for secrets: the noise of a deployed mechanism needs a cryptographic generator.
///
/// # Example
/// ```
/// use leakbound::simulate::{Stream, StreamId, World};
/// use rand::Rng;
///
/// let mut stream = Stream::new(StreamId { seed: 0, query: 0, world: World::Dataset, block: 0 });
/// assert_eq!(stream.next_u64(), 0x929c_c796_db69_2da6);
/// ```
///
/// # References
/// Bernstein (2008), "ChaCha, a variant of Salsa20"; Blackman and Vigna (2021), "Scrambled linear pseudorandom number
/// generators".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream with this identity, at its beginning.
    #[must_use]
    pub fn new(id: StreamId) -> Self {
        let mut key = [0; 32];
        let words = [id.seed, id.query, id.world.index() as u64, id.block];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let mut state = [0; 32];
        ChaCha8Rng::from_seed(key).fill_bytes(&mut state);
        Self(Xoshiro256PlusPlus::from_seed(state))
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use World::{Dataset, Neighbor};
    use std::collections::HashSet;

    fn first<const N: usize>(seed: u64, query: u64, world: World, block: u64) -> [u64; N] {
        let mut stream = Stream::new(StreamId { seed, query, world, block });
        std::array::from_fn(|_| stream.next_u64())
    }

    /// Values of `validation/reference/scripts/random_streams.py`, which shares no code with this crate or its
    /// dependencies.
    #[test]
    fn streams_are_those_of_another_implementation() {
        assert_eq!(first(0, 0, Dataset, 0), [0x929c_c796_db69_2da6, 0x229e_919f_81ff_4668, 0xc21f_509e_f875_7e33]);
        assert_eq!(first(0, 0, Neighbor, 0), [0x5cbf_35ce_f1d8_57bf, 0x80c2_d846_c478_9265, 0xdc8f_b027_2043_6f45]);
        assert_eq!(first(1, 2, Neighbor, 3), [0x0fad_6af8_912f_66cb, 0xa208_82de_4a9a_acc4, 0x0f37_f317_f6d3_4d51]);
        assert_eq!(
            first(u64::MAX, u64::MAX, Neighbor, u64::MAX),
            [0x109f_d093_ea2b_7be9, 0xb100_b8ca_e0ce_a7c5, 0xe5d9_bd37_01f6_f460]
        );
    }

    #[test]
    fn every_part_of_the_identity_matters() {
        let mut seen = HashSet::new();
        for a in [0, 1, 2, 1 << 32, u64::MAX] {
            for b in [0, 1, 2, 1 << 32, u64::MAX] {
                for c in [0, 1, 2, 1 << 32, u64::MAX] {
                    for world in World::ALL {
                        assert!(seen.insert(first::<1>(a, b, world, c)), "{a} {b} {world} {c}");
                    }
                }
            }
        }
    }
}
