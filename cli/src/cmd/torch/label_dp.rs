//! `leakbound torch label-dp`: answers of models trained on private labels about their canaries.

use super::data::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{below_1, count, rate, share};
use super::recipe::Recipe;
use super::training::AugmentationOptions;
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use crate::args::values::{delta, epsilon};
use crate::cmd::recorded_plan::RecordedPlan;
use clap::{Args, ValueEnum};
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::ArrayWriter;
use leakbound::study::significant;
use leakbound::{Error, Result};
use leakbound_train::{
    LabelDpModels, LabelDpPlan, LabelMechanism, Optimizer, Schedule, TrainingDevice, TrainingPlan, train_label_dp,
};
use ndarray::arr0;
use serde::Serialize;

/// Train models on private labels (ALIBI, AGIBI, randomized response, LP-2ST), and record their answers on canaries
/// with wrong labels
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "Each model by itself has the guarantee; the models together do not.\n\nExample:\n  leakbound torch \
                  label-dp --data fashion-mnist --recording canaries.npz --mechanism alibi --epsilon 2\n  leakbound \
                  label-dp memorization canaries.npz --claim-epsilon 2"
)]
pub struct LabelDpOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// How labels are made private
    #[arg(long, value_enum, default_value = "alibi")]
    pub mechanism: LabelMechanismName,
    /// Label differential privacy of the labels of one model; required unless the mechanism is not-private
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Option<Epsilon>,
    /// Delta of agibi; the others need none
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true, help_heading = "Advanced")]
    pub delta: Delta,
    /// Fraction of the images of each stage of lp-2st; more than two stages make LP-MST
    #[arg(long, value_name = "S,S,...", value_delimiter = ',', default_value = "0.5,0.5", value_parser = share, allow_hyphen_values = true, help_heading = "Advanced")]
    pub stages: Vec<f64>,
    /// Models, each with canaries, noise and initial weights of its own
    #[arg(long, value_name = "M", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub models: usize,
    /// Canaries of each model: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub canaries: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "20", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Batch size
    #[arg(long, value_name = "N", default_value = "128", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub batch: usize,
    /// Learning rate of SGD
    #[arg(long, value_name = "R", default_value = "0.05", value_parser = rate, allow_hyphen_values = true, help_heading = "Advanced")]
    pub learning_rate: f64,
    /// Momentum
    #[arg(long, value_name = "B", default_value = "0.9", value_parser = below_1, allow_hyphen_values = true, help_heading = "Advanced")]
    pub momentum: f64,
    /// Weight decay
    #[arg(long, value_name = "W", default_value = "0", value_parser = below_1, allow_hyphen_values = true, help_heading = "Advanced")]
    pub weight_decay: f64,
    #[command(flatten)]
    #[serde(flatten)]
    pub augmentation: AugmentationOptions,
    /// Networks trained in parallel; fewer need less memory [default: fastest on the device]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub side_by_side: Option<usize>,
}

/// Mechanisms of label privacy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelMechanismName {
    /// Laplace noise of scale 2/epsilon on every coordinate of the one-hot label, and Bayesian inference
    Alibi,
    /// Gaussian noise in its place
    Agibi,
    /// The label, or with a chance each other class
    RandomizedResponse,
    /// Randomized response among the classes that a network of an earlier stage finds likely
    #[value(name = "lp-2st", alias = "lp-mst")]
    #[serde(rename = "lp-2st")]
    Lp2st,
    /// The labels as they are, to compare with
    NotPrivate,
}

impl LabelDpOptions {
    /// Fails with [`Error::Rejected`] without the epsilon that the mechanism needs, or with one that means nothing.
    pub fn plan(&self, seed: u64) -> Result<LabelDpPlan> {
        let optimizer = Optimizer::Sgd { momentum: self.momentum, weight_decay: self.weight_decay, nesterov: false };
        let schedule = Schedule::Constant { rate: self.learning_rate };
        Ok(LabelDpPlan {
            network: self.network.plan(),
            mechanism: self.mechanism()?,
            models: self.models,
            canaries: self.canaries,
            training: TrainingPlan {
                augmentation: self.augmentation.plan(),
                side_by_side: self.side_by_side,
                ..TrainingPlan::new(self.epochs, self.batch, optimizer, schedule)
            },
            seed,
        })
    }

    fn mechanism(&self) -> Result<LabelMechanism> {
        let rejected = |reason: &str| Err(Error::Rejected { operation: "--epsilon", reason: reason.into() });
        let epsilon = match (self.mechanism, self.epsilon) {
            (LabelMechanismName::NotPrivate, None) => return Ok(LabelMechanism::NotPrivate),
            (LabelMechanismName::NotPrivate, Some(_)) => return rejected("labels that are not private have none"),
            (_, None) => return rejected("required by this mechanism; `--mechanism not-private` has none"),
            (_, Some(epsilon)) => epsilon,
        };
        match self.mechanism {
            LabelMechanismName::Alibi => LabelMechanism::alibi(epsilon),
            LabelMechanismName::Agibi => LabelMechanism::agibi(epsilon, self.delta),
            LabelMechanismName::RandomizedResponse => Ok(LabelMechanism::RandomizedResponse(epsilon)),
            LabelMechanismName::Lp2st => Ok(LabelMechanism::MultiStage { epsilon, shares: self.stages.clone() }),
            LabelMechanismName::NotPrivate => Ok(LabelMechanism::NotPrivate),
        }
    }

    /// The delta of the guarantee.
    pub fn guaranteed_delta(&self) -> Result<Delta> {
        match self.mechanism {
            LabelMechanismName::Agibi => Ok(self.delta),
            LabelMechanismName::Alibi
            | LabelMechanismName::RandomizedResponse
            | LabelMechanismName::Lp2st
            | LabelMechanismName::NotPrivate => Delta::new(0.0),
        }
    }
}

/// Trains the models and writes the recording.
pub fn record(common: &Common, options: &LabelDpOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let delta = options.guaranteed_delta()?;
    let epsilon = plan.mechanism.epsilon(delta)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let recorded = RecordedPlan::new(&plan, recipe.run.digests(), Vec::new());
    recipe.open_checkpoint("label-dp", &plan)?;
    let networks = plan.networks();
    let what = format!("{networks} networks on private labels");
    let models = recipe.train(&what, (networks, "networks"), |context| train_label_dp(context, &plan))?;
    let privacy = if epsilon == Epsilon::INFINITE {
        "labels that are not private".to_owned()
    } else {
        format!("({}, {delta})-label-differentially private labels", significant(epsilon.get(), 4))
    };
    let about = About {
        title: format!(
            "{} model{} ({}) trained on {privacy}, {} canaries each",
            plan.models,
            if plan.models == 1 { "" } else { "s" },
            plan.network,
            plan.canaries
        ),
        networks,
        facts: facts(&models, &plan, (epsilon, delta)),
        plan: Some(recorded),
        ..About::of("leakbound.torch-label-dp/1", options)
    };
    recipe.record(about, |writer| add(writer, &models, (epsilon, delta)))
}

fn facts(models: &LabelDpModels, plan: &LabelDpPlan, (epsilon, delta): (Epsilon, Delta)) -> Vec<(&'static str, f64)> {
    let facts = [
        ("mean-test-accuracy", models.test_accuracy.mean()),
        ("private-label-accuracy", models.private_label_accuracy.mean()),
        ("epsilon", Some(epsilon.get())),
        ("delta", Some(delta.get())),
        ("noise-scale", plan.mechanism.noise_scale().map(|scale| scale.get())),
        ("epsilon-by-rdp", plan.mechanism.epsilon_by_rdp(delta).map(|epsilon| epsilon.get())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The arrays that `label-dp memorization` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, models: &LabelDpModels, (epsilon, delta): (Epsilon, Delta)) -> Result<()> {
    add_fields!(writer, models;
        logits, labels_true, labels_trained, canary_index, test_accuracy, private_label_accuracy);
    writer.add("epsilon", &arr0(epsilon.get()))?;
    writer.add("delta", &arr0(delta.get()))
}
