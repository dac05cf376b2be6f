//! `leakbound torch property`: answers of a student, and of ensembles for each value of a property.

use super::torch::{not_bitwise, say};
use crate::args::{Common, TorchPropertyOptions};
use crate::output::{Output, envelope, progress};
use leakbound::Result;
use leakbound::record::{ArrayWriter, AtomicFile, ImagePart, read_images};
use leakbound::report::{Number, RecordingDocument, TrainingFact};
use leakbound::torch::{PropertyModels, PropertyPlan, TrainingDevice, train_for_property};
use ndarray::{Array1, arr0};
use std::time::Instant;

pub fn run(common: &Common, options: &TorchPropertyOptions, device: TrainingDevice) -> Result<()> {
    let output = Output::open(common, &[&options.data, &options.recording])?;
    let recording = AtomicFile::create(&options.recording)?;
    let plan = options.plan(common.seed)?;
    let (train, mut inputs) = read_images(&options.data, ImagePart::Train)?;
    let (test, more) = read_images(&options.data, ImagePart::Test)?;
    inputs.extend(more);
    inputs.dedup();
    say(common, &format!("Training {} networks on {device}", plan.networks()));
    let start = Instant::now();
    let bar = progress(common, plan.networks(), "networks");
    let models = train_for_property(&train, &test, &plan, device, &|networks| bar.inc(networks))?;
    bar.finish_and_clear();
    say(common, &format!("{:.1} s", start.elapsed().as_secs_f64()));
    let mut writer = ArrayWriter::new(&options.recording);
    add(&mut writer, &models, &plan)?;
    let arrays = writer.written().to_vec();
    recording.commit(&writer.finish()?)?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let mut facts: Vec<TrainingFact> =
        models.student_accuracy.map(|accuracy| fact("student-accuracy", accuracy)).into_iter().collect();
    facts.extend([
        fact("mean-ensemble-accuracy", models.ensemble_accuracy.mean().unwrap_or_default()),
        fact("property-value", plan.value as f64),
        fact("label-epsilon", plan.label_epsilon(options.delta).get()),
        fact("delta", options.delta.get()),
    ]);
    let document = RecordingDocument {
        envelope: envelope("leakbound.torch-property/1", common, options, inputs, not_bitwise(device)),
        title: format!(
            "A student of {} teachers ({}) with {} % of class {}; {} ensembles with {:?} %",
            plan.teachers,
            plan.network,
            options.student_percentage,
            plan.class,
            plan.shares.len(),
            options.percentages
        ),
        device: device.to_string(),
        recording: options.recording.display().to_string(),
        arrays,
        networks: plan.networks(),
        facts,
    };
    output.write(&document)
}

/// The arrays that `property distance` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, models: &PropertyModels, plan: &PropertyPlan) -> Result<()> {
    writer.add("student", &models.student)?;
    writer.add("ensembles", &models.ensembles)?;
    writer.add("property_shares", &Array1::from(plan.shares.clone()))?;
    writer.add("student_value", &arr0(plan.value as i64))?;
    writer.add("point_index", &models.point_index)?;
    writer.add("point_label", &models.point_label)?;
    writer.add("student_label", &models.student_label)?;
    writer.add("ensemble_accuracy", &models.ensemble_accuracy)?;
    writer.add("seed", &arr0(plan.seed))
}
