//! Votes of prompts.

use crate::answers::histogram;
use crate::in_context::InContextAccuracy;
use crate::teachers::ranked;
use ndarray::{Array1, Array2, ArrayView1};

/// Recorded votes: classes, under the names of the arrays that `audit votes` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptVotes {
    /// \[query, teacher\] under the dataset.
    pub votes: Array2<u8>,
    /// The same under its neighbor; of adversaries who choose the query each row is under a neighbor of its own.
    pub votes_prime: Array2<u8>,
    /// The class of each query.
    pub query_label: Array1<u8>,
    /// Test image behind each query, rising.
    pub query_index: Array1<i32>,
    /// Test images that teachers have as examples, \[teacher, example\].
    pub example_index: Array2<i32>,
    /// The teacher that is changed for each query.
    pub changed_teacher: Array1<i32>,
    /// \[query\]: the number of the neighboring dataset that its row of `votes_prime` is of: 0 for all, or one for each.
    pub neighbor: Array1<i32>,
    /// The query that the changed prompt shows, of adversaries who show one.
    pub shown: Option<ShownQueries>,
    /// What the transformer has learned.
    pub accuracy: InContextAccuracy,
}

/// What is in the place of an example, for each query.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownQueries {
    /// Its place among the queries.
    pub query: Array1<i32>,
    /// The label that it is shown with.
    pub label: Array1<u8>,
}

impl PromptVotes {
    /// Share of queries whose most voted class is the right one.
    #[must_use]
    pub fn ensemble_accuracy(&self) -> f64 {
        let classes = usize::from(self.votes.iter().chain(&self.query_label).copied().max().unwrap_or(0)) + 1;
        let right = |(votes, label): (ArrayView1<'_, u8>, &u8)| {
            ranked(&histogram(votes.iter().copied(), classes))[0] == usize::from(*label)
        };
        self.votes.outer_iter().zip(&self.query_label).filter(|&row| right(row)).count() as f64
            / self.query_label.len() as f64
    }

    /// Share of votes for the query's class.
    #[must_use]
    pub fn mean_accuracy(&self) -> f64 {
        let rows = self.votes.outer_iter().zip(&self.query_label);
        let right: usize = rows.map(|(votes, label)| votes.iter().filter(|&vote| vote == label).count()).sum();
        right as f64 / self.votes.len() as f64
    }

    /// Share of queries on which the changed teacher votes otherwise.
    #[must_use]
    pub fn changed(&self) -> f64 {
        let rows = self.votes.outer_iter().zip(self.votes_prime.outer_iter());
        rows.filter(|(votes, changed)| votes != changed).count() as f64 / self.query_label.len() as f64
    }
}
