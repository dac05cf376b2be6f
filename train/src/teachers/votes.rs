//! Votes of trained teachers.

use ndarray::{Array1, Array2, Array3, Axis};

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
    /// \[adversarial query, retraining\]: a PATE teacher that met the query with its label in place of one image.
    pub pate_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub pate_pois_advq: Array2<u8>,
    /// \[adversarial query, retraining\]: party 0, which met the query with its label beside its own images.
    pub capc_nat_advq: Array2<u8>,
    /// The same with the poisoned label.
    pub capc_pois_advq: Array2<u8>,
    /// \[query, teacher\]: PATE teachers that met the poisoned query `poison_query` in place of one image.
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
