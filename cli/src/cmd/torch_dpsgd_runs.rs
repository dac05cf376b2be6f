//! `leakbound torch dpsgd-runs`: the last iterates of many private trainings, with and without one canary.

use super::recipe::Recipe;
use super::torch_dpsgd::hardly_private;
use super::training_run::About;
use crate::args::{Common, DpsgdRunsOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::{Number, significant};
use leakbound_train::{RepeatedRuns, TrainingDevice, train_repeated_runs};
use ndarray::{Array1, arr0};

pub fn run(common: &Common, options: &DpsgdRunsOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed)?;
    let budget = plan.budget()?;
    let recipe = Recipe::open(common, &options.data, device, &options.checkpoint.files())?;
    let checkpoint = recipe.checkpoint(&options.checkpoint, "dpsgd-runs", &plan)?;
    let (steps, networks) = (budget.steps.steps, 2 * plan.runs as u64);
    let epsilon = significant(budget.epsilon.get(), 4);
    let what = format!("{networks} networks, {steps} steps each, with epsilon {epsilon},");
    let found = recipe.train(&what, (steps.saturating_mul(networks), "steps"), |progress| {
        train_repeated_runs(&recipe.context(progress, checkpoint.as_ref()), &plan)
    })?;
    let mean = |values: &ndarray::Array2<f32>| f64::from(values.mean().unwrap_or_default());
    let fact = |(name, value)| TrainingFact { name, value: Number(value) };
    let facts = [
        ("mean-test-accuracy", mean(&found.test_accuracy)),
        ("initial-test-accuracy", f64::from(found.initial_accuracy)),
        ("epsilon", budget.epsilon.get()),
        ("delta", plan.training.delta.get()),
        ("noise-multiplier", budget.noise_multiplier.get()),
        ("sampling-rate", budget.steps.rate.get()),
        ("steps", steps as f64),
    ];
    let about = About {
        schema: "leakbound.torch-dpsgd-runs/1",
        options,
        title: format!(
            "{networks} models trained by DP-SGD ({}), half of them with a canary, each ({epsilon}, {})-differentially private",
            plan.network, plan.training.delta
        ),
        networks,
        facts: facts.into_iter().map(fact).collect(),
        warnings: hardly_private(&budget).into_iter().collect(),
        figures: Vec::new(),
    };
    let (output, document) = recipe.record(about, |writer| add(writer, &found, common.seed))?;
    output.write(&document)
}

/// What `audit scores` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, found: &RepeatedRuns, seed: u64) -> Result<()> {
    let runs = found.scores.ncols();
    writer.add("scores", &found.scores.iter().copied().collect::<Array1<f64>>())?;
    writer.add("member", &(0..2 * runs).map(|run| run < runs).collect::<Array1<bool>>())?;
    writer.add("test_accuracy", &found.test_accuracy.iter().copied().collect::<Array1<f32>>())?;
    writer.add("initial_accuracy", &arr0(found.initial_accuracy))?;
    writer.add("canary_label", &arr0(i64::from(found.label)))?;
    // No training image is behind a blank canary.
    writer.add("canary_index", &arr0(found.canary_index.map_or(-1, i64::from)))?;
    writer.add("train_index", &found.train_index)?;
    writer.add("epsilon", &arr0(found.budget.epsilon.get()))?;
    writer.add("noise_multiplier", &arr0(found.budget.noise_multiplier.get()))?;
    writer.add("sampling_rate", &arr0(found.budget.steps.rate.get()))?;
    writer.add("steps", &arr0(found.budget.steps.steps))?;
    writer.add("seed", &arr0(seed))
}
