//! The size of a simulation, and its blocks.

use super::stream::{Stream, StreamId, World};
use crate::counts::MAX_COUNT;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Samples in a block, which share a random stream. The last block of a simulation may have fewer.
pub const BLOCK_SAMPLES: u64 = 65_536;

/// The version of everything that determines the numbers drawn for a (seed, query, world, block). It increases with
/// every value-breaking release, so that files of two versions are not added up.
pub const SAMPLER_VERSION: u32 = 4;

/// The size and the seed of a simulation.
///
/// The samples of each world are cut into blocks of [`BLOCK_SAMPLES`]; each block has the random stream of its
/// [`StreamId`], independently of anything else that is simulated. A release that changes a number drawn for the same
/// (seed, query, world, block), through the streams, the samplers, the order of their draws or the size of a block, is
/// *value-breaking*: its changelog uses this word, because published counts can no longer be repeated, and
/// [`SAMPLER_VERSION`] increases.
///
/// # Example
/// ```
/// # use leakbound::simulate::Simulation;
/// let simulation = Simulation::new(100_000)?.seed(7).query(2);
/// assert_eq!((simulation.blocks(), simulation.block_samples(1)), (2, 34_464));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Options")]
pub struct Simulation {
    samples: u64,
    seed: u64,
    query: u64,
}

/// The same before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    samples: u64,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    query: u64,
}

impl Simulation {
    /// This many samples in each world, from seed 0 and for query 0.
    ///
    /// # Errors
    /// [`Error::Domain`] for no sample or more than 2^53.
    pub fn new(samples: u64) -> Result<Self> {
        Error::check_domain((1..=MAX_COUNT).contains(&samples), "number of samples", samples as f64, "[1, 2^53]")?;
        Ok(Self { samples, seed: 0, query: 0 })
    }

    /// The same from another seed.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same for another query, with separate streams.
    #[must_use]
    pub const fn query(mut self, query: u64) -> Self {
        self.query = query;
        self
    }

    /// Samples in each world.
    #[must_use]
    pub const fn samples(self) -> u64 {
        self.samples
    }

    /// Blocks in each world: all of size [`BLOCK_SAMPLES`] except the last.
    #[must_use]
    pub const fn blocks(self) -> u64 {
        self.samples.div_ceil(BLOCK_SAMPLES)
    }

    /// Samples in a block; 0 if there is no such block.
    #[must_use]
    pub const fn block_samples(self, block: u64) -> u64 {
        let left = self.samples.saturating_sub(block.saturating_mul(BLOCK_SAMPLES));
        if left < BLOCK_SAMPLES { left } else { BLOCK_SAMPLES }
    }

    /// Samples in all blocks before this one.
    pub(super) const fn samples_before(self, block: u64) -> u64 {
        let whole = block.saturating_mul(BLOCK_SAMPLES);
        if whole < self.samples { whole } else { self.samples }
    }

    /// The seed.
    #[must_use]
    pub const fn get_seed(self) -> u64 {
        self.seed
    }

    /// The query.
    #[must_use]
    pub const fn get_query(self) -> u64 {
        self.query
    }

    /// The stream of a block.
    #[must_use]
    pub fn stream(self, world: World, block: u64) -> Stream {
        Stream::new(StreamId { seed: self.seed, query: self.query, world, block })
    }
}

impl TryFrom<Options> for Simulation {
    type Error = Error;
    fn try_from(options: Options) -> Result<Self> {
        Ok(Self::new(options.samples)?.seed(options.seed).query(options.query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_simulation_is_checked_when_it_is_read() {
        let read = |text: &str| serde_json::from_str::<Simulation>(text);
        assert_eq!(read(r#"{"samples":5,"seed":3}"#).unwrap(), Simulation::new(5).unwrap().seed(3));
        assert!(read(r#"{"samples":0}"#).is_err());
        assert!(read(r#"{"samples":1,"sed":3}"#).is_err());
    }

    proptest! {
        #[test]
        fn blocks_add_up(samples in prop_oneof![any::<u64>(), 0..1_000_000u64], block: u64) {
            match Simulation::new(samples) {
                Ok(simulation) => {
                    let blocks = simulation.blocks();
                    let before_last = u128::from(blocks - 1) * u128::from(BLOCK_SAMPLES);
                    prop_assert_eq!(before_last + u128::from(simulation.block_samples(blocks - 1)), u128::from(samples));
                    prop_assert_eq!(simulation.block_samples(block) > 0, block < blocks);
                    let (before, inside) = (simulation.samples_before(block), simulation.block_samples(block));
                    prop_assert_eq!(simulation.samples_before(block.saturating_add(1)), before + inside);
                }
                Err(_) => prop_assert!(samples == 0 || samples > MAX_COUNT),
            }
        }
    }
}
