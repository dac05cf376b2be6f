//! DP-SGD: the defense with a proof.

use super::method::{Answers, Further, Method, PHASE, Queries, Task};
use crate::answers::logits;
use crate::checkpoint::one_kept_or_made;
use crate::checks::{check_counts, check_positive, reject, unavailable};
use crate::dp_sgd::{
    DpSgdBudget, DpSgdPlan, GradientNoise, PrivateLesson, TrainingStreams, TrainingViews, train_privately,
};
use crate::groups::Trainer;
use crate::guard::{guarded, report};
use crate::network::NetworkPlan;
use crate::optimizer::{Optimizer, Schedule};
use crate::seed::{Purpose, stream};
use crate::train::TrainingPlan;
use crate::training_images::{Example, TrainingImages};
use leakbound::error::Result;
use leakbound::quantity::Delta;
use serde::Serialize;
use tch::Tensor;

/// Training by noisy gradients of clipped norm, on Poisson samples.
///
/// Epochs and the expected batch size are those of the plan, whose optimizer and schedule do not apply; its augmentation
/// draws the `views` of each image, over which gradients are averaged before they are clipped. The sampling rate is the
/// batch size over the fixed images and half of the audited ones, the same for all models, and ε holds for one image
/// added or removed. A defense to compare others with: take the largest noise at which the models are as accurate as
/// those.
///
/// Besides the logits, the recording has `epsilon` \[model\], at `delta` of the plan, and `noise_multiplier` \[model\].
///
/// # References
/// Abadi et al. (2016), "Deep learning with differential privacy", Algorithm 1; De et al. (2022), "Unlocking
/// high-accuracy differentially private image classification through scale"; Aerni, Zhang and Tramèr (2024),
/// "Evaluations of machine learning privacy defenses are misleading", section 5.5.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DpSgd {
    /// R: the ℓ₂ norm to which the gradient of each image is clipped.
    pub clipping_norm: f64,
    /// How much noise.
    pub noise: GradientNoise,
    /// δ of the guarantee.
    pub delta: Delta,
    /// The learning rate of SGD.
    pub learning_rate: f64,
    /// Its momentum.
    pub momentum: f64,
    /// Decay of the moving average of the parameters, which is then the network; none for the last parameters.
    pub average: Option<f64>,
    /// K, views of each image.
    pub views: usize,
}

impl DpSgd {
    fn plan(self, training: &TrainingPlan) -> DpSgdPlan {
        DpSgdPlan {
            clipping_norm: self.clipping_norm,
            noise: self.noise,
            delta: self.delta,
            batch: training.batch,
            epochs: training.epochs,
            optimizer: Optimizer::Sgd { momentum: self.momentum, weight_decay: 0.0, nesterov: false },
            schedule: Schedule::Constant { rate: self.learning_rate },
            average: self.average,
        }
    }
}

/// Models that are trained one by one.
struct Models<'a> {
    trainer: Trainer<'a>,
    /// Training images of each.
    tables: &'a [Vec<Example>],
    plan: DpSgdPlan,
    budget: DpSgdBudget,
    views: Option<TrainingViews>,
}

impl Models<'_> {
    /// What a model answers, from the checkpoint if that has it.
    fn answers(&self, model: usize, (images, asked): (&TrainingImages, &Tensor)) -> Result<Answers> {
        let trainer = &self.trainer;
        let train_and_ask = || guarded("training", || self.trained(model, (images, asked)));
        let answers = one_kept_or_made(trainer.checkpoint, (PHASE, model), || Ok(()), train_and_ask)?;
        report(trainer.progress, 1)?;
        Ok(answers)
    }

    fn trained(&self, model: usize, (images, asked): (&TrainingImages, &Tensor)) -> Result<Answers> {
        let trainer = &self.trainer;
        let weights = &mut [stream(trainer.seed, Purpose::Weights, PHASE, model as u64)];
        let network = trainer.network.build(weights, trainer.shape, trainer.classes, trainer.device.tensors());
        let mut streams = TrainingStreams::new(trainer.seed, PHASE, model);
        let (plan, budget, examples) = (&self.plan, &self.budget, &self.tables[model]);
        let lesson = PrivateLesson { images, examples, views: self.views, shape: trainer.shape, plan, budget };
        // Progress counts networks; between them it only asks whether to continue.
        let network = train_privately(network, &lesson, &mut streams, &|_| (trainer.progress)(0))?;
        let answers = logits(&*network, asked).map_err(unavailable("answers"))?;
        let [epsilon, noise] = [budget.epsilon.get(), budget.noise_multiplier.get()].map(|number| vec![number as f32]);
        Ok(answers.into_iter().chain([epsilon, noise]).collect())
    }
}

impl Method for DpSgd {
    fn check(&self, _: usize) -> Result<()> {
        check_counts([("views of an image", self.views)])?;
        check_positive("learning rate of DP-SGD", self.learning_rate)
    }

    fn check_training(&self, network: NetworkPlan, training: &TrainingPlan, _: [usize; 3]) -> Result<()> {
        let rejected = |reason: String| reject("DP-SGD", reason);
        if network.normalizes_batches() {
            return rejected(format!(
                "{network} normalizes batches, whose statistics have no bounded share of one image; take group \
                 normalization or a network without"
            ));
        }
        if training.early_stopping.is_some() {
            return rejected("early stopping looks at images without noise; leave it out".into());
        }
        // One view that is not varied is the image itself.
        if self.views > 1 && training.augmentation.is_none() {
            return rejected(format!("{} views of an image need --flip or --shift to differ", self.views));
        }
        Ok(())
    }

    fn further(&self, _: Queries, _: usize) -> Vec<Further> {
        vec![Further::of_models("epsilon", "epsilon"), Further::of_models("noise_multiplier", "noise-multiplier")]
    }

    fn answers(&self, task: &Task<'_>) -> Result<Vec<Answers>> {
        let (trainer, fixed) = (task.trainer, task.queries.fixed);
        let audited = task.images.targets.size()[0] as usize - fixed;
        let plan = self.plan(trainer.training);
        let budget = plan.budget(fixed + audited.div_ceil(2))?;
        let views = trainer.training.augmentation;
        let views = views.map(|augmentation| TrainingViews { count: self.views, augmentation });
        let models = Models { trainer, tables: task.tables, plan, budget, views };
        let work = (0..task.tables.len()).map(|model| (model, task.images.share(), task.asked.shallow_clone()));
        trainer.device.each(work.collect(), |(model, images, asked)| models.answers(model, (&images, &asked)))
    }
}
