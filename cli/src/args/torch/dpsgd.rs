//! Options of `leakbound torch dpsgd`.

use super::DataOptions;
use super::network::NetworkOptions;
use super::noise::{DescentOptions, NoiseOptions};
use super::numbers::{any_count, count};
use clap::{Args, ValueEnum};
use leakbound::Result;
use leakbound_train::{AuditedModelPlan, Augmentation, PrivateModelsPlan, RunCanaries, TrainingViews};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound torch dpsgd`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DpsgdOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Models, each trained on half of the canaries
    #[arg(long, value_name = "M", default_value = "16", value_parser = count, allow_hyphen_values = true)]
    pub models: usize,
    /// Training images of every model [default: all that are not canaries]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub images: Option<usize>,
    /// Train one model for the audit that this plan of `leakbound canaries plan` declares: on the canaries whose coin is
    /// up, with a score for each in the recording
    #[arg(long, value_name = "PLAN.json", conflicts_with_all = ["models", "canaries", "checkpoint"])]
    pub canary_plan: Option<PathBuf>,
    /// What the canaries of a plan are
    #[arg(long, value_enum, value_name = "KIND", default_value = "dirac", requires = "canary_plan")]
    pub canary_kind: CanaryKindName,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub canaries: usize,
    /// The network of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// The noise
    #[command(flatten)]
    #[serde(flatten)]
    pub noise: NoiseOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "20", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Expected batch size N: each image joins a step independently with probability N/images
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// The steps
    #[command(flatten)]
    #[serde(flatten)]
    pub descent: DescentOptions,
    /// Views of each image, drawn by --flip and --shift at every step, of which the gradients are averaged before they
    /// are clipped
    #[arg(long, value_name = "K", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub views: usize,
    /// Flip training images with probability 1/2
    #[arg(long)]
    pub flip: bool,
    /// Shift training images by up to this many pixels on each axis, padding with 0
    #[arg(long, value_name = "P", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub shift: usize,
}

/// What the canaries of a plan are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryKindName {
    /// Gradients along one parameter each, scored by all noisy gradients
    Dirac,
    /// Gradients along blocks of parameters with random signs, scored likewise
    Signs,
    /// Training images with a wrong label, scored by the loss of the model
    Images,
}

impl DpsgdOptions {
    /// The library's plan of one model for an audit.
    ///
    /// # Errors
    /// Those of [`NoiseOptions::noise`].
    pub fn audited_plan(&self, seed: u64) -> Result<AuditedModelPlan> {
        let PrivateModelsPlan { network, images, training, views, .. } = self.plan(seed)?;
        let canaries = match self.canary_kind {
            CanaryKindName::Dirac => RunCanaries::Dirac,
            CanaryKindName::Signs => RunCanaries::Signs,
            CanaryKindName::Images => RunCanaries::Images,
        };
        Ok(AuditedModelPlan { network, images, canaries, training, views, seed })
    }

    /// The library's plan.
    ///
    /// # Errors
    /// Those of [`NoiseOptions::noise`].
    pub fn plan(&self, seed: u64) -> Result<PrivateModelsPlan> {
        Ok(PrivateModelsPlan {
            network: self.network.plan(),
            models: self.models,
            images: self.images,
            canaries: self.canaries,
            training: self.descent.training(&self.noise, self.batch, self.epochs)?,
            views: (self.views > 1 || self.flip || self.shift > 0).then_some(TrainingViews {
                count: self.views,
                augmentation: Augmentation { flip: self.flip, shift: self.shift },
            }),
            seed,
        })
    }
}
