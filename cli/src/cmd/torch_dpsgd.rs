//! `leakbound torch dpsgd`: answers of models trained by DP-SGD, with and without canaries.

use super::recipe::{About, Recipe};
use crate::args::{Common, DpsgdOptions};
use leakbound::Result;
use leakbound::quantity::Delta;
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::{Number, Warning, significant};
use leakbound_train::{DpSgdBudget, PrivateModels, TrainingDevice, train_private_models};
use ndarray::arr0;

pub fn run(common: &Common, options: &DpsgdOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed)?;
    let recipe = Recipe::open(common, &options.data, device, &options.checkpoint.files())?;
    let budget = plan.budget(recipe.train.len())?;
    let checkpoint = recipe.checkpoint(&options.checkpoint, "dpsgd", &plan)?;
    let steps = budget.steps.steps;
    let models = plan.models as u64;
    let what = format!("{models} networks, {steps} steps each, with epsilon {},", significant(budget.epsilon.get(), 4));
    let answers = recipe.train(&what, (steps.saturating_mul(models), "steps"), |progress| {
        train_private_models(&recipe.context(progress, checkpoint.as_ref()), &plan)
    })?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let about = About {
        schema: "leakbound.torch-dpsgd/1",
        options,
        title: format!(
            "{models} models trained by DP-SGD ({}), each by itself ({}, {})-differentially private for one image",
            plan.network,
            significant(budget.epsilon.get(), 4),
            options.noise.delta
        ),
        networks: models,
        facts: vec![
            fact("mean-accuracy", answers.test_accuracy.iter().map(|&a| f64::from(a)).sum::<f64>() / models as f64),
            fact("epsilon", budget.epsilon.get()),
            fact("delta", options.noise.delta.get()),
            fact("noise-multiplier", budget.noise_multiplier.get()),
            fact("sampling-rate", budget.steps.rate.get()),
            fact("steps", steps as f64),
        ],
        warnings: hardly_private(&budget).into_iter().collect(),
        figures: Vec::new(),
    };
    let (output, document) =
        recipe.record(about, |writer| add(writer, &answers, (&budget, options.noise.delta), common.seed))?;
    output.write(&document)
}

/// The arrays that `membership` reads, then what else there is to know.
fn add(
    writer: &mut ArrayWriter,
    models: &PrivateModels,
    (budget, delta): (&DpSgdBudget, Delta),
    seed: u64,
) -> Result<()> {
    writer.add("logits", &models.logits)?;
    writer.add("keep", &models.keep)?;
    writer.add("labels", &models.labels)?;
    writer.add("audit_index", &models.audit_index)?;
    writer.add("train_index", &models.train_index)?;
    writer.add("test_accuracy", &models.test_accuracy)?;
    writer.add("epsilon", &arr0(budget.epsilon.get()))?;
    writer.add("delta", &arr0(delta.get()))?;
    writer.add("noise_multiplier", &arr0(budget.noise_multiplier.get()))?;
    writer.add("sampling_rate", &arr0(budget.steps.rate.get()))?;
    writer.add("steps", &arr0(budget.steps.steps))?;
    writer.add("seed", &arr0(seed))
}

/// An ε that promises nothing is said to do so.
fn hardly_private(budget: &DpSgdBudget) -> Option<Warning> {
    let epsilon = budget.epsilon.get();
    (epsilon > 50.0).then(|| Warning {
        code: "vacuous-guarantee",
        message: format!(
            "epsilon {} promises nothing of use: these models are a heuristic defense",
            significant(epsilon, 4)
        ),
        hint: "what they leak to an attack is another question, for `leakbound membership lira`".into(),
    })
}
