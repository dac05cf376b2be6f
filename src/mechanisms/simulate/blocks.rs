//! Sets of blocks: the finished part of a simulation.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A set of blocks of a simulation, counted from 0, as disjoint ranges in increasing order.
///
/// Written as `[[0, 3], [5, 6]]` for the blocks 0, 1, 2 and 5: each range from its first block to the one after its
/// last.
///
/// # Example
/// ```
/// # use leakbound::simulate::BlockSet;
/// let mut blocks = BlockSet::from(0..3);
/// blocks.insert(5..6)?;
/// assert_eq!((blocks.len(), blocks.to_string()), (4, "0-2, 5".into()));
/// assert_eq!(blocks.missing_in(0..7), BlockSet::new([3..5, 6..7])?);
/// assert!(blocks.insert(2..4).is_err()); // block 2 is there already
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Vec<[u64; 2]>", into = "Vec<[u64; 2]>")]
pub struct BlockSet(Vec<Range<u64>>);

impl BlockSet {
    /// The union of ranges, in any order; empty ones are left out.
    ///
    /// # Errors
    /// [`Error::Rejected`] if two of them overlap.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Result<Self> {
        let mut ranges: Vec<Range<u64>> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut set: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match set.last_mut() {
                Some(last) if range.start < last.end => {
                    let twice = Self::from(range.start..last.end.min(range.end));
                    return Err(Error::Rejected {
                        operation: "set of blocks",
                        reason: format!("{} would be in it twice", twice.words()),
                    });
                }
                Some(last) if range.start == last.end => last.end = range.end,
                _ => set.push(range),
            }
        }
        Ok(Self(set))
    }

    /// Adds blocks that are not yet in the set.
    ///
    /// # Errors
    /// [`Error::Rejected`], with the set unchanged, if one of them is already in the set.
    pub fn insert(&mut self, range: Range<u64>) -> Result<()> {
        *self = self.union(&Self::from(range))?;
        Ok(())
    }

    /// This set and another one.
    ///
    /// # Errors
    /// [`Error::Rejected`] if a block is in both.
    pub fn union(&self, other: &Self) -> Result<Self> {
        Self::new(self.0.iter().chain(&other.0).cloned())
    }

    /// The blocks of a range that are not in the set.
    #[must_use]
    pub fn missing_in(&self, range: Range<u64>) -> Self {
        let (mut missing, mut from) = (Vec::new(), range.start);
        for held in &self.0 {
            missing.push(from..held.start.min(range.end));
            from = from.max(held.end);
        }
        missing.push(from..range.end);
        missing.retain(|gap| !gap.is_empty());
        Self(missing)
    }

    /// The ranges, in increasing order, separated by at least one block.
    #[must_use]
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Number of blocks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The set in words: `block 3`, `blocks 0-2, 5`.
    pub(crate) fn words(&self) -> String {
        format!("block{} {self}", if self.len() == 1 { "" } else { "s" })
    }
}

impl From<Range<u64>> for BlockSet {
    fn from(range: Range<u64>) -> Self {
        if range.is_empty() { Self::default() } else { Self(vec![range]) }
    }
}

impl TryFrom<Vec<[u64; 2]>> for BlockSet {
    type Error = Error;
    fn try_from(ranges: Vec<[u64; 2]>) -> Result<Self> {
        if let Some([from, to]) = ranges.iter().find(|[from, to]| from >= to) {
            let reason = format!("the range [{from}, {to}] holds no block");
            return Err(Error::Rejected { operation: "set of blocks", reason });
        }
        Self::new(ranges.into_iter().map(|[from, to]| from..to))
    }
}

impl From<BlockSet> for Vec<[u64; 2]> {
    fn from(set: BlockSet) -> Self {
        set.0.into_iter().map(|range| [range.start, range.end]).collect()
    }
}

/// Number of ranges shown; the rest is only counted.
const SHOWN: usize = 8;

impl fmt::Display for BlockSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("none");
        }
        for (index, range) in self.0.iter().take(SHOWN).enumerate() {
            formatter.write_str(if index == 0 { "" } else { ", " })?;
            match range.end - range.start {
                1 => write!(formatter, "{}", range.start)?,
                _ => write!(formatter, "{}-{}", range.start, range.end - 1)?,
            }
        }
        match self.0.len() {
            more if more > SHOWN => write!(formatter, " and {} more ranges", more - SHOWN),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_are_shown_in_words() {
        let words = |ranges: &[Range<u64>]| BlockSet::new(ranges.iter().cloned()).unwrap().words();
        assert_eq!(words(&[]), "blocks none");
        assert_eq!(words(&[7..8, 9..9]), "block 7");
        assert_eq!(words(&[5..6, 0..2, 2..3]), "blocks 0-2, 5");
        let many: Vec<Range<u64>> = (0..10).map(|block| 2 * block..2 * block + 1).collect();
        assert_eq!(words(&many), "blocks 0, 2, 4, 6, 8, 10, 12, 14 and 2 more ranges");
    }

    #[test]
    fn a_set_is_checked_when_it_is_read() {
        let read = |text: &str| serde_json::from_str::<BlockSet>(text).map_err(|error| error.to_string());
        assert_eq!(read("[[5,6],[0,3]]").unwrap(), BlockSet::new([0..3, 5..6]).unwrap());
        assert_eq!(read("[]").unwrap(), BlockSet::default());
        assert_eq!(read("[[3,3]]").unwrap_err(), "set of blocks: the range [3, 3] holds no block");
        assert_eq!(read("[[0,3],[1,2]]").unwrap_err(), "set of blocks: block 1 would be in it twice");
        assert!(read("[[0,3,4]]").is_err() && read("[[0,-3]]").is_err());
    }

    fn ranges() -> impl Strategy<Value = Vec<Range<u64>>> {
        prop::collection::vec((0..40u64, 0..6u64).prop_map(|(from, length)| from..from + length), 0..8)
    }

    proptest! {
        /// Compared with plain sets of numbers.
        #[test]
        fn sets_are_sets(first in ranges(), second in ranges(), window in (0..50u64, 0..50u64)) {
            let plain = |ranges: &[Range<u64>]| {
                let all: Vec<u64> = ranges.iter().cloned().flatten().collect();
                let set: BTreeSet<u64> = all.iter().copied().collect();
                (set.len() == all.len()).then_some(set)
            };
            let built = BlockSet::new(first.clone());
            prop_assert_eq!(built.is_ok(), plain(&first).is_some());
            let (Ok(built), Some(model)) = (built, plain(&first)) else { return Ok(()) };
            prop_assert_eq!(built.len(), model.len() as u64);
            prop_assert!(built.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
            let missing = built.missing_in(window.0..window.1);
            let expected: Vec<u64> = (window.0..window.1).filter(|block| !model.contains(block)).collect();
            prop_assert_eq!(missing.ranges().iter().cloned().flatten().collect::<Vec<_>>(), expected);
            if let (Ok(other), Some(more)) = (BlockSet::new(second.clone()), plain(&second)) {
                let union = built.union(&other);
                prop_assert_eq!(union.is_ok(), model.is_disjoint(&more));
                if let Ok(union) = union {
                    prop_assert_eq!(union.len(), built.len() + other.len());
                    prop_assert_eq!(union, other.union(&built).unwrap());
                }
            }
            let text = serde_json::to_string(&built).unwrap();
            prop_assert_eq!(serde_json::from_str::<BlockSet>(&text).unwrap(), built);
        }
    }
}
