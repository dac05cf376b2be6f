//! Neighboring relations of datasets.

use crate::error::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A distance may be off by this relative rounding error.
const ROUNDING: f64 = 1e-9;

/// Which datasets are neighbors: the relation that a guarantee refers to. It has no direction.
///
/// In data that are votes per class or counts, each unit is a record: replacing a record means that a vote moves to
/// another class.
///
/// ```
/// # use leakbound::histogram::VoteHistogram;
/// # use leakbound::relation::Relation;
/// let relation: Relation = "linf:1".parse()?;
/// let [votes, moved, more] = [[3, 1], [2, 2], [4, 2]].map(|votes| VoteHistogram::new(votes.to_vec()).unwrap());
/// assert!(votes.is_neighbor(&more, relation) && !votes.is_neighbor(&more, Relation::AddRemove));
/// assert!(votes.is_neighbor(&moved, Relation::ReplaceOne));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Relation {
    /// One dataset has one more record; written `add-remove`.
    AddRemove,
    /// One record is replaced by another; written `replace-one`.
    ReplaceOne,
    /// Vectors of numbers whose sum of absolute differences is at most this; written `l1:D`.
    L1(f64),
    /// Vectors of numbers that differ by at most this in each entry; written `linf:D`.
    Linf(f64),
}

impl Relation {
    /// Whether a distance is at most `most`, up to rounding.
    #[doc(hidden)]
    #[must_use]
    pub fn is_within(distance: f64, most: f64) -> bool {
        distance <= most * (1.0 + ROUNDING)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddRemove => formatter.write_str("add-remove"),
            Self::ReplaceOne => formatter.write_str("replace-one"),
            Self::L1(most) => write!(formatter, "l1:{most}"),
            Self::Linf(most) => write!(formatter, "linf:{most}"),
        }
    }
}

impl FromStr for Relation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::syntax("relation", text, "add-remove, replace-one, l1:D or linf:D with D > 0");
        match text.split_once(':') {
            None if text == "add-remove" => Ok(Self::AddRemove),
            None if text == "replace-one" => Ok(Self::ReplaceOne),
            Some((norm, distance)) => {
                let distance: f64 =
                    distance.parse().ok().filter(|&d| d > 0.0 && d < f64::INFINITY).ok_or_else(unknown)?;
                match norm {
                    "l1" => Ok(Self::L1(distance)),
                    "linf" => Ok(Self::Linf(distance)),
                    _ => Err(unknown()),
                }
            }
            None => Err(unknown()),
        }
    }
}

impl Serialize for Relation {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Relation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_read_back() {
        for text in ["add-remove", "replace-one", "l1:1", "linf:0.5"] {
            assert_eq!(text.parse::<Relation>().unwrap().to_string(), text);
        }
        for text in ["", "add", "l1", "l1:0", "l1:-1", "l2:1", "linf:inf", "linf:nan"] {
            assert!(text.parse::<Relation>().is_err(), "{text}");
        }
    }
}
