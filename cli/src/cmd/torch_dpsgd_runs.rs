//! `leakbound torch dpsgd-runs`: the last iterates of many private trainings, with and without one canary.

use super::recipe::Recipe;
use super::torch_dpsgd::{add_budget, budget_facts, hardly_private};
use super::training_run::{About, Recorded};
use crate::args::{Common, DpsgdRunsOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::study::significant;
use leakbound_train::{RepeatedRuns, TrainingDevice, train_repeated_runs};
use ndarray::{Array1, arr0};

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
