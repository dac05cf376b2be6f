//! Options of `leakbound torch dpsgd-runs`.

use super::DataOptions;
use super::network::NetworkOptions;
use super::noise::{DescentOptions, NoiseOptions};
use super::numbers::{any_count, count};
use clap::{Args, ValueEnum};
use leakbound::Result;
use leakbound_train::{InitialWeights, RepeatedCanary, RepeatedRunsPlan};
use serde::Serialize;

/// Options of `leakbound torch dpsgd-runs`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DpsgdRunsOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Models with the canary, and as many without it
    #[arg(long, value_name = "R", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub runs: usize,
    /// Training images of every model
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub images: usize,
    /// The canary's image; its label is the class that is least likely under the initial weights
    #[arg(long, value_enum, value_name = "KIND", default_value = "blank")]
    pub canary: CanaryImageName,
    /// Initial weights of all models: learned for this many epochs, without noise, from the images that no model is
    /// trained on; 0 for random ones
    #[arg(long, value_name = "N", default_value = "5", value_parser = any_count, allow_hyphen_values = true)]
    pub initial_epochs: usize,
    /// The network of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// The noise
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Expected batch size N: each image joins a step independently with probability N/images; all of them if it is
    /// that of --images
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// The steps
    #[command(flatten)]
    #[serde(flatten)]
    pub descent: DescentOptions,
}

/// The image of the canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryImageName {
    /// All zeros, like no other image
    Blank,
    /// A training image with a wrong label
    Mislabeled,
}

impl DpsgdRunsOptions {
    /// The library's plan.
    ///
    /// # Errors
    /// Those of [`NoiseOptions::noise`].
    pub fn plan(&self, seed: u64) -> Result<RepeatedRunsPlan> {
        Ok(RepeatedRunsPlan {
            network: self.network.plan(),
            runs: self.runs,
            images: self.images,
            canary: match self.canary {
                CanaryImageName::Blank => RepeatedCanary::Blank,
                CanaryImageName::Mislabeled => RepeatedCanary::Mislabeled,
            },
            initial: match self.initial_epochs {
                0 => InitialWeights::Random,
                epochs => InitialWeights::Learned { epochs },
            },
            training: self.descent.training(&self.noise, self.batch, self.epochs)?,
            seed,
        })
    }
}
