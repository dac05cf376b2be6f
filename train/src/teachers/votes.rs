//! Votes of trained teachers, and the queries that they single out.

use super::plan::TeacherPlan;
use super::split::Split;
use crate::answers::histogram;
use ndarray::{Array1, Array2, Array3, Axis};
use rand::seq::SliceRandom;

/// Recorded votes: classes, under the names of the arrays that `audit votes` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct TeacherVotes {
    /// \[instantiation, query, teacher\]: a new random partition and new weights each time.
    pub pate_votes: Array3<u8>,
    /// The same with one partition.
    pub capc_votes: Array3<u8>,
    /// Test image behind each query.
    pub query_index: Array1<i32>,
    /// Its class.
    pub query_label: Array1<u8>,
    /// The second most common vote of all PATE teachers; the poisoned label.
    pub second_label: Array1<u8>,
    /// Queries that adversaries choose, as positions, sorted.
    pub adv_query: Array1<i32>,
    /// \[adversarial query, retraining\]: a PATE teacher that saw the query with its label instead of one image.
    pub pate_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub pate_pois_advq: Array2<u8>,
    /// \[adversarial query, retraining\]: party 0, which saw the query with its label in addition to its own images.
    pub capc_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub capc_pois_advq: Array2<u8>,
    /// \[query, teacher\]: PATE teachers that saw the poisoned query `poison_query` instead of one image.
    pub pate_pois_natq: Array2<u8>,
    /// Position of that query.
    pub poison_query: i64,
    /// Training images of each teacher of `pate_votes`, \[instantiation, teacher, image\].
    pub pate_images: Array3<u32>,
    /// Share of all test images, queries or not, that each teacher of the first ensemble of `pate_votes` gets right.
    pub test_accuracy: Array1<f64>,
    /// Training images of each party of `capc_votes`, \[party, image\].
    pub capc_images: Array2<u32>,
}

impl TeacherVotes {
    /// Share of votes for the query's class, over all PATE teachers.
    #[must_use]
    pub fn pate_accuracy(&self) -> f64 {
        accuracy(&self.pate_votes, &self.query_label)
    }

    /// Mean of `test_accuracy`.
    #[must_use]
    pub fn mean_test_accuracy(&self) -> f64 {
        self.test_accuracy.mean().unwrap_or(f64::NAN)
    }

    /// Share of votes for the query's class, over all CaPC parties.
    #[must_use]
    pub fn capc_accuracy(&self) -> f64 {
        accuracy(&self.capc_votes, &self.query_label)
    }
}

fn accuracy(votes: &Array3<u8>, labels: &Array1<u8>) -> f64 {
    let right =
        votes.axis_iter(Axis(1)).zip(labels).map(|(votes, label)| votes.iter().filter(|&vote| vote == label).count());
    right.sum::<usize>() as f64 / votes.len() as f64
}

/// \[instantiation, query, teacher\] from a row of votes for each teacher.
pub(crate) fn ballots(votes: &[Vec<u8>], (instantiations, teachers, queries): (usize, usize, usize)) -> Array3<u8> {
    Array3::from_shape_fn((instantiations, queries, teachers), |(instantiation, query, teacher)| {
        votes[instantiation * teachers + teacher][query]
    })
}

/// Votes per class on every query, all instantiations together.
fn histograms(votes: &Array3<u8>, classes: usize) -> Vec<Vec<u64>> {
    votes.axis_iter(Axis(1)).map(|votes| histogram(votes.iter().copied(), classes)).collect()
}

/// Classes of a histogram by their votes, the most first; among ties the smaller class.
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
