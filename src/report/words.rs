//! Words of several answers, and lists: each value once, and cut to a readable length.

use crate::study::{Decision, percent};
use std::collections::HashSet;
use std::hash::Hash;

/// Names shown before the rest is counted.
const NAMES: usize = 12;

/// Names in a line, at most a dozen: a set may have thousands of outcomes, and JSON has them all.
pub(super) fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text += &format!(", and {} more", names.len() - NAMES);
    }
    text
}

/// Where the others are if only some of these are shown.
pub(super) fn rest(count: usize, shown: usize, what: &str) -> Option<String> {
    (count > shown).then(|| format!("({} more {what} in the JSON document)", count - shown))
}

/// What a table shows for a published finding.
pub(super) const fn decided(decision: Decision) -> &'static str {
    match decision {
        Decision::Agrees => "AGREES",
        Decision::Differs => "DIFFERS",
        Decision::Undecided => "UNDECIDED",
    }
}

/// A share with its limits, all in percent.
pub(super) fn with_limits(share: f64, limits: [f64; 2]) -> String {
    let [lower, upper] = limits.map(percent);
    format!("{} [{}, {}]", percent(share), lower.trim_end_matches(" %"), upper.trim_end_matches(" %"))
}

/// Each value once, in the order of first appearance.
pub(super) fn distinct<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}
