//! The input and output of a defense, and the default without one.

use crate::answers::logits;
use crate::groups::Trainer;
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use crate::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use ndarray::Array5;
use tch::Tensor;

/// The one training of a shadow model that is a single network, for `Trainer::train_and_ask`.
pub(crate) const PHASE: u64 = 0;

/// The images that every shadow model is queried on, [V · A + N + T, F]: view by view the A attacked samples, then the
/// nearest neighbors of these if they are asked about, then the T test images.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queries {
    /// Training images of every model: the audited samples are behind them.
    pub fixed: usize,
    /// A.
    pub attacked: usize,
    /// V.
    pub views: usize,
    /// N: A or 0.
    pub neighbors: usize,
    /// \[channels, rows, columns\] of an image, F pixels.
    pub image: [usize; 3],
}

impl Queries {
    /// Queries before the test images.
    pub const fn before_tests(self) -> usize {
        self.views * self.attacked + self.neighbors
    }
}

/// Shadow models to be trained.
pub(crate) struct Task<'a> {
    /// Training of a network by cross-entropy.
    pub trainer: Trainer<'a>,
    /// Images of all models, with one-hot labels: the fixed ones, then the audited samples, the first of which are
    /// attacked.
    pub images: &'a TrainingImages,
    /// Training images of each model.
    pub tables: &'a [Vec<Example>],
    /// Images queried on.
    pub asked: &'a Tensor,
    /// The kind of the queries.
    pub queries: Queries,
    /// Place of each neighbor among the images.
    pub neighbors: &'a [u32],
    /// \[test image\].
    pub test_labels: &'a [u8],
}

/// What one shadow model answers: logits \[query, class\] of all queries, then the further answers of its defense.
pub(crate) type Answers = Vec<Vec<f32>>;

/// Answers of a defense besides the logits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Further {
    /// The array of the recording.
    pub name: &'static str,
    /// What the mean over the models is called, of one number for each.
    pub mean: Option<&'static str>,
    /// Its shape, without the leading dimension that counts models.
    pub shape: Vec<usize>,
    /// What a figure of it shows.
    pub shown: Shown,
}

impl Further {
    /// Numbers alone.
    pub const fn new(name: &'static str, shape: Vec<usize>) -> Self {
        Self { name, mean: None, shape, shown: Shown::Nothing }
    }

    /// One number for each model.
    pub const fn of_models(name: &'static str, mean: &'static str) -> Self {
        Self { name, mean: Some(mean), shape: Vec::new(), shown: Shown::Nothing }
    }
}

/// A defense.
pub(crate) trait Method: Sync {
    /// Networks that progress counts for one shadow model; a network that others are distilled from may count with them
    /// as one.
    fn networks(&self) -> u64 {
        1
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a parameter that is out of range,
    /// [`Error::Rejected`](leakbound::Error::Rejected) for parameters that conflict or do not fit the classes.
    fn check(&self, _classes: usize) -> Result<()> {
        Ok(())
    }

    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) for a network, a training or images of a shape that lack what the
    /// defense needs.
    fn check_training(&self, _network: NetworkPlan, _training: &TrainingPlan, _image: [usize; 3]) -> Result<()> {
        Ok(())
    }

    /// Answers besides the logits, for C classes.
    fn further(&self, _queries: Queries, _classes: usize) -> Vec<Further> {
        Vec::new()
    }

    /// Views of the first attacked samples that models are asked about instead of them, for visual inspection:
    /// \[sample, view, channel, row, column\] in [0, 1]. None for a defense without its own views.
    ///
    /// # Errors
    /// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
    fn views(&self, _task: &Task<'_>) -> Result<Option<Array5<f32>>> {
        Ok(None)
    }

    /// Trains a model on each table, and asks it.
    ///
    /// # Errors
    /// Those of [`Trainer::train_and_ask`], and images that do not fit the defense.
    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>>;
}

/// What a figure of an array shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Nothing.
    Nothing,
    /// Images: \[model, image, channel, row, column\] in [0, 1].
    Images,
    /// A course: \[model, iteration\].
    Iterations,
}

/// Mean cross-entropy on the labels.
pub(crate) struct Undefended;

impl Method for Undefended {
    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        let Task { trainer, images, tables, asked, .. } = task;
        trainer.train_and_ask(PHASE, images, tables, asked, &|networks, _, asked| {
            Ok(logits(networks, asked)?.into_iter().map(|logits| vec![logits]).collect())
        })
    }
}
