//! Training on noisy labels (ALIBI and AGIBI), with wrong labels as canaries.

mod noise;
mod train;

pub use noise::LabelNoise;

use super::answers::{accuracy, numbers};
use super::device::TrainingDevice;
use super::ensemble::logits_of_all;
use super::guard::guarded;
use super::mislabeled::wrong_labels;
use super::network::NetworkPlan;
use super::seed::{Purpose, stream};
use super::train::TrainingPlan;
use super::training_images::TrainingImages;
use crate::progress::TrainingProgress;
use leakbound::error::{Error, Result};
use leakbound::record::ImageSet;
use ndarray::{Array1, Array2};
use rand::RngExt;
use rand::seq::index;
use serde::Serialize;
use train::train_on_noisy_labels;

/// A network trained on noisy labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlibiPlan {
    /// The network.
    pub network: NetworkPlan,
    /// Noise of the labels.
    pub noise: LabelNoise,
    /// Training images with a wrong label, drawn uniformly and by itself.
    pub canaries: usize,
    /// Training.
    pub training: TrainingPlan,
    /// Seed of everything random.
    pub seed: u64,
}

impl AlibiPlan {
    /// Steps of a training on so many images.
    #[must_use]
    pub fn steps(&self, images: usize) -> u64 {
        self.training.steps(images)
    }
}

/// What the network says about its canaries, under the names of the arrays that `label-dp memorization` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct AlibiModel {
    /// \[canary, class\].
    pub logits: Array2<f32>,
    /// The class of each canary.
    pub labels_true: Array1<i64>,
    /// The wrong class that was made noisy and trained on.
    pub labels_trained: Array1<i64>,
    /// Training image behind each canary, rising.
    pub canary_index: Array1<i32>,
    /// Share of test images that are classified rightly.
    pub test_accuracy: f64,
    /// Share of training images whose noisy label is largest at the label: what guessing without images attains.
    pub noisy_label_accuracy: f64,
}

/// Trains a network on noisy labels, canaries among them: `progress` is called after each step.
///
/// The labels of the canaries are changed first, then all labels are made noisy once. The last network is the result;
/// to choose the best of several by its accuracy would cost privacy.
///
/// # Errors
/// [`Error::Domain`] for a count of 0, [`Error::Rejected`] for more canaries than images or a training that diverges,
/// [`Error::Length`] if training and test images differ in shape, [`Error::Unavailable`] if libtorch fails.
///
/// # References
/// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", sections 5 to 7.
pub fn train_alibi(
    train: &ImageSet,
    test: &ImageSet,
    plan: &AlibiPlan,
    device: TrainingDevice,
    progress: &TrainingProgress<'_>,
) -> Result<AlibiModel> {
    check(train, test, plan)?;
    let classes = train.classes.max(test.classes);
    let random = |purpose| stream(plan.seed, purpose, 0, 0);
    let mut draws = random(Purpose::Canaries);
    let mut canaries = index::sample(&mut draws, train.len(), plan.canaries).into_vec();
    canaries.sort_unstable();
    let truth: Vec<u8> = canaries.iter().map(|&image| train.labels[image]).collect();
    let wrong = wrong_labels(&truth, classes, &mut draws);
    let mut labels: Vec<usize> = train.labels.iter().map(|&label| label.into()).collect();
    for (&image, &label) in canaries.iter().zip(&wrong) {
        labels[image] = label.into();
    }
    let noisy = plan.noise.labels(&labels, classes, random(Purpose::Labels).random())?;
    guarded("training", || {
        let [images, test_images] = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()).inputs);
        let streams = &mut [random(Purpose::Weights)];
        let mut network = plan.network.build(streams, train.shape(), classes, device.tensors());
        let order = random(Purpose::Order);
        train_on_noisy_labels(&mut *network, &images, (&noisy, plan.noise), &plan.training, order, progress)?;
        let rows: Vec<i64> = canaries.iter().map(|&image| image as i64).collect();
        let asked = images.index_select(0, &tch::Tensor::from_slice(&rows).to_device(device.tensors()));
        let answers = numbers(&logits_of_all(&*network, &asked))?;
        let right = noisy.outer_iter().zip(&labels).filter(|(noisy, label)| noisy.iter().all(|o| *o <= noisy[**label]));
        Ok(AlibiModel {
            // As many as requested.
            logits: Array2::from_shape_vec((plan.canaries, classes), answers).unwrap_or_default(),
            labels_true: truth.iter().map(|&label| label.into()).collect(),
            labels_trained: wrong.iter().map(|&label| label.into()).collect(),
            canary_index: canaries.iter().map(|&image| image as i32).collect(),
            test_accuracy: accuracy(&logits_of_all(&*network, &test_images), &test.labels.to_vec())?,
            noisy_label_accuracy: right.count() as f64 / labels.len() as f64,
        })
    })
}

fn check(train: &ImageSet, test: &ImageSet, plan: &AlibiPlan) -> Result<()> {
    plan.network.check()?;
    plan.network.check_images(train.shape())?;
    for (quantity, count) in
        [("canaries", plan.canaries), ("epochs", plan.training.epochs), ("images in a step", plan.training.batch)]
    {
        if count == 0 {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
    }
    if plan.canaries > train.len() {
        let reason = format!("{} canaries of {} training images", plan.canaries, train.len());
        return Err(Error::Rejected { operation: "ALIBI", reason });
    }
    if train.classes.max(test.classes) < 3 {
        let reason = "the audit guesses between two wrong labels, which needs at least 3 classes".into();
        return Err(Error::Rejected { operation: "ALIBI", reason });
    }
    if train.shape() != test.shape() {
        let expected = format!("that of the training images, {:?}", train.shape());
        return Err(Error::Length { quantity: "shape of test images", found: test.shape().iter().product(), expected });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceChoice, Optimizer, Schedule};
    use leakbound::label_dp::LabelCanaries;
    use leakbound::quantity::{Epsilon, NoiseScale};
    use leakbound::record::{ImagePart, MemoryBudget, read_images};

    fn plan(epsilon: f64) -> AlibiPlan {
        AlibiPlan {
            network: NetworkPlan::Mlp { hidden: 16 },
            noise: LabelNoise::alibi(Epsilon::new(epsilon).unwrap()).unwrap(),
            canaries: 100,
            training: TrainingPlan::new(
                6,
                64,
                Optimizer::Sgd { momentum: 0.9, weight_decay: 0.0, nesterov: false },
                Schedule::Constant { rate: 0.05 },
            ),
            seed: 1,
        }
    }

    fn train_on_sample(plan: &AlibiPlan) -> Result<AlibiModel> {
        let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");
        let [(train, _), (test, _)] = [ImagePart::Train, ImagePart::Test]
            .map(|part| read_images(sample, part, MemoryBudget::of_machine()).unwrap());
        train_alibi(&train, &test, plan, TrainingDevice::open(DeviceChoice::Cpu)?, &|_| {
            std::ops::ControlFlow::Continue(())
        })
    }

    #[test]
    fn a_network_learns_from_noisy_labels() {
        let model = train_on_sample(&plan(4.0)).unwrap();
        println!("{} from labels of which {} are right", model.test_accuracy, model.noisy_label_accuracy);
        // Images tell more than the noisy labels: room for other processors.
        assert!(model.noisy_label_accuracy < 0.7 && model.test_accuracy > 0.6, "{}", model.test_accuracy);
        assert_eq!(model.logits.dim(), (100, 10));
        assert!(model.labels_true.iter().zip(&model.labels_trained).all(|(truth, trained)| truth != trained));
        let classes = |labels: &Array1<i64>| labels.iter().map(|&label| label as usize).collect();
        let logits = model.logits.mapv(f64::from);
        assert!(
            LabelCanaries::from_logits(&logits, classes(&model.labels_true), classes(&model.labels_trained)).is_ok()
        );
        assert_eq!(model, train_on_sample(&plan(4.0)).unwrap());
    }

    #[test]
    fn gaussian_noise_is_another_choice() {
        let noise = LabelNoise::Gaussian(NoiseScale::new(0.7).unwrap());
        let model = train_on_sample(&AlibiPlan { noise, ..plan(4.0) }).unwrap();
        assert!(model.test_accuracy > 0.5, "{}", model.test_accuracy);
    }

    #[test]
    fn what_cannot_be_trained_is_rejected() {
        let message = |change: &dyn Fn(&mut AlibiPlan)| {
            let mut plan = plan(4.0);
            change(&mut plan);
            train_on_sample(&plan).unwrap_err().to_string()
        };
        assert_eq!(message(&|plan| plan.canaries = 0), "canaries = 0 is not in [1, inf)");
        assert_eq!(message(&|plan| plan.canaries = 2001), "ALIBI: 2001 canaries of 2000 training images");
        let diverged = message(&|plan| plan.training.schedule = Schedule::Constant { rate: 1e30 });
        assert_eq!(diverged, "ALIBI: answers are no longer finite; lower the learning rate");
    }
}
