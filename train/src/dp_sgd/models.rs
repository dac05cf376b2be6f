//! Private networks trained with and without each canary.

use super::plan::{DpSgdBudget, DpSgdPlan, TrainingViews, fixed_images};
use super::train::{PrivateLesson, TrainingStreams, train_privately};
use crate::answers::{accuracy, indices, numbers};
use crate::canaries::wrong_labels;
use crate::checkpoint::one_kept_or_made;
use crate::checks::check_counts;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::guard::{guarded, report};
use crate::network::NetworkPlan;
use crate::seed::{Purpose, shuffled, stream};
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use leakbound::record::ImageSet;
use ndarray::{Array1, Array2, Array4};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use serde::Serialize;
use tch::Tensor;

/// M networks trained privately, each on the same images and on half of the canaries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrivateModelsPlan {
    /// The network.
    pub network: NetworkPlan,
    /// M. Each canary is in ⌊M/2⌋ or ⌈M/2⌉ of them; for one network, each is in by a separate fair coin.
    pub models: usize,
    /// Images that every network is trained on; none for all that are not canaries.
    pub images: Option<usize>,
    /// Training images with a wrong label, drawn uniformly and independently.
    pub canaries: usize,
    /// The training of each.
    pub training: DpSgdPlan,
    /// Views of each image whose gradients are averaged before they are clipped; none for the image itself.
    pub views: Option<TrainingViews>,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl PrivateModelsPlan {
    /// Sampling rate, steps, noise and ε of each network, for this number of training images: those of a training on
    /// the images of all networks and half of the canaries.
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if there are too few images, those of [`DpSgdPlan::budget`].
    pub fn budget(&self, available: usize) -> Result<DpSgdBudget> {
        check_counts([("models", self.models), ("canaries", self.canaries)])?;
        self.training.budget(fixed_images(self.images, self.canaries, available)? + self.canaries.div_ceil(2))
    }
}

/// What private networks answer on the canaries, under the names of the arrays that `membership lira` reads.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivateModels {
    /// \[model, canary, 1, class\]: of the image itself.
    pub logits: Array4<f32>,
    /// Whether the model was trained with the canary, \[model, canary\].
    pub keep: Array2<bool>,
    /// The wrong class of each canary.
    pub labels: Array1<i64>,
    /// Training image behind each canary.
    pub audit_index: Array1<i32>,
    /// The other training images of all models.
    pub train_index: Array1<i32>,
    /// Share of test images that each model classifies correctly.
    pub test_accuracy: Array1<f32>,
}

/// Trains networks by DP-SGD. Progress counts the steps of every network.
///
/// # Errors
/// Those of [`PrivateModelsPlan::budget`], [`Error::Length`](leakbound::Error::Length) if training and test images differ
/// in shape, [`Error::Rejected`](leakbound::Error::Rejected) for a training that diverges,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails, those of the checkpoint.
///
/// # References
/// Abadi et al. (2016), "Deep learning with differential privacy"; De et al. (2022), "Unlocking high-accuracy
/// differentially private image classification through scale"; Aerni, Zhang and Tramèr (2024), "Evaluations of machine
/// learning privacy defenses are misleading", for canaries and baseline.
pub fn train_private_models(context: &TrainingContext<'_>, plan: &PrivateModelsPlan) -> Result<PrivateModels> {
    let budget = checked_budget(context, plan)?;
    let &TrainingContext { train, test, device, .. } = context;
    let classes = context.classes();
    let draw = Draw::new(train, classes, plan)?;
    let (images, test_images) = guarded("images", || {
        let [images, tests] = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()));
        Ok((images.and_targets(&draw.labels, classes), tests.inputs))
    })?;
    let answers_of = |(model, images, test_images): (usize, TrainingImages, Tensor)| {
        trained_answers(context, (plan, &budget), &draw, model, (&images, &test_images))
    };
    let work = (0..plan.models).map(|model| (model, images.share(), test_images.shallow_clone())).collect();
    let (answers, test_accuracy): (Vec<Vec<f32>>, Vec<f32>) = device.each(work, answers_of)?.into_iter().unzip();
    let shape = (plan.models, plan.canaries, 1, classes);
    Ok(PrivateModels {
        // One per model, canary and class.
        logits: Array4::from_shape_vec(shape, answers.concat()).unwrap_or_default(),
        labels: draw.labels.iter().map(|&label| label.into()).collect(),
        audit_index: indices(&draw.canaries),
        train_index: indices(&draw.fixed),
        test_accuracy: test_accuracy.into(),
        keep: draw.keep,
    })
}

/// The budget of a plan that fits the images.
fn checked_budget(context: &TrainingContext<'_>, plan: &PrivateModelsPlan) -> Result<DpSgdBudget> {
    let shape = context.train.shape();
    plan.network.check()?;
    plan.network.check_images(shape)?;
    let budget = plan.budget(context.train.len())?;
    context.check_shapes()?;
    plan.views.map_or(Ok(()), |views| views.check(shape))?;
    context.check_wrong_labels()?;
    Ok(budget)
}

/// Which images are canaries, and which networks meet them.
struct Draw {
    canaries: Vec<u32>,
    /// Images of every network.
    fixed: Vec<u32>,
    /// The wrong class of each canary.
    labels: Vec<u8>,
    /// \[model, canary\].
    keep: Array2<bool>,
}

impl Draw {
    fn new(train: &ImageSet, classes: usize, plan: &PrivateModelsPlan) -> Result<Self> {
        let order = shuffled(train.len(), stream(plan.seed, Purpose::Split, 0, 0));
        let (canaries, others) = order.split_at(plan.canaries);
        let fixed = others[..fixed_images(plan.images, plan.canaries, train.len())?].to_vec();
        let truth: Vec<u8> = canaries.iter().map(|&image| train.labels[image as usize]).collect();
        let mut draws = stream(plan.seed, Purpose::Canaries, 0, 0);
        let labels = wrong_labels(&truth, classes, &mut draws);
        let keep = halves(plan.models, plan.canaries, &mut draws);
        Ok(Self { canaries: canaries.to_vec(), fixed, labels, keep })
    }

    /// What a model is trained on; the wrong labels are behind those of the `available` training images.
    fn examples(&self, model: usize, available: usize) -> Vec<Example> {
        let kept = self.keep.row(model);
        let with_wrong_label = (0..self.canaries.len())
            .filter(|&canary| kept[canary])
            .map(|canary| Example { image: self.canaries[canary], target: (available + canary) as u32 });
        self.fixed.iter().map(|&image| Example::labeled(image)).chain(with_wrong_label).collect()
    }
}

/// The logits of one network on the canaries, and its accuracy on the test images.
fn trained_answers(
    context: &TrainingContext<'_>,
    (plan, budget): (&PrivateModelsPlan, &DpSgdBudget),
    draw: &Draw,
    model: usize,
    (images, test_images): (&TrainingImages, &Tensor),
) -> Result<(Vec<f32>, f32)> {
    let &TrainingContext { train, test, device, progress, checkpoint } = context;
    let shape = train.shape();
    let train_and_ask = || {
        let weights = &mut [stream(plan.seed, Purpose::Weights, 0, model as u64)];
        let network = plan.network.build(weights, shape, context.classes(), device.tensors());
        let mut streams = TrainingStreams::new(plan.seed, 0, model);
        let examples = &draw.examples(model, train.len());
        let lesson = PrivateLesson { images, examples, views: plan.views, shape, plan: &plan.training, budget };
        let network = train_privately(network, &lesson, &mut streams, progress)?;
        let canaries = rows_of(&images.inputs, draw.canaries.iter().copied());
        let accuracy = accuracy(&logits_of_all(&*network, test_images), &test.labels.to_vec())?;
        Ok((numbers(&logits_of_all(&*network, &canaries))?, accuracy as f32))
    };
    let found = || report(progress, budget.steps.steps);
    one_kept_or_made(checkpoint, (0, model), found, || guarded("training", train_and_ask))
}

/// For each canary half of the models, at random; of an odd number one more by a fair coin.
fn halves(models: usize, canaries: usize, stream: &mut impl Rng) -> Array2<bool> {
    let mut keep = Array2::from_elem((models, canaries), false);
    let mut order: Vec<usize> = (0..models).collect();
    for mut kept in keep.columns_mut() {
        order.shuffle(stream);
        let half = models / 2 + usize::from(models % 2 == 1 && stream.random::<bool>());
        for &model in &order[..half] {
            kept[model] = true;
        }
    }
    keep
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dp_sgd::GradientNoise;
    use crate::optimizer::Optimizer;
    use crate::sample::{rejection, sample, train_on_sample};
    use leakbound::quantity::Epsilon;

    fn plan() -> PrivateModelsPlan {
        PrivateModelsPlan {
            network: NetworkPlan::Mlp { hidden: 16 },
            models: 4,
            images: Some(900),
            canaries: 200,
            training: DpSgdPlan {
                optimizer: Optimizer::Sgd { momentum: 0.9, weight_decay: 0.0, nesterov: false },
                average: Some(0.9),
                ..DpSgdPlan::plain(1.0, 100, 12, 0.4)
            },
            views: None,
            seed: 1,
        }
    }

    #[test]
    fn private_networks_learn_and_two_runs_agree() {
        let mut plan = plan();
        plan.training.noise = GradientNoise::Target(Epsilon::new(8.0).unwrap());
        let budget = plan.budget(2000).unwrap();
        println!("{budget:?}");
        assert_eq!((budget.steps.rate.get(), budget.steps.steps), (0.1, 120));
        assert!(budget.epsilon.get() <= 8.0 && budget.epsilon.get() > 7.99);
        let models = train_on_sample(train_private_models, &plan).unwrap();
        println!("{}", models.test_accuracy);
        // Ten classes: chance is 0.1. Room for other processors.
        assert!(models.test_accuracy.mean().unwrap() > 0.4, "{}", models.test_accuracy);
        assert!(models.keep.columns().into_iter().all(|kept| kept.iter().filter(|&&kept| kept).count() == 2));
        assert_eq!((models.logits.dim(), models.train_index.len()), ((4, 200, 1, 10), 900));
        let [train, _] = sample();
        let truth = |index: &i32| i64::from(train.labels[*index as usize]);
        assert!(models.audit_index.iter().zip(&models.labels).all(|(index, &label)| truth(index) != label));
        assert!(models.audit_index.iter().all(|index| !models.train_index.iter().any(|other| other == index)));
        assert_eq!(models, train_on_sample(train_private_models, &plan).unwrap());
    }

    #[test]
    fn one_model_has_each_canary_by_a_coin() {
        let keep = halves(1, 1000, &mut stream(1, Purpose::Canaries, 0, 0));
        let kept = keep.iter().filter(|&&kept| kept).count();
        println!("{kept}");
        // Five standard errors (false alarm: 6e-7).
        assert!((421..=579).contains(&kept));
    }

    #[test]
    fn what_cannot_be_trained_is_rejected() {
        let message = |change: &dyn Fn(&mut PrivateModelsPlan)| {
            rejection(plan(), change, |plan| train_on_sample(train_private_models, plan))
        };
        assert_eq!(message(&|plan| plan.models = 0), "models = 0 is not in [1, inf)");
        let batches = "DP-SGD: statistics of batches have no bounded share of one image; take group normalization";
        assert_eq!(message(&|plan| plan.network = NetworkPlan::Cnn { filters: 2 }), batches);
        let many = "DP-SGD: 1801 images and 200 canaries of 2000 training images";
        assert_eq!(message(&|plan| plan.images = Some(1801)), many);
        let none = "DP-SGD: 0 images and 2000 canaries of 2000 training images";
        assert_eq!(message(&|plan| (plan.images, plan.canaries) = (None, 2000)), none);
        assert_eq!(message(&|plan| plan.training.clipping_norm = f64::NAN), "clipping norm = NaN is not in (0, inf)");
        assert_eq!(message(&|plan| plan.training.average = Some(1.0)), "decay of the average = 1 is not in [0, 1)");
    }
}
