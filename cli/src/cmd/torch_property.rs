//! `leakbound torch property`: answers of a student, and of ensembles for each value of a property.

use super::recipe::Recipe;
use super::training_run::{About, Recorded};
use crate::args::{Common, TorchPropertyOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound_train::{PropertyModels, PropertyPlan, TrainingDevice, train_for_property};
use ndarray::{Array1, arr0};

pub fn record(common: &Common, options: &TorchPropertyOptions, device: TrainingDevice) -> Result<Recorded> {
    let plan = options.plan(common.seed)?;
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    recipe.open_checkpoint("property", &plan)?;
    let networks = plan.networks();
    let models = recipe.train_networks(networks, |context| train_for_property(context, &plan))?;
    let mut facts: Vec<_> =
        models.student_accuracy.map(|accuracy| ("student-accuracy", accuracy)).into_iter().collect();
    facts.extend([
        ("mean-ensemble-accuracy", models.ensemble_accuracy.mean().unwrap_or_default()),
        ("property-value", plan.value as f64),
        ("label-epsilon", plan.label_epsilon(options.delta).get()),
        ("delta", options.delta.get()),
    ]);
    let about = About {
        title: format!(
            "A student of {} teachers ({}) with {} % of class {}; {} ensembles with {:?} %",
            plan.teachers,
            plan.network,
            options.student_percentage,
            plan.class,
            plan.shares.len(),
            options.percentages
        ),
        networks,
        facts,
        ..About::of("leakbound.torch-property/1", options)
    };
    recipe.record(about, |writer| add(writer, &models, &plan))
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
    writer.add("ensemble_accuracy", &models.ensemble_accuracy)
}
