//! `leakbound torch dpsgd-runs`: the last iterates of many private trainings, with and without one canary.

use super::data::DataOptions;
use super::dpsgd::{add_budget, budget_facts, hardly_private};
use super::network::NetworkOptions;
use super::noise::{DescentOptions, NoiseOptions};
use super::numbers::{any_count, count};
use super::recipe::Recipe;
use super::training_run::{About, Recorded};
use crate::args::Common;
use crate::args::values::{Choice, Names, choice};
use clap::Args;
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::study::significant;
use leakbound_train::{
    InitialWeights, RepeatedCanary, RepeatedRuns, RepeatedRunsPlan, TrainingDevice, train_repeated_runs,
};
use ndarray::{Array1, arr0};
use serde::Serialize;

/// Train many models by DP-SGD with and without one canary, and record its score under the last iterate of each
#[derive(Debug, Clone, Args, Serialize)]
#[command(
    after_help = "All models begin with the same weights and differ in sampling and noise alone, so that their scores \
                  are independent draws. Weights that have learned similar images make the canary stand out: an \
                  adversary of differential privacy may choose them.\n\nExample:\n  leakbound torch dpsgd-runs --data \
                  fashion-mnist --recording runs.npz --runs 500 --epsilon 4\n  leakbound audit scores runs.npz \
                  --claim-epsilon 4 --orders 2"
)]
pub struct DpsgdRunsOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Models with the canary, and as many without it
    #[arg(long, value_name = "R", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub runs: usize,
    /// Training images of every model
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub images: usize,
    /// The canary's image; its label is the class that is least likely under the initial weights
    #[arg(long, value_parser = choice(IMAGES), value_name = "KIND", default_value = "blank", help_heading = "Advanced")]
    pub canary: Choice<RepeatedCanary>,
    /// Initial weights of all models: learned for this many epochs, without noise, from the images that no model is
    /// trained on; 0 for random ones
    #[arg(long, value_name = "N", default_value = "5", value_parser = any_count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub initial_epochs: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Expected batch size N: each image joins a step independently with probability N/images; all of them if it is
    /// that of --images
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub batch: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub descent: DescentOptions,
}

/// The image of the canary.
const IMAGES: Names<RepeatedCanary> = &[
    ("blank", "All zeros, like no other image", RepeatedCanary::Blank),
    ("mislabeled", "A training image with a wrong label", RepeatedCanary::Mislabeled),
];

impl DpsgdRunsOptions {
    pub fn plan(&self, seed: u64) -> Result<RepeatedRunsPlan> {
        Ok(RepeatedRunsPlan {
            network: self.network.plan(),
            runs: self.runs,
            images: self.images,
            canary: self.canary.value,
            initial: match self.initial_epochs {
                0 => InitialWeights::Random,
                epochs => InitialWeights::Learned { epochs },
            },
            training: self.descent.training(&self.noise, self.batch, self.epochs)?,
            seed,
        })
    }
}

pub fn record(common: &Common, options: &DpsgdRunsOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let budget = plan.budget()?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    recipe.open_checkpoint("dpsgd-runs", &plan)?;
    let (steps, networks) = (budget.steps.steps, 2 * plan.runs as u64);
    let epsilon = significant(budget.epsilon.get(), 4);
    let what = format!("{networks} networks, {steps} steps each, with epsilon {epsilon},");
    let found = recipe
        .train(&what, (steps.saturating_mul(networks), "steps"), |context| train_repeated_runs(context, &plan))?;
    let accuracies = [
        ("mean-test-accuracy", f64::from(found.test_accuracy.mean().unwrap_or_default())),
        ("initial-test-accuracy", f64::from(found.initial_accuracy)),
    ];
    let about = About {
        title: format!(
            "{networks} models trained by DP-SGD ({}), half of them with a canary, each ({epsilon}, {})-differentially private",
            plan.network, plan.training.delta
        ),
        networks,
        facts: accuracies.into_iter().chain(budget_facts(&budget, plan.training.delta)).collect(),
        warnings: hardly_private(&budget).into_iter().collect(),
        ..About::of("leakbound.torch-dpsgd-runs/1", options)
    };
    recipe.record(about, |writer| add(writer, &found))
}

/// What `audit scores` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, found: &RepeatedRuns) -> Result<()> {
    let runs = found.scores.ncols();
    writer.add("scores", &found.scores.iter().copied().collect::<Array1<f64>>())?;
    writer.add("member", &(0..2 * runs).map(|run| run < runs).collect::<Array1<bool>>())?;
    writer.add("test_accuracy", &found.test_accuracy.iter().copied().collect::<Array1<f32>>())?;
    writer.add("initial_accuracy", &arr0(found.initial_accuracy))?;
    writer.add("canary_label", &arr0(i64::from(found.label)))?;
    // No training image is behind a blank canary.
    writer.add("canary_index", &arr0(found.canary_index.map_or(-1, i64::from)))?;
    writer.add("train_index", &found.train_index)?;
    add_budget(writer, &found.budget, None)
}
