//! Which datasets are neighbors.

use super::dataset::Dataset;
use crate::error::{Error, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A distance may be rounded by so much of itself.
const ROUNDING: f64 = 1e-9;

/// Which datasets are neighbors.
///
/// ```
/// # use leakbound::black_box::{Dataset, Relation};
/// let relation: Relation = "l1:1".parse()?;
/// let dataset = |text: &str| text.parse::<Dataset>();
/// assert!(relation.admits(&dataset("[3, 5]")?, &dataset("[3.5, 4.5]")?));
/// assert!(!relation.admits(&dataset("[3, 5]")?, &dataset("[4, 4]")?));
/// assert!(Relation::AddRemove.admits(&dataset("[3, 5]")?, &dataset("[5]")?));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Relation {
    /// One has a record more; written `add-remove`.
    AddRemove,
    /// One record is another one; written `replace-one`.
    ReplaceOne,
    /// Vectors of numbers whose sum of absolute differences is at most this; written `l1:D`.
    L1(f64),
    /// Vectors of numbers that differ by at most this in each entry; written `linf:D`.
    Linf(f64),
}

impl Relation {
    /// Whether two datasets are neighbors. The order of records does not matter, except under the norms.
    #[must_use]
    pub fn admits(&self, dataset: &Dataset, neighbor: &Dataset) -> bool {
        let (a, b) = (dataset.records(), neighbor.records());
        let distance = |fold: fn(f64, f64) -> f64| {
            let (a, b) = dataset.numbers().zip(neighbor.numbers())?;
            (a.len() == b.len()).then(|| a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, fold))
        };
        let within = |distance: Option<f64>, most: f64| distance.is_some_and(|found| found <= most * (1.0 + ROUNDING));
        match *self {
            Self::AddRemove => a.len().abs_diff(b.len()) == 1 && unmatched(a, b) == 1,
            Self::ReplaceOne => a.len() == b.len() && unmatched(a, b) <= 2,
            Self::L1(most) => within(distance(|sum, next| sum + next), most),
            Self::Linf(most) => within(distance(f64::max), most),
        }
    }

    /// Whether it says anything about such a dataset.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a dataset that is no vector under a norm, and for one without a record to replace.
    pub fn fits(&self, dataset: &Dataset) -> Result<()> {
        let reject = |reason: String| Err(Error::Rejected { operation: "relation", reason });
        match self {
            Self::L1(_) | Self::Linf(_) if dataset.numbers().is_none_or(|numbers| numbers.is_empty()) => {
                reject(format!("{self} compares vectors of numbers, and the dataset is none, such as [3, 5, 2]"))
            }
            Self::ReplaceOne if dataset.records().is_empty() => {
                reject("replace-one needs a dataset with a record that can be replaced".into())
            }
            _ => Ok(()),
        }
    }
}

/// Records of both lists that have no partner in the other.
fn unmatched(a: &[Value], b: &[Value]) -> usize {
    // Most neighbors begin and end alike: what is left is short.
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    let mut left: Vec<&Value> = b.iter().collect();
    let mut alone = 0;
    for record in a {
        match left.iter().position(|other| *other == record) {
            Some(at) => drop(left.swap_remove(at)),
            None => alone += 1,
        }
    }
    alone + left.len()
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
    fn relations_read_back_and_compare_datasets() {
        for text in ["add-remove", "replace-one", "l1:1", "linf:0.5"] {
            assert_eq!(text.parse::<Relation>().unwrap().to_string(), text);
        }
        for text in ["", "add", "l1", "l1:0", "l1:-1", "l2:1", "linf:inf", "linf:nan"] {
            assert!(text.parse::<Relation>().is_err(), "{text}");
        }
        let dataset = |text: &str| text.parse::<Dataset>().unwrap();
        let admits = |relation: &str, a: &str, b: &str| {
            let relation: Relation = relation.parse().unwrap();
            assert_eq!(relation.admits(&dataset(a), &dataset(b)), relation.admits(&dataset(b), &dataset(a)));
            relation.admits(&dataset(a), &dataset(b))
        };
        assert!(admits("add-remove", "[]", "[\"a\"]") && admits("add-remove", "[1, 1]", "[1]"));
        assert!(!admits("add-remove", "[1]", "[1]") && !admits("add-remove", "[1, 2]", "[3]"));
        assert!(admits("replace-one", "[1, 2]", "[2, 3]") && !admits("replace-one", "[1, 2]", "[3, 4]"));
        assert!(admits("linf:1", "[1, 2]", "[2, 1]") && !admits("linf:1", "[1, 2]", "[1]"));
        assert!(admits("l1:0.3", "[0.1, 0]", "[0, 0.2]"));
        assert!(Relation::L1(1.0).fits(&dataset("[\"a\"]")).is_err());
        assert!(Relation::ReplaceOne.fits(&dataset("[]")).is_err() && Relation::AddRemove.fits(&dataset("[]")).is_ok());
    }
}
