//! Vote histograms and their neighbors.

mod shifts;

pub use shifts::Shifts;

use crate::counts::MAX_COUNT;
use crate::error::{Error, Result, count_above};
use crate::relation::Relation;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The largest number of classes a histogram may have.
pub const MAX_CLASSES: usize = 10_000;

/// Votes per class: `counts()[c]` voters chose class c.
///
/// ```
/// # use leakbound::histogram::{Neighbor, VoteHistogram};
/// let histogram = VoteHistogram::new(vec![14, 12, 10, 8, 6])?;
/// let neighbor = histogram.neighbor(Neighbor::Moved { from: 0, to: 1 })?;
/// assert_eq!(neighbor.counts(), [13, 13, 10, 8, 6]);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct VoteHistogram(Vec<u64>);

impl VoteHistogram {
    /// Checks and stores the votes per class.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 10,000 classes, [`Error::Domain`] when a count exceeds 2^53.
    pub fn new(counts: Vec<u64>) -> Result<Self> {
        let (found, expected) = (counts.len(), format_args!("1 to {MAX_CLASSES} classes"));
        Error::check_length((1..=MAX_CLASSES).contains(&found), "vote histogram", found, expected)?;
        if let Some(&count) = counts.iter().find(|&&count| count > MAX_COUNT) {
            return Err(Error::Domain { quantity: "vote count", value: count_above(count), domain: "[0, 2^53]" });
        }
        Ok(Self(counts))
    }

    /// Votes per class.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Number of classes C.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.0.len()
    }

    /// The histogram after one voter changed their vote.
    ///
    /// # Errors
    /// [`Error::Rejected`] if the class does not exist, has no vote to give, or the vote would not move.
    pub fn neighbor(&self, change: Neighbor) -> Result<Self> {
        let reject = |reason: String| Error::rejected("neighboring histogram", reason);
        let mut counts = self.0.clone();
        let classes = self.classes();
        let mut shift = |class: usize, up: bool| -> Result<()> {
            let count = counts
                .get_mut(class)
                .ok_or_else(|| reject(format!("class {class} does not exist; there are {classes} classes")))?;
            let shifted = if up { count.checked_add(1) } else { count.checked_sub(1) };
            *count = shifted.ok_or_else(|| reject(format!("class {class} has no vote to take away")))?;
            Ok(())
        };
        match change {
            Neighbor::Moved { from, to } if from == to => {
                return Err(reject(format!("the vote stays in class {from}")));
            }
            Neighbor::Moved { from, to } => {
                shift(from, false)?;
                shift(to, true)?;
            }
            Neighbor::Added { class } => shift(class, true)?,
            Neighbor::Removed { class } => shift(class, false)?,
            Neighbor::Shifted { by } => {
                if by.by().len() != classes {
                    return Err(reject(format!("{} counts change; there are {classes}", by.by().len())));
                }
                for (class, by) in by.by().iter().enumerate().filter(|(_, by)| **by != 0) {
                    shift(class, *by > 0)?;
                }
            }
        }
        Self::new(counts)
    }

    /// All one-vote changes of a kind, one representative per pair of distinct counts: classes with equal counts are
    /// exchangeable, so the other changes give the same divergences.
    #[must_use]
    pub fn neighbors(&self, kind: VoteChange) -> Vec<Neighbor> {
        let mut representatives: Vec<usize> = Vec::new();
        let mut seconds: Vec<Option<usize>> = Vec::new();
        let mut index = std::collections::HashMap::new();
        for (class, &count) in self.0.iter().enumerate() {
            match index.get(&count) {
                None => {
                    index.insert(count, representatives.len());
                    representatives.push(class);
                    seconds.push(None);
                }
                Some(&group) => {
                    seconds[group].get_or_insert(class);
                }
            }
        }
        let may_give = |class: &&usize| self.0[**class] > 0;
        match kind {
            VoteChange::Added => representatives.iter().map(|&class| Neighbor::Added { class }).collect(),
            VoteChange::Removed => {
                representatives.iter().filter(may_give).map(|&class| Neighbor::Removed { class }).collect()
            }
            VoteChange::Moved => representatives
                .iter()
                .filter(may_give)
                .flat_map(|&from| {
                    representatives.iter().zip(&seconds).filter_map(move |(&first, &second)| {
                        let to = if first == from { second? } else { first };
                        Some(Neighbor::Moved { from, to })
                    })
                })
                .collect(),
        }
    }

    /// All one-vote changes of a kind, for a mechanism that does not treat classes alike.
    #[must_use]
    pub fn all_neighbors(&self, kind: VoteChange) -> Box<dyn Iterator<Item = Neighbor> + '_> {
        let classes = self.classes();
        let givers = (0..classes).filter(|&class| self.0[class] > 0);
        match kind {
            VoteChange::Added => Box::new((0..classes).map(|class| Neighbor::Added { class })),
            VoteChange::Removed => Box::new(givers.map(|class| Neighbor::Removed { class })),
            VoteChange::Moved => Box::new(givers.flat_map(move |from| {
                (0..classes).filter(move |&to| to != from).map(move |to| Neighbor::Moved { from, to })
            })),
        }
    }

    /// The number of changes; with `alike`, changes that only swap classes of equal counts count once. If each of more
    /// than 16 counts may change, the number exceeds that of any search.
    ///
    /// ```
    /// # use leakbound::histogram::{Changes, VoteChange, VoteHistogram};
    /// let counts = VoteHistogram::new(vec![3, 3, 0])?;
    /// assert_eq!(counts.number_of(Changes::OneVote(VoteChange::Moved), false), 4);
    /// assert_eq!(counts.number_of(Changes::OneVote(VoteChange::Moved), true), 2);
    /// assert_eq!(counts.number_of(Changes::EveryCount, false), 3 * 3 * 2 - 1);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn number_of(&self, changes: Changes, alike: bool) -> u64 {
        match changes {
            Changes::OneVote(kind) if alike => self.neighbors(kind).len() as u64,
            Changes::OneVote(kind) => self.all_neighbors(kind).count() as u64,
            Changes::EveryCount => Shifts::number(&self.0),
        }
    }

    /// The changes counted by [`Self::number_of`]; empty if each of more than 16 counts may change.
    pub fn changes(&self, changes: Changes, alike: bool) -> Box<dyn Iterator<Item = Neighbor> + '_> {
        match changes {
            Changes::OneVote(kind) if alike => Box::new(self.neighbors(kind).into_iter()),
            Changes::OneVote(kind) => self.all_neighbors(kind),
            Changes::EveryCount => Box::new(Shifts::all(&self.0).map(|by| Neighbor::Shifted { by })),
        }
    }

    /// Whether two histograms are neighbors, where each vote is a record. Equal ones are, unless one record is to be
    /// added.
    #[must_use]
    pub fn is_neighbor(&self, other: &Self, relation: Relation) -> bool {
        let counts = self.0.iter().zip(&other.0);
        let farthest = || counts.clone().map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        self.classes() == other.classes()
            && match (relation, self.difference(other)) {
                (Relation::AddRemove, change) => change == (1, 0) || change == (0, 1),
                (Relation::ReplaceOne, change) => change == (1, 1) || change == (0, 0),
                (Relation::L1(most), (up, down)) => Relation::is_within(up as f64 + down as f64, most),
                (Relation::Linf(most), _) => Relation::is_within(farthest() as f64, most),
            }
    }

    /// The change from this histogram to `other`, if they differ by one vote.
    #[must_use]
    pub fn change_to(&self, other: &Self) -> Option<VoteChange> {
        let change = (self.classes() == other.classes()).then(|| self.difference(other));
        match change? {
            (1, 1) => Some(VoteChange::Moved),
            (1, 0) => Some(VoteChange::Added),
            (0, 1) => Some(VoteChange::Removed),
            _ => None,
        }
    }

    /// By how many votes in total the counts of `other` exceed these, and fall below them.
    fn difference(&self, other: &Self) -> (u64, u64) {
        self.0.iter().zip(&other.0).fold((0, 0), |(up, down): (u64, u64), (&a, &b)| {
            (up.saturating_add(b.saturating_sub(a)), down.saturating_add(a.saturating_sub(b)))
        })
    }
}

impl TryFrom<Vec<u64>> for VoteHistogram {
    type Error = Error;
    fn try_from(counts: Vec<u64>) -> Result<Self> {
        Self::new(counts)
    }
}

impl From<VoteHistogram> for Vec<u64> {
    fn from(histogram: VoteHistogram) -> Self {
        histogram.0
    }
}

impl fmt::Display for VoteHistogram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (class, count) in self.0.iter().enumerate() {
            write!(formatter, "{}{count}", if class == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// A change of one vote. Adding and removing differ because divergences have a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VoteChange {
    /// One voter moves to another class.
    Moved,
    /// One more voter.
    Added,
    /// One voter fewer.
    Removed,
}

/// Which changes of a histogram are considered. Written as a word: `moved`, `added`, `removed` or `shifted`.
///
/// ```
/// # use leakbound::histogram::{Changes, VoteChange};
/// assert_eq!("shifted".parse::<Changes>()?, Changes::EveryCount);
/// assert_eq!(Changes::OneVote(VoteChange::Moved).name(), "moved");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Changes {
    /// One vote changes.
    OneVote(VoteChange),
    /// Every count changes by at most 1, in either direction, and at least one of them does.
    EveryCount,
}

impl Changes {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::OneVote(VoteChange::Moved),
        Self::OneVote(VoteChange::Added),
        Self::OneVote(VoteChange::Removed),
        Self::EveryCount,
    ];

    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OneVote(VoteChange::Moved) => "moved",
            Self::OneVote(VoteChange::Added) => "added",
            Self::OneVote(VoteChange::Removed) => "removed",
            Self::EveryCount => "shifted",
        }
    }
}

impl FromStr for Changes {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|changes| changes.name() == text);
        let expected = "moved, added, removed or shifted";
        found.ok_or_else(|| Error::syntax("changes of a histogram", text, expected))
    }
}

impl TryFrom<String> for Changes {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Changes> for &'static str {
    fn from(changes: Changes) -> Self {
        changes.name()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl From<VoteChange> for Changes {
    fn from(kind: VoteChange) -> Self {
        Self::OneVote(kind)
    }
}

/// A change of a histogram; classes are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "change")]
pub enum Neighbor {
    /// One vote moves from one class to another.
    Moved {
        /// The class that loses the vote.
        from: usize,
        /// The class that gains it.
        to: usize,
    },
    /// One more vote.
    Added {
        /// The class that gains it.
        class: usize,
    },
    /// One vote fewer.
    Removed {
        /// The class that loses it.
        class: usize,
    },
    /// Every count changes by at most 1.
    Shifted {
        /// The change of each count: -1, 0 or 1.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<i8>"))]
        by: Shifts,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_cover_every_pair_of_distinct_counts_once() {
        let histogram = VoteHistogram::new(vec![3, 3, 0, 1]).unwrap();
        let moved = histogram.neighbors(VoteChange::Moved);
        assert_eq!(moved.len(), 3 + 2); // from 3: to 3, 0, 1; from 1: to 3, 0
        assert_eq!(histogram.neighbors(VoteChange::Added).len(), 3);
        assert_eq!(histogram.neighbors(VoteChange::Removed).len(), 2);
        let all = |kind| histogram.all_neighbors(kind).collect::<Vec<_>>();
        assert_eq!([VoteChange::Moved, VoteChange::Added, VoteChange::Removed].map(|a| all(a).len()), [3 * 3, 4, 3]);
        for change in moved.into_iter().chain(all(VoteChange::Moved)) {
            let neighbor = histogram.neighbor(change).unwrap();
            assert_eq!(histogram.change_to(&neighbor), Some(VoteChange::Moved));
        }
    }

    #[test]
    fn every_count_may_change_by_one() {
        let histogram = VoteHistogram::new(vec![3, 0, 1]).unwrap();
        let neighbors: Vec<VoteHistogram> =
            histogram.changes(Changes::EveryCount, false).map(|change| histogram.neighbor(change).unwrap()).collect();
        assert_eq!(neighbors.len() as u64, histogram.number_of(Changes::EveryCount, false));
        assert!(
            neighbors
                .iter()
                .all(|neighbor| histogram.is_neighbor(neighbor, Relation::Linf(1.0)) && *neighbor != histogram)
        );
        assert!(neighbors.contains(&VoteHistogram::new(vec![2, 1, 2]).unwrap()));
        assert!(!histogram.is_neighbor(&VoteHistogram::new(vec![5, 0, 1]).unwrap(), Relation::Linf(1.0)));
        let short = Neighbor::Shifted { by: Shifts::new(&[1, 1]).unwrap() };
        assert!(histogram.neighbor(short).unwrap_err().to_string().contains("2 counts change; there are 3"));
        let below = Neighbor::Shifted { by: Shifts::new(&[0, -1, 0]).unwrap() };
        assert!(histogram.neighbor(below).unwrap_err().to_string().contains("class 1 has no vote to take away"));
        let text = serde_json::to_string(&short).unwrap();
        assert_eq!(text, r#"{"change":"shifted","by":[1,1]}"#);
        assert_eq!(serde_json::from_str::<Neighbor>(&text).unwrap(), short);
    }

    #[test]
    fn impossible_changes_are_rejected_in_words() {
        let histogram = VoteHistogram::new(vec![1, 0]).unwrap();
        let message = |change| histogram.neighbor(change).unwrap_err().to_string();
        assert_eq!(message(Neighbor::Removed { class: 1 }), "neighboring histogram: class 1 has no vote to take away");
        assert_eq!(
            message(Neighbor::Added { class: 2 }),
            "neighboring histogram: class 2 does not exist; there are 2 classes"
        );
        assert!(histogram.neighbor(Neighbor::Moved { from: 0, to: 0 }).is_err());
        assert!(VoteHistogram::new(vec![]).is_err());
    }
}
