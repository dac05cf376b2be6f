//! Networks trained privately many times, with and without one canary.

use super::plan::{DpSgdBudget, DpSgdPlan};
use super::train::{PrivateLesson, TrainingStreams, train_privately};
use crate::answers::{accuracy, indices, numbers};
use crate::augment::Augmenter;
use crate::checkpoint::one_kept_or_made;
use crate::checks::{check_counts, reject};
use crate::context::TrainingContext;
use crate::ensemble::{CrossEntropy, check_finite, logits_of_all};
use crate::guard::{guarded, report};
use crate::network::NetworkPlan;
use crate::optimizer::{Optimizer, Schedule};
use crate::seed::{Purpose, shuffled, stream};
use crate::train::{Lesson, TrainingPlan, train};
use crate::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use ndarray::{Array1, Array2};
use serde::Serialize;
use tch::{Kind, Tensor};

/// Images in a step that makes initial weights.
const BATCH: usize = 64;
/// Learning rate of Adam for initial weights.
const RATE: f64 = 1e-3;

/// One canary, networks that are trained with it and networks that are not, all from the same initial weights and on
/// the same other images.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedRunsPlan {
    /// The network.
    pub network: NetworkPlan,
    /// R: networks with the canary, and the same number without it.
    pub runs: usize,
    /// Images that all networks are trained on.
    pub images: usize,
    /// The image of the canary.
    pub canary: RepeatedCanary,
    /// The initial weights of every training.
    pub initial: InitialWeights,
    /// The training of each.
    pub training: DpSgdPlan,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The image of the canary. Its label is the class that is least likely under the initial weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepeatedCanary {
    /// An image of zeros, unlike any other.
    Blank,
    /// A training image.
    Mislabeled,
}

/// The weights that every training begins with: an adversary of differential privacy may choose them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialWeights {
    /// Random weights, as usual in training.
    Random,
    /// Those of a network that has learned images of the same kind for this many epochs without noise, which the
    /// private trainings do not have: their own images then have small gradients, and the canary stands out.
    Learned {
        /// Passes over those images.
        epochs: usize,
    },
}

/// What networks answer on the canary.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedRuns {
    /// \[world, run\]: ln of the probability of the canary's label under the last network; world 0 has the canary.
    pub scores: Array2<f64>,
    /// \[world, run\]: share of test images that the network classifies correctly.
    pub test_accuracy: Array2<f32>,
    /// The label of the canary.
    pub label: u8,
    /// The training image behind the canary; none for a blank one.
    pub canary_index: Option<u32>,
    /// The images of every network.
    pub train_index: Array1<i32>,
    /// Share of test images that the initial weights classify correctly.
    pub initial_accuracy: f32,
    /// Sampling rate, steps, noise and ε of a network.
    pub budget: DpSgdBudget,
}

/// Trains 2R networks by DP-SGD and scores the canary by the last iterate of each. Progress counts the steps of every
/// network.
///
/// Runs are independent given the initial weights and the images, and differ in sampling and noise alone: their scores
/// are independent draws of what a training without the canary, and one with it, shows to an adversary who sees the last
/// network. The sampling rate is that of a training without the canary, in both worlds.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count of 0; [`Error::Rejected`](leakbound::Error::Rejected) if there
/// are too few images and for a training that diverges; those of [`DpSgdPlan::budget`];
/// [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape;
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails; those of the checkpoint.
///
/// # References
/// Annamalai and De Cristofaro (2024), "Nearly tight black-box auditing of differentially private machine learning",
/// section 4: initial weights that were trained beforehand; Nasr et al. (2021), "Adversary instantiation", section 4,
/// for audits of the last model over many runs.
pub fn train_repeated_runs(context: &TrainingContext<'_>, plan: &RepeatedRunsPlan) -> Result<RepeatedRuns> {
    let &TrainingContext { train: set, test, device, .. } = context;
    let (shape, classes, tensors) = (set.shape(), context.classes(), device.tensors());
    let budget = plan.checked_budget(context)?;
    let order = shuffled(set.len(), stream(plan.seed, Purpose::Split, 0, 0));
    let (canary, others) = (order[0], &order[1..]);
    let (private, auxiliary) = others.split_at(plan.images);
    let (images, test_images, initial, label, initial_accuracy) = guarded("training", || {
        let images = TrainingImages::of(set, classes, tensors);
        let test_images = TrainingImages::of(test, classes, tensors).inputs;
        let weights = &mut [stream(plan.seed, Purpose::Weights, 0, 0)];
        let mut network = plan.network.build(weights, shape, classes, tensors);
        if let InitialWeights::Learned { epochs } = plan.initial {
            let examples = Example::all(auxiliary);
            let learning = TrainingPlan::new(epochs, BATCH, Optimizer::ADAM, Schedule::Constant { rate: RATE });
            let (steps, tables) = (learning.steps(examples.len()), &[examples]);
            let lesson = Lesson { images: &images, tables, plan: &learning, steps, loss: &CrossEntropy };
            train(&mut *network, &lesson, vec![stream(plan.seed, Purpose::Order, 0, 0)], Augmenter::default());
            check_finite(network.parameters(), "initial weights")?;
        }
        let row = images.inputs.narrow(0, canary.into(), 1);
        let input = match plan.canary {
            RepeatedCanary::Blank => row.zeros_like(),
            RepeatedCanary::Mislabeled => row,
        };
        let likely = numbers(&logits_of_all(&*network, &input))?;
        let truth = (plan.canary == RepeatedCanary::Mislabeled).then(|| usize::from(set.labels[canary as usize]));
        let label = least_likely(&likely, truth);
        let initial_accuracy = accuracy(&logits_of_all(&*network, &test_images), &test.labels.to_vec())? as f32;
        // The canary is behind all training images.
        let inputs = Tensor::cat(&[&images.inputs, &input], 0);
        let images = TrainingImages { inputs, ..images.and_targets(&[label], classes) };
        let initial: Vec<Tensor> = network.parameters().iter().map(Tensor::copy).collect();
        Ok((images, test_images, initial, label, initial_accuracy))
    })?;
    let place = set.len() as u32;
    let fixed = Example::all(private);
    let with_canary: Vec<Example> = fixed.iter().copied().chain([Example { image: place, target: place }]).collect();
    let run = |(number, images, test_images, initial): (usize, TrainingImages, Tensor, Vec<Tensor>)| {
        let examples = if number < plan.runs { &with_canary } else { &fixed };
        let tensors = (&images, &test_images, &*initial);
        trained_run(context, (plan, &budget), number, (examples, usize::from(label)), tensors)
    };
    let share = |number| {
        let initial = initial.iter().map(Tensor::shallow_clone).collect();
        (number, images.share(), test_images.shallow_clone(), initial)
    };
    let answers = device.each((0..2 * plan.runs).map(share).collect(), run)?;
    let (scores, test_accuracy): (Vec<f64>, Vec<f32>) = answers.into_iter().unzip();
    let shape = (2, plan.runs);
    Ok(RepeatedRuns {
        // One per world and run.
        scores: Array2::from_shape_vec(shape, scores).unwrap_or_default(),
        test_accuracy: Array2::from_shape_vec(shape, test_accuracy).unwrap_or_default(),
        label,
        canary_index: (plan.canary == RepeatedCanary::Mislabeled).then_some(canary),
        train_index: indices(private),
        initial_accuracy,
        budget,
    })
}

impl RepeatedRunsPlan {
    /// Sampling rate, steps, noise and ε of a network.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0; those of [`DpSgdPlan::budget`].
    pub fn budget(&self) -> Result<DpSgdBudget> {
        let epochs = match self.initial {
            InitialWeights::Random => 1,
            InitialWeights::Learned { epochs } => epochs,
        };
        check_counts([("runs", self.runs), ("images", self.images), ("epochs of initial weights", epochs)])?;
        self.training.budget(self.images)
    }

    /// The budget of a plan that fits the images.
    fn checked_budget(&self, context: &TrainingContext<'_>) -> Result<DpSgdBudget> {
        self.network.check()?;
        self.network.check_images(context.train.shape())?;
        let budget = self.budget()?;
        context.check_shapes()?;
        context.check_wrong_labels()?;
        // The canary's image, and one that initial weights are learned from.
        let besides = match self.initial {
            InitialWeights::Random => 1,
            InitialWeights::Learned { .. } => 2,
        };
        let available = context.train.len();
        if self.images > available.saturating_sub(besides) {
            let reason = match self.initial {
                InitialWeights::Random => "a canary",
                InitialWeights::Learned { .. } => "a canary, and others that initial weights are learned from",
            };
            let reason = format!("{} images and {reason}, of {available} training images", self.images);
            return reject("DP-SGD", reason);
        }
        Ok(budget)
    }
}

/// The class of the smallest logit, but for the true one.
fn least_likely(logits: &[f32], truth: Option<usize>) -> u8 {
    let wrong = logits.iter().enumerate().filter(|&(class, _)| Some(class) != truth);
    wrong.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class as u8)
}

/// The score of the canary and the accuracy on the test images after one training from the initial weights.
fn trained_run(
    context: &TrainingContext<'_>,
    (plan, budget): (&RepeatedRunsPlan, &DpSgdBudget),
    number: usize,
    (examples, label): (&[Example], usize),
    (images, test_images, initial): (&TrainingImages, &Tensor, &[Tensor]),
) -> Result<(f64, f32)> {
    let &TrainingContext { train: set, test, device, progress, checkpoint } = context;
    let train_and_ask = || {
        let weights = &mut [stream(plan.seed, Purpose::Weights, 0, 0)];
        let mut network = plan.network.build(weights, set.shape(), context.classes(), device.tensors());
        for (parameter, value) in network.parameters().iter_mut().zip(initial) {
            *parameter = value.copy();
        }
        let mut streams = TrainingStreams::new(plan.seed, 1, number);
        let shape = set.shape();
        let lesson = PrivateLesson { images, examples, views: None, shape, plan: &plan.training, budget };
        let network = train_privately(network, &lesson, &mut streams, progress)?;
        let canary = images.inputs.narrow(0, set.len() as i64, 1);
        let shown = numbers(&logits_of_all(&*network, &canary).log_softmax(-1, Kind::Float))?;
        let accuracy = accuracy(&logits_of_all(&*network, test_images), &test.labels.to_vec())?;
        Ok((f64::from(shown[label]), accuracy as f32))
    };
    let found = || report(progress, budget.steps.steps);
    one_kept_or_made(checkpoint, (0, number), found, || guarded("training", train_and_ask))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::train_on_sample;
    use leakbound::audit::{CanaryScores, ThresholdSelection, audit_scores};
    use leakbound::bound::Direction;
    use leakbound::quantity::{Delta, FailureProbability};

    fn plan(noise: f64, initial: InitialWeights) -> RepeatedRunsPlan {
        RepeatedRunsPlan {
            network: NetworkPlan::Mlp { hidden: 8 },
            runs: 40,
            images: 50,
            canary: RepeatedCanary::Blank,
            initial,
            // Every image takes part in every step.
            training: DpSgdPlan::plain(noise, 50, 10, 0.5),
            seed: 1,
        }
    }

    /// ε at δ = 1e-5 from all thresholds.
    fn bound(runs: &RepeatedRuns) -> f64 {
        let side = |world| runs.scores.row(world).to_vec();
        let scores = CanaryScores::new(side(0), side(1)).unwrap();
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        let evidence = audit_scores(&scores, ThresholdSelection::Uniform, delta, failure, 0).unwrap();
        evidence.epsilon(delta, Direction::Forward).value
    }

    /// With little noise the canary is seen, more clearly from learned weights; the bound is never above ε, and two runs
    /// agree.
    #[test]
    fn a_canary_is_seen_by_the_last_network_and_its_bound_holds() {
        let learned = InitialWeights::Learned { epochs: 3 };
        let [random, chosen] = [InitialWeights::Random, learned]
            .map(|initial| train_on_sample(train_repeated_runs, &plan(1.0, initial)).unwrap());
        for runs in [&random, &chosen] {
            let found = bound(runs);
            println!("{found} of {:?}, accuracy {}", runs.budget, runs.initial_accuracy);
            assert!(found > 0.3 && found <= runs.budget.epsilon.get());
        }
        assert!(chosen.initial_accuracy > random.initial_accuracy + 0.3);
        assert_eq!(chosen, train_on_sample(train_repeated_runs, &plan(1.0, learned)).unwrap());
    }

    /// With so much noise that ε is 0.1 the two worlds look alike.
    #[test]
    fn much_noise_hides_the_canary() {
        let mut plan = plan(200.0, InitialWeights::Random);
        plan.canary = RepeatedCanary::Mislabeled;
        let runs = train_on_sample(train_repeated_runs, &plan).unwrap();
        assert!(runs.budget.epsilon.get() < 0.2 && runs.canary_index.is_some());
        assert!(bound(&runs) <= runs.budget.epsilon.get());
    }

    #[test]
    fn the_label_is_wrong_and_unlikely() {
        assert_eq!(least_likely(&[0.3, -2.0, 5.0, -2.5], None), 3);
        assert_eq!(least_likely(&[0.3, -2.0, 5.0, -2.5], Some(3)), 1);
    }

    #[test]
    fn too_few_images_are_rejected() {
        let mut plan = plan(1.0, InitialWeights::Learned { epochs: 1 });
        plan.images = 1_999;
        let message = train_on_sample(train_repeated_runs, &plan).unwrap_err().to_string();
        assert_eq!(
            message,
            "DP-SGD: 1999 images and a canary, and others that initial weights are learned from, of 2000 training images"
        );
        plan.runs = 0;
        assert_eq!(train_on_sample(train_repeated_runs, &plan).unwrap_err().to_string(), "runs = 0 is not in [1, inf)");
    }
}
