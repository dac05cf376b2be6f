//! What a student, its teachers and its rival answered.

use leakbound::accountant::Labeling;
use ndarray::{Array1, Array2};

/// Students of PATE-FM, run by run.
#[derive(Debug, Clone, PartialEq)]
pub struct PateFmModels {
    /// Each with canaries, a partition and noise of its own.
    pub runs: Vec<PateFmRun>,
}

/// A run: the teachers, their labels, the student and what it says about its canaries.
#[derive(Debug, Clone, PartialEq)]
pub struct PateFmRun {
    /// Logits of the student on its canaries, \[canary, class\].
    pub logits: Array2<f32>,
    /// The class of each canary.
    pub labels_true: Array1<i64>,
    /// The wrong class that a teacher was trained on.
    pub labels_trained: Array1<i64>,
    /// Training image behind each canary, rising.
    pub canary_index: Array1<i32>,
    /// Votes \[query, teacher\] on all N queries, made or not.
    pub votes: Array2<u8>,
    /// Training image behind each of them, in the order in which they are made.
    pub query_index: Array1<i32>,
    /// The label that each was given: -1 where there was no answer, or no query any more.
    pub given_label: Array1<i32>,
    /// Whether the student was trained on it.
    pub used: Array1<bool>,
    /// Seed of the noise.
    pub label_seed: u64,
    /// Queries that were made, answers, how many of them are right, and their data-dependent ε, which depends on the
    /// votes and guarantees nothing when it is published.
    pub labeling: Labeling,
    /// Whether the student got all the labels that it wanted.
    pub complete: bool,
    /// Share of test images that each teacher classifies rightly.
    pub teacher_accuracy: Array1<f64>,
    /// Share of test images of which the plurality of the teachers, without noise, is the class.
    pub ensemble_accuracy: f64,
    /// Share of test images that the student classifies rightly.
    pub test_accuracy: f64,
    /// The same for a network that was trained on the student's labels, for as many steps, and on nothing else.
    pub supervised_accuracy: f64,
}
