//! `leakbound torch shadow`: answers of models that were trained on some audited samples and not on others.

use super::torch::{open_checkpoint, say};
use super::torch_teachers::warnings;
use crate::args::{Common, ShadowOptions};
use crate::output::{Output, envelope, progress, refuse_any};
use leakbound::Result;
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, read_images};
use leakbound::report::{Number, RecordingDocument, TrainingFact};
use leakbound::torch::{ShadowAnswers, TrainingDevice, train_shadow_models};
use ndarray::arr0;
use std::time::Instant;

pub fn run(common: &Common, options: &ShadowOptions, device: TrainingDevice) -> Result<()> {
    let mut read = vec![options.data.as_path()];
    read.extend(options.others.as_deref());
    refuse_any("--recording", &options.recording, &read, "the images themselves")?;
    read.push(&options.recording);
    read.extend(options.checkpoint.checkpoint.as_deref());
    let output = Output::open(common, &read)?;
    let recording = AtomicFile::create(&options.recording)?;
    let (train, mut inputs) = read_images(&options.data, ImagePart::Train)?;
    let (test, more) = read_images(&options.data, ImagePart::Test)?;
    inputs.extend(more);
    let others = match &options.others {
        Some(path) => {
            let (others, more) = read_images(path, ImagePart::Train)?;
            inputs.extend(more);
            Some(others)
        }
        None => None,
    };
    inputs.dedup();
    let plan = options.plan(common.seed);
    let checkpoint = open_checkpoint(common, &options.checkpoint, "shadow", device, &inputs, &plan)?;
    say(common, &format!("Training {} networks on {device}", plan.models));
    let start = Instant::now();
    let bar = progress(common, plan.models as u64, "networks");
    let progress = |networks| bar.inc(networks);
    let answers = train_shadow_models(&train, &test, others.as_ref(), &plan, device, &progress, checkpoint.as_ref())?;
    bar.finish_and_clear();
    say(common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
    let mut writer = ArrayWriter::new(&options.recording);
    add(&mut writer, &answers, common.seed)?;
    let arrays = writer.written().to_vec();
    recording.commit(&writer.finish()?)?;
    let document = RecordingDocument {
        envelope: envelope("leakbound.torch-shadow/1", common, options, inputs, warnings(device)),
        title: format!(
            "{} shadow models ({}), {} {} samples audited, {} other images in every model",
            plan.models,
            plan.network,
            answers.labels.len(),
            plan.canaries,
            answers.fixed_index.len()
        ),
        device: device.to_string(),
        recording: options.recording.display().to_string(),
        arrays,
        networks: plan.models as u64,
        facts: facts(&answers),
    };
    output.write(&document)
}

fn facts(answers: &ShadowAnswers) -> Vec<TrainingFact> {
    let test = Some(answers.mean_test_accuracy());
    [
        ("mean-test-accuracy", test),
        ("accuracy-on-members", answers.audit_accuracy(true)),
        ("accuracy-on-others", answers.audit_accuracy(false)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some(TrainingFact { name, value: Number(value?) }))
    .collect()
}

/// The arrays that `membership` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, answers: &ShadowAnswers, seed: u64) -> Result<()> {
    writer.add("logits", &answers.logits)?;
    writer.add("keep", &answers.keep)?;
    writer.add("labels", &answers.labels)?;
    writer.add("audit_index", &answers.audit_index)?;
    writer.add("test_accuracy", &answers.test_accuracy)?;
    writer.add("fixed_index", &answers.fixed_index)?;
    if let Some(duplicate_keep) = &answers.duplicate_keep {
        writer.add("duplicate_keep", duplicate_keep)?;
    }
    if let Some(source_index) = &answers.source_index {
        writer.add("source_index", source_index)?;
    }
    if let Some(canary_pixels) = &answers.canary_pixels {
        writer.add("canary_pixels", canary_pixels)?;
    }
    writer.add("seed", &arr0(seed))
}
