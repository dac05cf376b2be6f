//! Training on private labels, with wrong labels as canaries.

mod lab;
mod mechanism;
mod plan;
mod private_labels;
mod stages;

pub use mechanism::LabelMechanism;
pub use plan::LabelDpPlan;

use super::canaries::MislabeledImages;
use super::context::TrainingContext;
use super::ensemble::{CrossEntropy, Loss};
use super::label_dp::private_labels::PosteriorLoss;
use crate::checks::reject;
use lab::{Lab, LastAnswers};
use leakbound::error::Result;
use ndarray::{Array1, Array2, Array3};
use private_labels::{PrivateLabels, randomized};
use stages::in_stages;

/// What models answer on their canaries, under the names of the arrays that `label-dp memorization` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelDpModels {
    /// \[model, canary, class\].
    pub logits: Array3<f32>,
    /// \[model, canary\]: the class of each canary.
    pub labels_true: Array2<i64>,
    /// \[model, canary\]: the wrong class that was made private and trained on.
    pub labels_trained: Array2<i64>,
    /// \[model, canary\]: training image behind each canary, rising.
    pub canary_index: Array2<i32>,
    /// \[model\]: share of test images that are classified correctly.
    pub test_accuracy: Array1<f64>,
    /// \[model\]: share of training images whose private label is largest at the label: the accuracy of guessing
    /// without images.
    pub private_label_accuracy: Array1<f64>,
}

/// Trains networks on private labels, canaries among them. Progress counts networks.
///
/// Each model has its own canaries, noise, initial weights and order. The labels of its canaries are changed first,
/// then all labels are made private once. The last network is the result; to choose the best of several by its accuracy
/// would cost privacy. The guarantee is that of one model; all models together know every label once per model.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0, [`Error::Rejected`](leakbound::Error::Rejected) for
/// more canaries than images, stages without images or a training that diverges,
/// [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", sections 5 to 7; Ghazi et
/// al. (2021), "Deep learning with label differential privacy", Algorithm 3.
pub fn train_label_dp(context: &TrainingContext<'_>, plan: &LabelDpPlan) -> Result<LabelDpModels> {
    plan.check(context)?;
    let classes = context.classes();
    let truth = context.train.labels.to_vec();
    let draw = |model: usize| MislabeledImages::draw(&truth, classes, plan.canaries, (plan.seed, model as u64));
    let canaries: Vec<MislabeledImages> = (0..plan.models).map(draw).collect();
    let lab = Lab::new(context, plan, &canaries)?;
    let (answers, accuracies) = match &plan.mechanism {
        LabelMechanism::NotPrivate => {
            at_once(&lab, &CrossEntropy, |_, labels| Ok(PrivateLabels::one_hot(labels, labels, classes)))?
        }
        LabelMechanism::Alibi(lambda) => at_once(&lab, &PosteriorLoss, |model, labels| {
            PrivateLabels::alibi(labels, classes, *lambda, (plan.seed, model))
        })?,
        LabelMechanism::Agibi(sigma) => at_once(&lab, &PosteriorLoss, |model, labels| {
            PrivateLabels::agibi(labels, classes, *sigma, (plan.seed, model))
        })?,
        LabelMechanism::RandomizedResponse(epsilon) => at_once(&lab, &CrossEntropy, |model, labels| {
            let given = randomized(labels, classes, *epsilon, (plan.seed, model))?;
            Ok(PrivateLabels::one_hot(&given, labels, classes))
        })?,
        LabelMechanism::MultiStage { epsilon, shares } => in_stages(&lab, *epsilon, shares)?,
    };
    if answers.iter().flat_map(|answers| &answers.canaries).any(|logit| !logit.is_finite()) {
        return reject("label privacy", "logits are not finite: training diverged; take a smaller learning rate");
    }
    let of_canaries = |value: &dyn Fn(&MislabeledImages, usize) -> i64| {
        Array2::from_shape_fn((plan.models, plan.canaries), |(model, canary)| value(&canaries[model], canary))
    };
    Ok(LabelDpModels {
        logits: Array3::from_shape_fn((plan.models, plan.canaries, classes), |(model, canary, class)| {
            answers[model].canaries[canary * classes + class]
        }),
        labels_true: of_canaries(&|canaries, canary| canaries.truth[canary].into()),
        labels_trained: of_canaries(&|canaries, canary| canaries.wrong[canary].into()),
        canary_index: of_canaries(&|canaries, canary| canaries.images[canary].into()).mapv(|image| image as i32),
        test_accuracy: answers.iter().map(|answers| answers.test_accuracy).collect(),
        private_label_accuracy: accuracies.into(),
    })
}

/// Trains every model on all its images: the labels of a model come from its number and the labels it is given.
fn at_once(
    lab: &Lab<'_>,
    loss: &dyn Loss,
    private: impl Fn(u64, &[u8]) -> Result<PrivateLabels>,
) -> Result<(Vec<LastAnswers>, Vec<f64>)> {
    let (mut targets, mut accuracies) = (Vec::new(), Vec::new());
    for (model, labels) in lab.labels.iter().enumerate() {
        let labels = private(model as u64, labels)?;
        targets.extend(labels.targets);
        accuracies.push(labels.accuracy);
    }
    let tables = lab.tables(|model| lab.all_of(model));
    Ok((lab.last(0, loss, &tables, &targets)?, accuracies))
}

#[cfg(test)]
mod tests;
