//! Images, and the networks that are trained on them.

use super::plan::LabelDpPlan;
use crate::answers::numbers;
use crate::canaries::MislabeledImages;
use crate::context::TrainingContext;
use crate::ensemble::{Ensemble, Loss, logits_of_all, logits_of_each};
use crate::groups::Trainer;
use crate::guard::guarded;
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tch::{Kind, TchError, Tensor};

/// What a finished network answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LastAnswers {
    /// Logits \[canary, class\], flat.
    pub canaries: Vec<f32>,
    /// Share of test images that are classified correctly.
    pub test_accuracy: f64,
}

/// Everything that networks of all stages are trained with.
pub(super) struct Lab<'a> {
    pub plan: &'a LabelDpPlan,
    /// Canaries of each model.
    pub canaries: &'a [MislabeledImages],
    /// Labels of all training images as each model is to learn them, those of its canaries wrong.
    pub labels: Vec<Vec<u8>>,
    pub classes: usize,
    trainer: Trainer<'a>,
    /// Training images, and test images behind them.
    images: Tensor,
    /// Number of training images.
    trained: usize,
    test_labels: Vec<i64>,
}

impl<'a> Lab<'a> {
    pub fn new(context: &TrainingContext<'a>, plan: &'a LabelDpPlan, canaries: &'a [MislabeledImages]) -> Result<Self> {
        let &TrainingContext { train, test, device, .. } = context;
        let classes = context.classes();
        let images = guarded("images", || {
            let parts = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()).inputs);
            Ok(Tensor::cat(&parts, 0))
        })?;
        Ok(Self {
            plan,
            canaries,
            labels: canaries.iter().map(|canaries| canaries.among(&train.labels.to_vec())).collect(),
            classes,
            trainer: context.trainer(plan.network, &plan.training, plan.seed),
            images,
            trained: train.len(),
            test_labels: test.labels.iter().map(|&label| label.into()).collect(),
        })
    }

    /// The examples of each model from its images; each model has its own targets.
    pub fn tables(&self, images: impl Fn(usize) -> Vec<u32>) -> Vec<Vec<Example>> {
        let table = |model: usize| {
            let target = |image: u32| (model * self.trained) as u32 + image;
            images(model).into_iter().map(|image| Example { image, target: target(image) }).collect()
        };
        (0..self.plan.models).map(table).collect()
    }

    /// All images, for a model that learns them all.
    pub fn all_of(&self, _model: usize) -> Vec<u32> {
        (0..self.trained as u32).collect()
    }

    /// Trains the networks of the last stage on targets \[model, image, class\], and asks them about canaries and test
    /// images.
    pub fn last(
        &self,
        phase: u64,
        loss: &dyn Loss,
        tables: &[Vec<Example>],
        targets: &[f32],
    ) -> Result<Vec<LastAnswers>> {
        // Tensors cannot be seen by two threads: what is asked knows of no other than its own.
        let (trained, canaries, labels) = (self.trained as i64, self.canaries, &self.test_labels);
        let ask = |networks: &mut dyn Ensemble, models: Range<usize>, images: &Tensor| {
            let canaries = logits_of_canaries(networks, &canaries[models], images)?;
            let test = images.narrow(0, trained, images.size()[0] - trained);
            let labels = Tensor::from_slice(labels).to_device(images.device());
            let right = logits_of_all(networks, &test).argmax(-1, false).eq_tensor(&labels);
            let right = right.to_kind(Kind::Double).mean_dim([-1i64].as_slice(), false, Kind::Double);
            let accuracies: Vec<f64> = right.try_into()?;
            let answers = canaries.into_iter().zip(accuracies);
            Ok(answers.map(|(canaries, test_accuracy)| LastAnswers { canaries, test_accuracy }).collect())
        };
        let trainer = Trainer { loss, ..self.trainer };
        trainer.train_and_ask(phase, &self.examples(targets)?, tables, &self.images, &ask)
    }

    /// Trains the networks of an earlier stage by cross-entropy, and makes something of each model's number and its
    /// probabilities \[image, class\] of all training images, flat.
    pub fn ask_all<T: Send + Serialize + serde::de::DeserializeOwned>(
        &self,
        phase: u64,
        tables: &[Vec<Example>],
        targets: &[f32],
        make: &(dyn Fn(usize, &[f32]) -> Result<T> + Sync),
    ) -> Result<Vec<T>> {
        let trained = self.trained as i64;
        let ask = |networks: &mut dyn Ensemble, models: Range<usize>, images: &Tensor| {
            let logits = logits_of_all(networks, &images.narrow(0, 0, trained));
            let answers = models.enumerate().map(|(place, model)| {
                let probabilities = logits.select(0, place as i64).softmax(-1, Kind::Float);
                let made = numbers(&probabilities).and_then(|numbers| make(model, &numbers));
                made.map_err(|error| TchError::Convert(error.to_string()))
            });
            answers.collect()
        };
        self.trainer.train_and_ask(phase, &self.examples(targets)?, tables, &self.images, &ask)
    }

    fn examples(&self, targets: &[f32]) -> Result<TrainingImages> {
        let (trained, classes) = (self.trained as i64, self.classes as i64);
        guarded("images", || {
            let targets = Tensor::from_slice(targets).view([-1, classes]).to_device(self.images.device());
            Ok(TrainingImages { inputs: self.images.narrow(0, 0, trained), targets })
        })
    }
}

/// Logits \[canary, class\] of each network for its own canaries, flat.
fn logits_of_canaries(
    networks: &dyn Ensemble,
    canaries: &[MislabeledImages],
    images: &Tensor,
) -> std::result::Result<Vec<Vec<f32>>, TchError> {
    let own = rows_of(images, canaries.iter().flat_map(|model| model.images.iter().copied()));
    let each = own.size()[0] / networks.networks();
    logits_of_each(networks, &own.view([networks.networks(), each, -1])).flatten(1, -1).try_into()
}
