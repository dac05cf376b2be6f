//! `leakbound torch alibi`: answers of a model trained on noisy labels about its canaries.

use super::torch::{not_bitwise, say};
use crate::args::{AlibiOptions, Common, LabelMechanism};
use crate::output::{Output, envelope, progress};
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, read_images};
use leakbound::report::{Number, RecordingDocument, TrainingFact};
use leakbound::torch::{AlibiModel, LabelNoise, TrainingDevice, train_alibi};
use leakbound::{Delta, Epsilon, Result};
use ndarray::arr0;
use std::time::Instant;

pub fn run(common: &Common, options: &AlibiOptions, device: TrainingDevice) -> Result<()> {
    let output = Output::open(common, &[&options.data, &options.recording])?;
    let recording = AtomicFile::create(&options.recording)?;
    let plan = options.plan(common.seed)?;
    let (train, mut inputs) = read_images(&options.data, ImagePart::Train)?;
    let (test, more) = read_images(&options.data, ImagePart::Test)?;
    inputs.extend(more);
    inputs.dedup();
    let delta = match options.mechanism {
        LabelMechanism::Alibi => Delta::new(0.0)?,
        LabelMechanism::Agibi => options.delta,
    };
    let epsilon = plan.noise.epsilon(delta)?;
    let steps = plan.steps(train.len());
    say(common, &format!("Training a network on noisy labels, {steps} steps, on {device}"));
    let start = Instant::now();
    let bar = progress(common, steps, "steps");
    let model = train_alibi(&train, &test, &plan, device, &|steps| bar.inc(steps))?;
    bar.finish_and_clear();
    say(common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
    let mut writer = ArrayWriter::new(&options.recording);
    add(&mut writer, &model, (epsilon, delta, plan.noise), common.seed)?;
    let arrays = writer.written().to_vec();
    recording.commit(&writer.finish()?)?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let mut facts = vec![
        fact("accuracy", model.test_accuracy),
        fact("noisy-label-accuracy", model.noisy_label_accuracy),
        fact("epsilon", epsilon.get()),
        fact("delta", delta.get()),
        fact("noise-scale", scale(plan.noise)),
    ];
    facts.extend(plan.noise.epsilon_by_rdp(delta).map(|epsilon| fact("epsilon-by-rdp", epsilon.get())));
    let document = RecordingDocument {
        envelope: envelope("leakbound.torch-alibi/1", common, options, inputs, not_bitwise(device)),
        title: format!(
            "A model ({}) trained on ({epsilon}, {delta})-label-differentially private labels, {} canaries",
            plan.network, plan.canaries
        ),
        device: device.to_string(),
        recording: options.recording.display().to_string(),
        arrays,
        networks: 1,
        facts,
    };
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
