//! `leakbound torch shadow`: answers of models that were trained on some audited samples and not on others.

use super::recipe::Recipe;
use super::recorded_plan::{RecordedPlan, untrained_views};
use super::shadow_figures::figures;
use super::training_run::{About, Recorded};
use crate::args::{Common, ShadowOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound_train::{FurtherAnswers, NeighborAnswers, ShadowAnswers, TrainingDevice, train_shadow_models};
use std::path::Path;

/// Trains the models and writes the recording.
pub fn record(common: &Common, options: &ShadowOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let files: Vec<&Path> = options.others.as_deref().into_iter().collect();
    let mut recipe = Recipe::open(common, &options.data, device, &files)?;
    let images = recipe.run.digests();
    let others = options.others.as_ref().map(|path| recipe.read_others(path)).transpose()?;
    recipe.open_checkpoint("shadow", &plan)?;
    let networks = plan.networks();
    let answers = recipe.train_networks(networks, |context| train_shadow_models(context, others.as_ref(), &plan))?;
    let others = recipe.run.digests().split_off(images.len());
    let recorded = RecordedPlan::new(&plan, images, others);
    let untrained = recorded.has_untrained_views().then(|| untrained_views("these models"));
    let about = About {
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
        plan: Some(recorded),
        ..About::of("leakbound.torch-shadow/1", options)
    };
    recipe.record(about, |writer| add(writer, &answers))
}

fn facts(answers: &ShadowAnswers) -> Vec<(&'static str, f64)> {
    let of_audited = [
        answers.audit_accuracy(true).map(|accuracy| ("accuracy-on-members", accuracy)),
        answers.audit_accuracy(false).map(|accuracy| ("accuracy-on-others", accuracy)),
    ];
    let further = answers.further.iter().filter_map(FurtherAnswers::named_mean);
    let test = ("mean-test-accuracy", answers.mean_test_accuracy());
    [test].into_iter().chain(of_audited.into_iter().flatten()).chain(further).collect()
}

/// The arrays that `membership` reads, then what else there is to know.
fn add(writer: &mut ArrayWriter, answers: &ShadowAnswers) -> Result<()> {
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
    Ok(())
}
