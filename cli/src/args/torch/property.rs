//! Options of `leakbound torch property`.

use super::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{count, noise_scale, percentage, rate};
use crate::args::values::delta;
use clap::{Args, ValueEnum};
use leakbound::quantity::{Delta, NoiseScale};
use leakbound::{Error, Result};
use leakbound_train::{EnsembleImages, Optimizer, PropertyPlan, Schedule, TrainingPlan};
use serde::Serialize;

/// Options of `leakbound torch property`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct TorchPropertyOptions {
    /// Images and recording
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
    #[arg(long, value_name = "P", default_value = "25", value_parser = percentage, allow_hyphen_values = true)]
    pub student_percentage: f64,
    /// Training images of the ensembles
    #[arg(long, value_enum, default_value = "public")]
    pub ensembles: EnsembleSource,
    /// Teachers of the student, and members of each ensemble
    #[arg(long, value_name = "K", default_value = "50", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Public points, drawn from the test images, to be labeled by the teachers
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub points: usize,
    /// Standard deviation of the noise on the votes for each class (GNMax)
    #[arg(long, value_name = "S", default_value = "5", value_parser = noise_scale, allow_hyphen_values = true)]
    pub sigma: NoiseScale,
    /// Delta at which to report the cost of these labels
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true)]
    pub delta: Delta,
    /// The network of all
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Epochs of each teacher
    #[arg(long, value_name = "N", default_value = "25", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Epochs of the student
    #[arg(long, value_name = "N", default_value = "25", value_parser = count, allow_hyphen_values = true)]
    pub student_epochs: usize,
    /// Batch size
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Learning rate of Adam
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
}

/// Whose images the ensembles are trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleSource {
    /// A half of the training images that no teacher has
    Public,
    /// The teachers' own images, partitioned anew
    Private,
}

impl TorchPropertyOptions {
    /// The library's plan.
    pub fn plan(&self, seed: u64) -> Result<PropertyPlan> {
        let value = self.percentages.iter().position(|&percentage| percentage == self.student_percentage);
        let value = value.ok_or_else(|| Error::Rejected {
            operation: "--student-percentage",
            reason: format!("{} is none of --percentages {:?}", self.student_percentage, self.percentages),
        })?;
        let training = |epochs| {
            TrainingPlan::new(epochs, self.batch, Optimizer::ADAM, Schedule::Constant { rate: self.learning_rate })
        };
        Ok(PropertyPlan {
            class: self.class,
            shares: self.percentages.iter().map(|percentage| percentage / 100.0).collect(),
            value,
            teachers: self.teachers,
            ensembles: match self.ensembles {
                EnsembleSource::Public => EnsembleImages::Public,
                EnsembleSource::Private => EnsembleImages::Private,
            },
            points: self.points,
            sigma: self.sigma,
            network: self.network.plan(),
            training: training(self.epochs),
            student: training(self.student_epochs),
            seed,
        })
    }
}
