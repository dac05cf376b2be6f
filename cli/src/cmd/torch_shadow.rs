//! `leakbound torch shadow`: answers of models that were trained on some audited samples and not on others.

use super::recipe::Recipe;
use super::recorded_plan::{RecordedPlan, untrained_views};
use super::shadow_figures::figures;
use super::training_run::About;
use crate::args::{Common, ShadowOptions};
use crate::output::Output;
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::{RecordingDocument, TrainingFact};
use leakbound::study::Number;
use leakbound_train::{FurtherAnswers, NeighborAnswers, ShadowAnswers, TrainingDevice, train_shadow_models};
use ndarray::arr0;

pub fn run(common: &Common, options: &ShadowOptions, device: TrainingDevice) -> Result<()> {
    let (output, document) = record(common, options, device)?;
    output.write(&document)
}

/// Trains the models and writes the recording; the document about it, and where it goes.
pub fn record(common: &Common, options: &ShadowOptions, device: TrainingDevice) -> Result<(Output, RecordingDocument)> {
    let plan = options.plan(common.seed)?;
    let mut files = options.checkpoint.files();
    files.extend(options.others.as_deref());
    let mut recipe = Recipe::open(common, &options.data, device, &files)?;
    let images = recipe.digests();
    let others = options.others.as_ref().map(|path| recipe.read_others(path)).transpose()?;
    let checkpoint = recipe.checkpoint(&options.checkpoint, "shadow", &plan)?;
    let networks = plan.networks();
    let answers = recipe.train(&format!("{networks} networks"), (networks, "networks"), |progress| {
        train_shadow_models(&recipe.context(progress, checkpoint.as_ref()), others.as_ref(), &plan)
    })?;
    let others = recipe.digests().split_off(images.len());
    let recorded = RecordedPlan { images, others, plan: serde_json::to_value(&plan).unwrap_or_default() };
    let untrained = recorded.has_untrained_views().then(|| untrained_views("these models"));
    let about = About {
        schema: "leakbound.torch-shadow/1",
        options,
        title: format!(
            "{} shadow models ({}, {}), {} {} samples audited, {} other images in every model",
            plan.models,
            plan.network,
            plan.defense,
            answers.labels.len(),
            plan.canaries,
            answers.fixed_index.len()
        ),
        networks,
        facts: facts(&answers),
        warnings: untrained.into_iter().collect(),
        figures: figures(&answers, &recipe.train, &options.canaries),
    };
    recipe.record(about, |writer| {
        add(writer, &answers, common.seed)?;
        writer.add("plan", &recorded.array()?)
    })
}

fn facts(answers: &ShadowAnswers) -> Vec<TrainingFact> {
    let further = answers.further.iter().filter_map(FurtherAnswers::named_mean);
    let test = Some(answers.mean_test_accuracy());
    [
        ("mean-test-accuracy", test),
        ("accuracy-on-members", answers.audit_accuracy(true)),
        ("accuracy-on-others", answers.audit_accuracy(false)),
    ]
    .into_iter()
    .chain(further.map(|(name, mean)| (name, Some(mean))))
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
    if let Some(copy_labels) = &answers.copy_labels {
        writer.add("copy_labels", copy_labels)?;
    }
    if let Some(source_index) = &answers.source_index {
        writer.add("source_index", source_index)?;
    }
    if let Some(canary_pixels) = &answers.canary_pixels {
        writer.add("canary_pixels", canary_pixels)?;
    }
    if let Some(NeighborAnswers { index, logits }) = &answers.neighbors {
        writer.add("neighbor_logits", logits)?;
        writer.add("neighbor_index", index)?;
    }
    for FurtherAnswers { name, values, .. } in &answers.further {
        writer.add(name, values)?;
    }
    writer.add("seed", &arr0(seed))
}
