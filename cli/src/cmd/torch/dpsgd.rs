//! `leakbound torch dpsgd`: answers of models trained by DP-SGD, with and without canaries.

use super::data::DataOptions;
use super::network::NetworkOptions;
use super::noise::{DescentOptions, NoiseOptions};
use super::numbers::count;
use super::recipe::Recipe;
use super::training::AugmentationOptions;
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use crate::args::values::{Choice, Names, choice};
use clap::Args;
use leakbound::audit::MembersScore;
use leakbound::quantity::Delta;
use leakbound::record::{ArrayWriter, CanaryPlan, TrainingClaim, read_canary_plan};
use leakbound::study::{Warning, significant};
use leakbound::{InputError, Result};
use leakbound_train::{
    AuditedModel, AuditedModelPlan, DpSgdBudget, PrivateModels, PrivateModelsPlan, RunCanaries, TrainingDevice,
    TrainingViews, train_audited_model, train_private_models,
};
use ndarray::{Array1, arr0};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Train models by DP-SGD, each on half of the canaries, and record their answers on all of them
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "Each model by itself is (epsilon, delta)-differentially private for one image more or less, a \
                  canary too; the models together are not.\n\nExample:\n  leakbound torch dpsgd --data fashion-mnist \
                  --recording private.npz --images 4000 --epsilon 8\n  leakbound membership lira private.npz\n\nOne model \
                  audited in one run, as its plan declares:\n  leakbound canaries plan --canaries 1000 --mechanism \
                  subsampled-gaussian:sigma=1,rate=0.01 --times 1000 --format json --output plan.json\n  leakbound \
                  torch dpsgd --data fashion-mnist --recording run.npz --canary-plan plan.json --images 25600 \
                  --batch 256 --epochs 10 --noise-multiplier 1\n  leakbound canaries audit plan.json run.npz"
)]
pub struct DpsgdOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Models, each trained on half of the canaries
    #[arg(long, value_name = "M", default_value = "16", value_parser = count, allow_hyphen_values = true)]
    pub models: usize,
    /// Training images of every model [default: all that are not canaries]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub images: Option<usize>,
    /// Train one model for the audit that this plan of `leakbound canaries plan` declares: on the canaries whose coin is
    /// up, with a score for each in the recording
    #[arg(long, value_name = "PLAN.json", conflicts_with_all = ["models", "canaries", "checkpoint"])]
    pub canary_plan: Option<PathBuf>,
    /// What the canaries of a plan are
    #[arg(long, value_parser = choice(CANARIES), value_name = "KIND", default_value = "dirac", requires = "canary_plan", help_heading = "Advanced")]
    pub canary_kind: Choice<RunCanaries>,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub canaries: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "20", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Expected batch size N: each image joins a step independently with probability N/images
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub batch: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub descent: DescentOptions,
    /// Views of each image, drawn by --flip and --shift at every step, of which the gradients are averaged before they
    /// are clipped
    #[arg(long, value_name = "K", default_value = "1", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub views: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub augmentation: AugmentationOptions,
}

/// What the canaries of a plan are.
const CANARIES: Names<RunCanaries> = &[
    ("dirac", "Gradients along one parameter each, scored by all noisy gradients", RunCanaries::Dirac),
    ("signs", "Gradients along blocks of parameters with random signs, scored likewise", RunCanaries::Signs),
    ("images", "Training images with a wrong label, scored by the loss of the model", RunCanaries::Images),
];

impl DpsgdOptions {
    /// The library's plan of one model for an audit.
    pub fn audited_plan(&self, seed: u64) -> Result<AuditedModelPlan> {
        let PrivateModelsPlan { network, images, training, views, .. } = self.plan(seed)?;
        Ok(AuditedModelPlan { network, images, canaries: self.canary_kind.value, training, views, seed })
    }

    pub fn plan(&self, seed: u64) -> Result<PrivateModelsPlan> {
        Ok(PrivateModelsPlan {
            network: self.network.plan(),
            models: self.models,
            images: self.images,
            canaries: self.canaries,
            training: self.descent.training(&self.noise, self.batch, self.epochs)?,
            views: (self.views > 1 || self.augmentation.plan().is_some())
                .then_some(TrainingViews { count: self.views, augmentation: self.augmentation.all() }),
            seed,
        })
    }
}

const SCHEMA: &str = "leakbound.torch-dpsgd/1";

pub fn record(common: &Common, options: &DpsgdOptions, device: TrainingDevice) -> Result<Recorded> {
    if let Some(path) = &options.canary_plan {
        return audited(common, options, device, path);
    }
    let plan = options.plan(common.seed)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    let budget = plan.budget(recipe.train.len())?;
    recipe.open_checkpoint("dpsgd", &plan)?;
    let (steps, delta) = (budget.steps.steps, options.noise.delta);
    let models = plan.models as u64;
    let what = format!("{models} networks, {steps} steps each, with epsilon {},", significant(budget.epsilon.get(), 4));
    let answers =
        recipe.train(&what, (steps.saturating_mul(models), "steps"), |context| train_private_models(context, &plan))?;
    let accuracy = answers.test_accuracy.iter().map(|&a| f64::from(a)).sum::<f64>() / models as f64;
    let about = About {
        title: format!(
            "{} by DP-SGD ({}), {}({}, {delta})-differentially private for one image",
            if models == 1 { "A model trained".into() } else { format!("{models} models trained") },
            plan.network,
            if models == 1 { "" } else { "each by itself " },
            significant(budget.epsilon.get(), 4)
        ),
        networks: models,
        facts: [("mean-accuracy", accuracy)].into_iter().chain(budget_facts(&budget, delta)).collect(),
        warnings: hardly_private(&budget).into_iter().collect(),
        ..About::of(SCHEMA, options)
    };
    recipe.record(about, |writer| add(writer, &answers, (&budget, delta)))
}

/// One model for a planned audit.
fn audited(common: &Common, options: &DpsgdOptions, device: TrainingDevice, path: &Path) -> Result<Recorded> {
    let plan = options.audited_plan(common.seed)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[path])?;
    let (canaries, input) = read_canary_plan(path)?;
    recipe.run.read_also([input]);
    if canaries.audit.members_score() == MembersScore::Low {
        return Err(InputError {
            file: path.into(),
            place: "plan, low_is_member".into(),
            found: "true".into(),
            expected: "false: the scores that are recorded here are high for members".into(),
            hint: Some("make a plan without --flip".into()),
        }
        .into());
    }
    let coins = canaries.audit.coins();
    let budget = plan.budget(recipe.train.len(), coins.len())?;
    let (steps, delta) = (budget.steps.steps, options.noise.delta);
    let what = format!("a network for {steps} steps with epsilon {}", significant(budget.epsilon.get(), 4));
    let model = recipe.train(&what, (steps, "steps"), |context| train_audited_model(context, &plan, &coins))?;
    let accuracy = ("mean-accuracy", model.test_accuracy.into());
    let about = About {
        title: format!(
            "A model trained by DP-SGD ({}), ({}, {delta})-differentially private, with {} planned canaries",
            plan.network,
            significant(budget.epsilon.get(), 4),
            coins.len()
        ),
        facts: [accuracy].into_iter().chain(budget_facts(&budget, delta)).collect(),
        warnings: hardly_private(&budget).into_iter().chain(another_claim(&canaries, &budget)).collect(),
        ..About::of(SCHEMA, options)
    };
    recipe.record(about, |writer| add_scores(writer, &model, &canaries))
}

/// What is known of a private training besides its arrays and its accuracy.
pub(super) fn budget_facts(budget: &DpSgdBudget, delta: Delta) -> [(&'static str, f64); 5] {
    [
        ("epsilon", budget.epsilon.get()),
        ("delta", delta.get()),
        ("noise-multiplier", budget.noise_multiplier.get()),
        ("sampling-rate", budget.steps.rate.get()),
        ("steps", budget.steps.steps as f64),
    ]
}

/// What `canaries audit` reads, then what else there is to know.
fn add_scores(writer: &mut ArrayWriter, model: &AuditedModel, plan: &CanaryPlan) -> Result<()> {
    writer.add("scores", &Array1::from(model.scores.clone()))?;
    writer.add("plan_sha256", &Array1::from(plan.sha256_bytes().to_vec()))?;
    writer.add("test_accuracy", &arr0(model.test_accuracy))?;
    add_budget(writer, &model.budget, None)
}

/// The arrays of a private training, with its δ if nothing else states it.
pub(super) fn add_budget(writer: &mut ArrayWriter, budget: &DpSgdBudget, delta: Option<Delta>) -> Result<()> {
    writer.add("epsilon", &arr0(budget.epsilon.get()))?;
    if let Some(delta) = delta {
        writer.add("delta", &arr0(delta.get()))?;
    }
    writer.add("noise_multiplier", &arr0(budget.noise_multiplier.get()))?;
    writer.add("sampling_rate", &arr0(budget.steps.rate.get()))?;
    writer.add("steps", &arr0(budget.steps.steps))
}

/// A plan that claims another mechanism than the one that was run.
fn another_claim(plan: &CanaryPlan, budget: &DpSgdBudget) -> Option<Warning> {
    let Some(TrainingClaim::Mechanism { mechanism, times }) = &plan.claim else { return None };
    let (sigma, rate) = (budget.noise_multiplier.get(), budget.steps.rate.get());
    let parameters = mechanism.parameters();
    let same =
        |name: &str, value: f64| parameters.number(name).is_ok_and(|claimed| (claimed / value - 1.0).abs() < 1e-9);
    let is_run = same("sigma", sigma) && same("rate", rate) && *times == budget.steps.steps;
    (!is_run).then(|| Warning {
        code: "another-claim",
        message: format!(
            "the plan claims {mechanism} {times} times; the training is \
             subsampled-gaussian:sigma={sigma},rate={rate} {} times",
            budget.steps.steps
        ),
        hint: "a refutation is of the claim, not of this training".into(),
    })
}

/// The arrays that `membership` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, models: &PrivateModels, (budget, delta): (&DpSgdBudget, Delta)) -> Result<()> {
    add_fields!(writer, models; logits, keep, labels, audit_index, train_index, test_accuracy);
    add_budget(writer, budget, Some(delta))
}

/// An ε that promises nothing is said to do so.
pub(super) fn hardly_private(budget: &DpSgdBudget) -> Option<Warning> {
    let epsilon = budget.epsilon.get();
    (epsilon > 50.0).then(|| Warning {
        code: "vacuous-guarantee",
        message: format!(
            "an epsilon of {} is not a useful guarantee: these models are a heuristic defense",
            significant(epsilon, 4)
        ),
        hint: "`leakbound membership lira` measures what they leak to an attack".into(),
    })
}
