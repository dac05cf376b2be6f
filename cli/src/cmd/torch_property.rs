//! `leakbound torch property`: answers of a student, and of ensembles for each value of a property.

use super::recipe::Recipe;
use super::training_run::About;
use crate::args::{Common, TorchPropertyOptions};
use leakbound::Result;
use leakbound::record::ArrayWriter;
use leakbound::report::TrainingFact;
use leakbound::study::Number;
use leakbound_train::{PropertyModels, PropertyPlan, TrainingDevice, train_for_property};
use ndarray::{Array1, arr0};

pub fn run(common: &Common, options: &TorchPropertyOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed)?;
    let recipe = Recipe::open(common, &options.data, device, &options.checkpoint.files())?;
    let checkpoint = recipe.checkpoint(&options.checkpoint, "property", &plan)?;
    let networks = plan.networks();
    let models = recipe.train(&format!("{networks} networks"), (networks, "networks"), |progress| {
        train_for_property(&recipe.context(progress, checkpoint.as_ref()), &plan)
    })?;
    let fact = |name, value| TrainingFact { name, value: Number(value) };
    let mut facts: Vec<TrainingFact> =
        models.student_accuracy.map(|accuracy| fact("student-accuracy", accuracy)).into_iter().collect();
    facts.extend([
        fact("mean-ensemble-accuracy", models.ensemble_accuracy.mean().unwrap_or_default()),
        fact("property-value", plan.value as f64),
        fact("label-epsilon", plan.label_epsilon(options.delta).get()),
        fact("delta", options.delta.get()),
    ]);
    let about = About {
        schema: "leakbound.torch-property/1",
        options,
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
        warnings: Vec::new(),
        figures: Vec::new(),
    };
    let (output, document) = recipe.record(about, |writer| add(writer, &models, &plan))?;
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
