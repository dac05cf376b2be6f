//! Which datasets of records are neighbors.

use super::dataset::Dataset;
use crate::error::{Error, Result};
use crate::relation::Relation;
use serde_json::Value;

impl Dataset {
    /// Whether two datasets are neighbors. The order of records does not matter, except under the norms.
    ///
    /// ```
    /// # use leakbound::black_box::Dataset;
    /// # use leakbound::relation::Relation;
    /// let relation: Relation = "l1:1".parse()?;
    /// let dataset = |text: &str| text.parse::<Dataset>();
    /// assert!(dataset("[3, 5]")?.is_neighbor(&dataset("[3.5, 4.5]")?, relation));
    /// assert!(!dataset("[3, 5]")?.is_neighbor(&dataset("[4, 4]")?, relation));
    /// assert!(dataset("[3, 5]")?.is_neighbor(&dataset("[5]")?, Relation::AddRemove));
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn is_neighbor(&self, other: &Self, relation: Relation) -> bool {
        let (a, b) = (self.records(), other.records());
        let distance = |fold: fn(f64, f64) -> f64| {
            let (a, b) = self.numbers().zip(other.numbers())?;
            (a.len() == b.len()).then(|| a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, fold))
        };
        let within = |distance: Option<f64>, most| distance.is_some_and(|found| Relation::is_within(found, most));
        match relation {
            Relation::AddRemove => a.len().abs_diff(b.len()) == 1 && unmatched(a, b) == 1,
            Relation::ReplaceOne => a.len() == b.len() && unmatched(a, b) <= 2,
            Relation::L1(most) => within(distance(|sum, next| sum + next), most),
            Relation::Linf(most) => within(distance(f64::max), most),
        }
    }

    /// Whether a relation applies to the dataset.
    ///
    /// # Errors
    /// [`Error::Rejected`] for a dataset that is not a vector under a norm, and for one without a record to replace.
    pub fn fits(&self, relation: Relation) -> Result<()> {
        let reject = |reason: String| Err(Error::Rejected { operation: "relation", reason });
        match relation {
            Relation::L1(_) | Relation::Linf(_) if self.numbers().is_none_or(|numbers| numbers.is_empty()) => reject(
                format!("{relation} compares vectors of numbers, and the dataset is not a vector such as [3, 5, 2]"),
            ),
            Relation::ReplaceOne if self.records().is_empty() => {
                reject("replace-one needs a dataset with a record that can be replaced".into())
            }
            Relation::AddRemove | Relation::ReplaceOne | Relation::L1(_) | Relation::Linf(_) => Ok(()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_compare_datasets() {
        let dataset = |text: &str| text.parse::<Dataset>().unwrap();
        let admits = |relation: &str, a: &str, b: &str| {
            let relation: Relation = relation.parse().unwrap();
            let [a, b] = [a, b].map(dataset);
            assert_eq!(a.is_neighbor(&b, relation), b.is_neighbor(&a, relation));
            a.is_neighbor(&b, relation)
        };
        assert!(admits("add-remove", "[]", "[\"a\"]") && admits("add-remove", "[1, 1]", "[1]"));
        assert!(!admits("add-remove", "[1]", "[1]") && !admits("add-remove", "[1, 2]", "[3]"));
        assert!(admits("replace-one", "[1, 2]", "[2, 3]") && !admits("replace-one", "[1, 2]", "[3, 4]"));
        assert!(admits("linf:1", "[1, 2]", "[2, 1]") && !admits("linf:1", "[1, 2]", "[1]"));
        assert!(admits("l1:0.3", "[0.1, 0]", "[0, 0.2]"));
        assert!(dataset("[\"a\"]").fits(Relation::L1(1.0)).is_err());
        assert!(dataset("[]").fits(Relation::ReplaceOne).is_err() && dataset("[]").fits(Relation::AddRemove).is_ok());
    }
}
