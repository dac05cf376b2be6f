//! `leakbound torch alibi`: answers of a model trained on noisy labels about its canaries.

use super::recipe::{About, Recipe};
use crate::args::{AlibiOptions, Common, LabelMechanism};
use leakbound::Result;
use leakbound::quantity::{Delta, Epsilon};
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::{Number, significant};
use leakbound_train::{AlibiModel, LabelNoise, TrainingDevice, train_alibi};
use ndarray::arr0;

pub fn run(common: &Common, options: &AlibiOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed)?;
    let delta = match options.mechanism {
        LabelMechanism::Alibi => Delta::new(0.0)?,
        LabelMechanism::Agibi => options.delta,
    };
    let epsilon = plan.noise.epsilon(delta)?;
    let recipe = Recipe::open(common, &options.data, device, &[])?;
    let steps = plan.steps(recipe.train.len());
    let model = recipe.train(&format!("a network on noisy labels, {steps} steps,"), (steps, "steps"), |progress| {
        train_alibi(&recipe.train, &recipe.test, &plan, device, progress)
    })?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let mut facts = vec![
        fact("accuracy", model.test_accuracy),
        fact("noisy-label-accuracy", model.noisy_label_accuracy),
        fact("epsilon", epsilon.get()),
        fact("delta", delta.get()),
        fact("noise-scale", scale(plan.noise)),
    ];
    facts.extend(plan.noise.epsilon_by_rdp(delta).map(|epsilon| fact("epsilon-by-rdp", epsilon.get())));
    let about = About {
        schema: "leakbound.torch-alibi/1",
        options,
        title: format!(
            "A model ({}) trained on ({}, {delta})-label-differentially private labels, {} canaries",
            plan.network,
            significant(epsilon.get(), 4),
            plan.canaries
        ),
        networks: 1,
        facts,
        warnings: Vec::new(),
        figures: Vec::new(),
    };
    let (output, document) =
        recipe.record(about, |writer| add(writer, &model, (epsilon, delta, plan.noise), common.seed))?;
    output.write(&document)
}

/// The arrays that `label-dp memorization` reads, then what else there is to know.
fn add(
    writer: &mut ArrayWriter,
    model: &AlibiModel,
    (epsilon, delta, noise): (Epsilon, Delta, LabelNoise),
    seed: u64,
) -> Result<()> {
    writer.add("logits", &model.logits)?;
    writer.add("labels_true", &model.labels_true)?;
    writer.add("labels_trained", &model.labels_trained)?;
    writer.add("canary_index", &model.canary_index)?;
    writer.add("test_accuracy", &arr0(model.test_accuracy))?;
    writer.add("epsilon", &arr0(epsilon.get()))?;
    writer.add("delta", &arr0(delta.get()))?;
    writer.add("noise_scale", &arr0(scale(noise)))?;
    writer.add("seed", &arr0(seed))
}

/// λ or σ.
fn scale(noise: LabelNoise) -> f64 {
    let (LabelNoise::Laplace(scale) | LabelNoise::Gaussian(scale)) = noise;
    scale.get()
}
