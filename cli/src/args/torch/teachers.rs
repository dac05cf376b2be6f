//! Options of `leakbound torch teachers`.

use super::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{any_count, count};
use super::training::TrainingOptions;
use clap::Args;
use leakbound_train::TeacherPlan;
use serde::Serialize;

/// Options of `leakbound torch teachers`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct TeachersOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Teachers of an ensemble
    #[arg(long, value_name = "K", default_value = "250", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Training images per teacher [default: an equal share of all]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub images: Option<usize>,
    /// The network of each teacher
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Ensembles of each kind (N_g): random partitions of the images, and one partition trained again and again
    #[arg(long, value_name = "N", default_value = "12", value_parser = count, allow_hyphen_values = true)]
    pub instantiations: usize,
    /// Queries, drawn from the test images
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    /// Queries chosen by adversaries: half with the smallest vote margin, half at random
    #[arg(long, value_name = "N", default_value = "60", value_parser = any_count, allow_hyphen_values = true)]
    pub adversarial: usize,
    /// Retrainings of one teacher for each query
    #[arg(long, value_name = "N", default_value = "50", value_parser = any_count, allow_hyphen_values = true)]
    pub retrainings: usize,
    /// The training of each teacher
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
}

impl TeachersOptions {
    /// The library's plan.
    pub fn plan(&self, seed: u64) -> TeacherPlan {
        TeacherPlan {
            teachers: self.teachers,
            images: self.images,
            network: self.network.plan(),
            instantiations: self.instantiations,
            queries: self.queries,
            adversarial: self.adversarial,
            retrainings: self.retrainings,
            training: self.training.plan(30),
            seed,
        }
    }
}
