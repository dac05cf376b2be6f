//! Parts of a simulation for several machines.

use super::simulation::Simulation;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// One of n parts of a simulation, the i-th counted from 1: the contiguous blocks
/// ```text
/// ⌊(i-1) B/n⌋ .. ⌊i B/n⌋
/// ```
/// of its B blocks. The n shards cover every block once, and their sizes differ by at most one block.
///
/// Written as `i/n`.
///
/// # Example
/// ```
/// # use leakbound::simulate::{Shard, Simulation};
/// let simulation = Simulation::new(1_000_000)?; // 16 blocks
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!(shard.blocks(simulation)?, 5..10);
/// assert_eq!(Shard::WHOLE.blocks(simulation)?, 0..16);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: u64,
    count: u64,
}

impl Shard {
    /// All blocks: the shard 1/1.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// The `number`-th of `count` shards.
    ///
    /// # Errors
    /// [`Error::Domain`] for a number outside 1 to `count`.
    pub fn new(number: u64, count: u64) -> Result<Self> {
        let legal = (1..=count).contains(&number);
        Error::check_domain(legal, "number of the shard", number as f64, "[1, number of shards]")?;
        Ok(Self { number, count })
    }

    /// i, counted from 1.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.number
    }

    /// n.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.count
    }

    /// The blocks of this shard.
    ///
    /// # Errors
    /// [`Error::Rejected`] if there are more shards than blocks, so that one of them would be empty.
    pub fn blocks(self, simulation: Simulation) -> Result<Range<u64>> {
        let blocks = simulation.blocks();
        let samples = simulation.samples();
        let reason = format_args!("{} shards of {samples} samples, more than their {blocks} block(s)", self.count);
        Error::check_possible(self.count <= blocks, "shard", reason)?;
        let border = |shards: u64| (u128::from(shards) * u128::from(blocks) / u128::from(self.count)) as u64;
        Ok(border(self.number - 1)..border(self.number))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let whole = |text: &str| text.trim().parse().ok();
        let numbers = text.split_once('/').and_then(|(number, count)| Some((whole(number)?, whole(count)?)));
        let expected = "I/N, the I-th of N shards counted from 1, such as 1/4";
        let (number, count) =
            numbers.ok_or_else(|| Error::Syntax { quantity: "shard", value: text.into(), expected })?;
        Self::new(number, count)
    }
}

impl TryFrom<String> for Shard {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::MAX_COUNT;
    use proptest::prelude::*;

    #[test]
    fn shards_read_back_and_faults_are_named() {
        assert_eq!("2/5".parse::<Shard>().unwrap(), Shard::new(2, 5).unwrap());
        let message = |text: &str| text.parse::<Shard>().unwrap_err().to_string();
        insta::assert_snapshot!(
            [message("0/4"), message("5/4"), message("1"), message("1/x"), message("-1/2"), message("1/0")].join("\n"),
            @"
            number of the shard = 0 is not in [1, number of shards]
            number of the shard = 5 is not in [1, number of shards]
            shard `1` cannot be read; expected I/N, the I-th of N shards counted from 1, such as 1/4
            shard `1/x` cannot be read; expected I/N, the I-th of N shards counted from 1, such as 1/4
            shard `-1/2` cannot be read; expected I/N, the I-th of N shards counted from 1, such as 1/4
            number of the shard = 1 is not in [1, number of shards]
            "
        );
        let few = Shard::new(1, 3).unwrap().blocks(Simulation::new(100_000).unwrap());
        assert_eq!(few.unwrap_err().to_string(), "shard: 3 shards of 100000 samples, more than their 2 block(s)");
    }

    proptest! {
        #[test]
        fn shards_cover_every_block_once(samples in prop_oneof![1..=MAX_COUNT, 1..5_000_000u64], count in 1..50u64) {
            let simulation = Simulation::new(samples).unwrap();
            let shards = (1..=count).map(|number| Shard::new(number, count).unwrap().blocks(simulation));
            match shards.collect::<Result<Vec<_>>>() {
                Err(_) => prop_assert!(count > simulation.blocks()),
                Ok(shards) => {
                    prop_assert_eq!(shards[0].start, 0);
                    prop_assert_eq!(shards.last().unwrap().end, simulation.blocks());
                    prop_assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start));
                    let sizes = shards.iter().map(|shard| shard.end - shard.start);
                    prop_assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
                }
            }
        }
    }
}
