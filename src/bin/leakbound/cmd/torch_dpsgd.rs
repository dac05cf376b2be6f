//! `leakbound torch dpsgd`: answers of models trained by DP-SGD, with and without canaries.

use super::torch::{not_bitwise, say};
use crate::args::{Common, DpsgdOptions};
use crate::output::{Output, envelope, progress};
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, read_images};
use leakbound::report::{Number, RecordingDocument, TrainingFact, Warning};
use leakbound::torch::{DpSgdBudget, PrivateModels, TrainingDevice, train_private_models};
use leakbound::{Delta, Result};
use ndarray::arr0;
use std::time::Instant;

pub fn run(common: &Common, options: &DpsgdOptions, device: TrainingDevice) -> Result<()> {
    let output = Output::open(common, &[&options.data, &options.recording])?;
    let recording = AtomicFile::create(&options.recording)?;
    let (train, mut inputs) = read_images(&options.data, ImagePart::Train)?;
    let (test, more) = read_images(&options.data, ImagePart::Test)?;
    inputs.extend(more);
    inputs.dedup();
    let plan = options.plan(common.seed);
    let budget = plan.budget(train.len())?;
    let steps = budget.steps.steps;
    let models = plan.models;
    say(common, &format!("Training {models} networks, {steps} steps each, on {device}; epsilon {}", budget.epsilon));
    let start = Instant::now();
    let bar = progress(common, steps.saturating_mul(models as u64), "steps");
    let answers = train_private_models(&train, &test, &plan, device, &|steps| bar.inc(steps))?;
    bar.finish_and_clear();
    say(common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
    let mut writer = ArrayWriter::new(&options.recording);
    add(&mut writer, &answers, (&budget, options.delta), common.seed)?;
    let arrays = writer.written().to_vec();
    recording.commit(&writer.finish()?)?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let mut warnings = not_bitwise(device);
    warnings.extend(hardly_private(&budget));
    let document = RecordingDocument {
        envelope: envelope("leakbound.torch-dpsgd/1", common, options, inputs, warnings),
        title: format!(
            "{models} models trained by DP-SGD ({}), each by itself ({}, {})-differentially private for one image",
            plan.network, budget.epsilon, options.delta
        ),
        device: device.to_string(),
        recording: options.recording.display().to_string(),
        arrays,
        networks: models as u64,
        facts: vec![
            fact("mean-accuracy", answers.test_accuracy.iter().map(|&a| f64::from(a)).sum::<f64>() / models as f64),
            fact("epsilon", budget.epsilon.get()),
            fact("delta", options.delta.get()),
            fact("noise-multiplier", budget.noise_multiplier.get()),
            fact("sampling-rate", budget.steps.rate.get()),
            fact("steps", steps as f64),
        ],
    };
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
        message: format!("epsilon {} promises nothing of use: these models are a heuristic defence", budget.epsilon),
        hint: "what they leak to an attack is another question, for `leakbound membership lira`".into(),
    })
}
