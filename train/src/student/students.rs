//! What trained students and their teachers answered.

use leakbound::accountant::Labeling;
use ndarray::{Array1, Array2, Array3, Array4};

/// One run: its teachers, and the students of its budgets.
#[derive(Debug, Clone, PartialEq)]
pub struct StudentRun {
    /// Share of right votes of the teachers on the images that measure.
    pub teacher_accuracy: f64,
    /// What each budget bought.
    pub labelings: Vec<Labeling>,
    /// Share of the images that measure of which each student predicts the class.
    pub student_accuracies: Vec<f64>,
}

/// Students with all that was recorded on the way; student s is number s mod B of the B budgets, in run ⌊s/B⌋.
#[derive(Debug, Clone, PartialEq)]
pub struct Students {
    /// Run by run.
    pub runs: Vec<StudentRun>,
    /// Votes on public images, \[run, query, teacher\]: a new random partition and new weights each time.
    pub pate_votes: Array3<u8>,
    /// Test image behind each query.
    pub query_index: Array1<i32>,
    /// Its class.
    pub query_label: Array1<u8>,
    /// Queries in the order in which they were asked, \[run, place\].
    pub query_order: Array2<i32>,
    /// Label that a query was given, \[run, query\]: -1 where it was turned away or not asked within the largest
    /// budget.
    pub given_label: Array2<i32>,
    /// Seed of the noise of each run.
    pub label_seed: Array1<u64>,
    /// Training images of each teacher, \[run, teacher, image\].
    pub pate_images: Array3<u32>,
    /// Whether the student was trained on the query, with its given label, \[student, query\].
    pub keep: Array2<bool>,
    /// Logits on public images, \[student, query, view, class\] with one view.
    pub logits: Array4<f32>,
    /// Test images that measure.
    pub test_index: Array1<i32>,
    /// Their classes.
    pub test_label: Array1<u8>,
    /// Logits on them, \[student, image, class\].
    pub test_logits: Array3<f32>,
    /// Some training images of the teachers.
    pub private_index: Array1<i32>,
    /// Their classes.
    pub private_label: Array1<u8>,
    /// Logits on them, \[student, image, class\].
    pub private_logits: Array3<f32>,
    /// What baselines without privacy answered, if there are any.
    pub baselines: Option<Baselines>,
}

/// Networks that were trained on the private images themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Baselines {
    /// Logits on the private images, \[network, image, class\].
    pub private_logits: Array3<f32>,
    /// Logits on the test images that measure, \[network, image, class\].
    pub test_logits: Array3<f32>,
    /// Share of the latter of which each network predicts the class.
    pub accuracies: Vec<f64>,
}
