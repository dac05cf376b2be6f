//! One private network with the canaries of a planned audit.

use super::gradient_canaries::GradientCanaries;
use super::plan::{DpSgdBudget, DpSgdPlan, TrainingViews, fixed_images};
use super::train::{PrivateLesson, TrainingStreams, train_privately};
use crate::answers::{accuracy, numbers};
use crate::canaries::wrong_labels;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::guard::guarded;
use crate::network::NetworkPlan;
use crate::seed::{Purpose, shuffled, stream};
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use serde::Serialize;
use tch::{Kind, Tensor};

/// The kind of the canaries of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunCanaries {
    /// Training images with a wrong label, uniformly drawn, scored by the loss of the network.
    Images,
    /// Gradients along one parameter each, scored by all noisy gradients.
    Dirac,
    /// Gradients along blocks of parameters with random signs, scored likewise.
    Signs,
}

/// One network trained privately with the canaries of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditedModelPlan {
    /// The network.
    pub network: NetworkPlan,
    /// Images that it is trained on besides canaries; none for all others.
    pub images: Option<usize>,
    /// The kind of the canaries.
    pub canaries: RunCanaries,
    /// The training.
    pub training: DpSgdPlan,
    /// Views of each image whose gradients are averaged before they are clipped; none for the image itself.
    pub views: Option<TrainingViews>,
    /// The seed of all random numbers except the coins.
    pub seed: u64,
}

impl AuditedModelPlan {
    /// Sampling rate, steps, noise and ε for this number of training images and canaries; if canaries are images, half
    /// of them are expected to take part.
    ///
    /// # Errors
    /// [`Error::Rejected`](leakbound::Error::Rejected) if there are too few images, those of [`DpSgdPlan::budget`].
    pub fn budget(&self, available: usize, canaries: usize) -> Result<DpSgdBudget> {
        let fixed = self.fixed_images(available, canaries)?;
        self.training.budget(fixed + self.image_canaries(canaries).div_ceil(2))
    }

    const fn image_canaries(&self, canaries: usize) -> usize {
        match self.canaries {
            RunCanaries::Images => canaries,
            RunCanaries::Dirac | RunCanaries::Signs => 0,
        }
    }

    fn fixed_images(&self, available: usize, canaries: usize) -> Result<usize> {
        fixed_images(self.images, self.image_canaries(canaries), available)
    }
}

/// What a network that was trained for an audit shows.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedModel {
    /// \[canary\]: high scores mean members.
    pub scores: Vec<f64>,
    /// Share of test images that the network classifies correctly.
    pub test_accuracy: f32,
    /// Sampling rate, steps, noise and ε.
    pub budget: DpSgdBudget,
}

/// Trains a network by DP-SGD with the canaries whose coin is up, and scores all of them. Progress counts steps.
///
/// # Errors
/// Those of [`AuditedModelPlan::budget`], [`Error::Length`](leakbound::Error::Length) if training and test images differ
/// in shape, [`Error::Rejected`](leakbound::Error::Rejected) for a training that diverges and for more canaries than
/// parameters, [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails.
///
/// # References
/// Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", section 6; Nasr et al. (2023),
/// "Tight auditing of differentially private machine learning", for Dirac canaries.
pub fn train_audited_model(
    context: &TrainingContext<'_>,
    plan: &AuditedModelPlan,
    coins: &[bool],
) -> Result<AuditedModel> {
    let &TrainingContext { train, test, device, progress, .. } = context;
    let (shape, classes) = (train.shape(), context.classes());
    plan.network.check()?;
    plan.network.check_images(shape)?;
    context.check_shapes()?;
    plan.views.map_or(Ok(()), |views| views.check(shape))?;
    context.check_wrong_labels()?;
    let budget = plan.budget(train.len(), coins.len())?;
    let fixed = plan.fixed_images(train.len(), coins.len())?;
    let order = shuffled(train.len(), stream(plan.seed, Purpose::Split, 0, 0));
    let (chosen, others) = order.split_at(plan.image_canaries(coins.len()));
    let truth: Vec<u8> = chosen.iter().map(|&image| train.labels[image as usize]).collect();
    let wrong = wrong_labels(&truth, classes, &mut stream(plan.seed, Purpose::Canaries, 0, 0));
    let members = chosen.iter().enumerate().filter(|&(canary, _)| coins[canary]);
    // The wrong labels are behind those of all training images.
    let members = members.map(|(canary, &image)| Example { image, target: (train.len() + canary) as u32 });
    let examples: Vec<Example> = others[..fixed].iter().map(|&image| Example::labeled(image)).chain(members).collect();
    guarded("training", || {
        let tensors = device.tensors();
        let images = TrainingImages::of(train, classes, tensors).and_targets(&wrong, classes);
        let weights = &mut [stream(plan.seed, Purpose::Weights, 0, 0)];
        let mut network = plan.network.build(weights, shape, classes, tensors);
        let parameters = network.parameters().iter().map(Tensor::numel).sum();
        let gradients = |spread| GradientCanaries::new(coins, (parameters, tensors), spread, &budget, plan.seed);
        let canaries = match plan.canaries {
            RunCanaries::Images => None,
            RunCanaries::Dirac => Some(gradients(false)?),
            RunCanaries::Signs => Some(gradients(true)?),
        };
        let mut streams = TrainingStreams { canaries, ..TrainingStreams::new(plan.seed, 0, 0) };
        let (images, examples) = (&images, &examples);
        let lesson =
            PrivateLesson { images, examples, views: plan.views, shape, plan: &plan.training, budget: &budget };
        let network = train_privately(network, &lesson, &mut streams, progress)?;
        let test_inputs = TrainingImages::of(test, classes, tensors).inputs;
        let test_accuracy = accuracy(&logits_of_all(&*network, &test_inputs), &test.labels.to_vec())? as f32;
        let scores = match streams.canaries {
            Some(canaries) => canaries.scores,
            None => {
                let inputs = rows_of(&images.inputs, chosen.iter().copied());
                let labels: Vec<i64> = wrong.iter().map(|&label| label.into()).collect();
                let labels = Tensor::from_slice(&labels).to_device(tensors).unsqueeze(-1);
                let logits = logits_of_all(&*network, &inputs).view([chosen.len() as i64, -1]);
                let scores = logits.log_softmax(-1, Kind::Float).gather(1, &labels, false);
                numbers(&scores)?.into_iter().map(f64::from).collect()
            }
        };
        Ok(AuditedModel { scores, test_accuracy, budget })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::train_on_sample;
    use leakbound::audit::{GuessSelection, OneRunPlan};
    use leakbound::quantity::{Delta, FailureProbability};

    fn plan(canaries: RunCanaries, noise: f64) -> AuditedModelPlan {
        AuditedModelPlan {
            network: NetworkPlan::Mlp { hidden: 16 },
            images: Some(900),
            canaries,
            training: DpSgdPlan::plain(noise, 100, 4, 0.4),
            views: None,
            seed: 1,
        }
    }

    fn run(plan: &AuditedModelPlan, coins: &[bool]) -> Result<AuditedModel> {
        train_on_sample(|context, plan| train_audited_model(context, plan, coins), plan)
    }

    fn audit(canaries: u64) -> OneRunPlan {
        let (delta, failure) = (Delta::new(1e-5).unwrap(), FailureProbability::new(0.05).unwrap());
        OneRunPlan::new(canaries, 7, GuessSelection::PaidFor, delta, failure).unwrap()
    }

    /// With little noise gradients show every coin; the bound is never above ε, and two runs agree.
    #[test]
    fn gradients_are_seen_and_their_bound_holds() {
        let audit = audit(400);
        for kind in [RunCanaries::Dirac, RunCanaries::Signs] {
            let plan = plan(kind, 0.5);
            let found = run(&plan, &audit.coins()).unwrap();
            let bound = audit.audit(&found.scores).unwrap().epsilon.value;
            println!("{kind:?}: {bound} of {:?}, accuracy {}", found.budget, found.test_accuracy);
            assert!(bound > 1.0 && bound <= found.budget.epsilon.get());
            assert!(found.test_accuracy > 0.3);
            assert_eq!(found, run(&plan, &audit.coins()).unwrap());
        }
    }

    /// Images that a network was trained on with negligible noise have smaller losses.
    #[test]
    fn images_are_scored_by_their_loss() {
        let audit = audit(300);
        let mut plan = plan(RunCanaries::Images, 1e-3);
        plan.training.epochs = 40;
        let found = run(&plan, &audit.coins()).unwrap();
        let mean = |side: bool| {
            let of: Vec<f64> = found
                .scores
                .iter()
                .zip(audit.coins())
                .filter(|(_, coin)| *coin == side)
                .map(|(score, _)| *score)
                .collect();
            of.iter().sum::<f64>() / of.len() as f64
        };
        println!("{} {}", mean(true), mean(false));
        assert!(mean(true) > mean(false) + 0.2);
    }

    #[test]
    fn what_cannot_be_trained_is_rejected() {
        let coins = vec![true; 2000];
        let images = run(&plan(RunCanaries::Images, 1.0), &coins).unwrap_err().to_string();
        assert_eq!(images, "DP-SGD: 900 images and 2000 canaries of 2000 training images");
        let mut small = plan(RunCanaries::Dirac, 1.0);
        small.network = NetworkPlan::Mlp { hidden: 1 };
        let message = run(&small, &coins).unwrap_err().to_string();
        let expected = "gradients of canaries: 2000 canaries need at least as many parameters, but the network has 805";
        assert_eq!(message, expected);
    }
}
