//! Queries that votes single out.

use super::plan::TeacherPlan;
use super::split::Split;
use crate::answers::histogram;
use ndarray::{Array3, Axis};
use rand::seq::SliceRandom;

/// Votes per class on every query, all instantiations together.
fn histograms(votes: &Array3<u8>, classes: usize) -> Vec<Vec<u64>> {
    votes.axis_iter(Axis(1)).map(|votes| histogram(votes.iter().copied(), classes)).collect()
}

/// Classes of a histogram by their votes, the most first; of two with as many the smaller class.
pub(crate) fn ranked(histogram: &[u64]) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..histogram.len()).collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(histogram[class]));
    classes
}

/// The second most common vote on every query; with one class that class.
pub(super) fn second_votes(votes: &Array3<u8>, classes: usize) -> Vec<u8> {
    histograms(votes, classes).iter().map(|histogram| *ranked(histogram).get(1).unwrap_or(&0) as u8).collect()
}

/// Votes between the first and the second class of a histogram.
pub(crate) fn margin(histogram: &[u64]) -> u64 {
    let order = ranked(histogram);
    histogram[order[0]] - order.get(1).map_or(0, |&second| histogram[second])
}

fn margins(votes: &Array3<u8>, classes: usize) -> Vec<u64> {
    histograms(votes, classes).iter().map(|histogram| margin(histogram)).collect()
}

/// Half with the smallest margin, the others at random, sorted.
pub(super) fn adversarial(votes: &Array3<u8>, classes: usize, plan: &TeacherPlan) -> Vec<usize> {
    let margins = margins(votes, classes);
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by_key(|&query| margins[query]);
    let (close, rest) = order.split_at(plan.adversarial / 2);
    let mut rest = rest.to_vec();
    rest.sort_unstable();
    rest.shuffle(&mut Split::Adversary.stream(plan.seed));
    let mut chosen: Vec<usize> = close.iter().chain(&rest[..plan.adversarial - close.len()]).copied().collect();
    chosen.sort_unstable();
    chosen
}

/// The query that a poisoner mislabels: the one on which the teachers agree most.
pub(super) fn poisoned(votes: &Array3<u8>, classes: usize) -> usize {
    let margins = margins(votes, classes);
    (0..margins.len()).max_by_key(|&query| (margins[query], std::cmp::Reverse(query))).unwrap_or(0)
}
