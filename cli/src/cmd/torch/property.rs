//! `leakbound torch property`: answers of a student, and of ensembles for each value of a property.

use super::data::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{count, noise_scale, percentage, rate};
use super::recipe::Recipe;
use super::training_run::{About, Recorded, add_fields};
use crate::args::Common;
use crate::args::values::{Choice, Names, choice, delta};
use clap::Args;
use leakbound::quantity::{Delta, NoiseScale};
use leakbound::record::ArrayWriter;
use leakbound::{Error, Result};
use leakbound_train::{
    EnsembleImages, Optimizer, PropertyModels, PropertyPlan, Schedule, TrainingDevice, TrainingPlan, train_for_property,
};
use ndarray::{Array1, arr0};
use serde::Serialize;

/// Train a PATE student whose teachers' images have a property, and ensembles for each value of the property
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Example:\n  leakbound torch property --data fashion-mnist --recording answers.npz --class 0 \
                  --percentages 100,25 --student-percentage 25\n  leakbound property distance answers.npz")]
pub struct TorchPropertyOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Class whose fraction is the property
    #[arg(long, value_name = "C", default_value = "0")]
    pub class: u8,
    /// Values of the property: how many in a hundred of the images of that class are there
    #[arg(long, value_name = "P,P,...", default_value = "100,50,25", value_delimiter = ',', value_parser = percentage,
          allow_hyphen_values = true)]
    pub percentages: Vec<f64>,
    /// The value that the images of the student's teachers have, one of --percentages
    #[arg(long, value_name = "P", default_value = "25", value_parser = percentage, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_percentage: f64,
    /// Training images of the ensembles
    #[arg(long, value_parser = choice(SOURCES), default_value = "public")]
    pub ensembles: Choice<EnsembleImages>,
    /// Teachers of the student, and members of each ensemble
    #[arg(long, value_name = "K", default_value = "50", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Public points, drawn from the test images, to be labeled by the teachers
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub points: usize,
    /// Standard deviation of the noise on the votes for each class (GNMax)
    #[arg(long, value_name = "S", default_value = "5", value_parser = noise_scale, allow_hyphen_values = true, help_heading = "Advanced")]
    pub sigma: NoiseScale,
    /// Delta at which to report the cost of these labels
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true, help_heading = "Advanced")]
    pub delta: Delta,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Epochs of each teacher
    #[arg(long, value_name = "N", default_value = "25", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Epochs of the student
    #[arg(long, value_name = "N", default_value = "25", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub student_epochs: usize,
    /// Batch size
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub batch: usize,
    /// Learning rate of Adam
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true, help_heading = "Advanced")]
    pub learning_rate: f64,
}

/// Whose images the ensembles are trained on.
const SOURCES: Names<EnsembleImages> = &[
    ("public", "A half of the training images that no teacher has", EnsembleImages::Public),
    ("private", "The teachers' own images, partitioned again", EnsembleImages::Private),
];

impl TorchPropertyOptions {
    pub fn plan(&self, seed: u64) -> Result<PropertyPlan> {
        let value = self.percentages.iter().position(|&percentage| percentage == self.student_percentage);
        let value = value.ok_or_else(|| Error::Rejected {
            operation: "--student-percentage",
            reason: format!("{} is not one of --percentages {:?}", self.student_percentage, self.percentages),
        })?;
        let training = |epochs| {
            TrainingPlan::new(epochs, self.batch, Optimizer::ADAM, Schedule::Constant { rate: self.learning_rate })
        };
        Ok(PropertyPlan {
            class: self.class,
            shares: self.percentages.iter().map(|percentage| percentage / 100.0).collect(),
            value,
            teachers: self.teachers,
            ensembles: self.ensembles.value,
            points: self.points,
            sigma: self.sigma,
            network: self.network.plan(),
            training: training(self.epochs),
            student: training(self.student_epochs),
            seed,
        })
    }
}

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
            "A student of {} teachers ({}) with {}% of class {}; {} ensembles with {:?}%",
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
    add_fields!(writer, models; student, ensembles);
    writer.add("property_shares", &Array1::from(plan.shares.clone()))?;
    writer.add("student_value", &arr0(plan.value as i64))?;
    add_fields!(writer, models; point_index, point_label, student_label, ensemble_accuracy);
    Ok(())
}
