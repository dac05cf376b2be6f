//! Options of `leakbound torch dpsgd`.

use super::network::NetworkOptions;
use super::training::CheckpointOptions;
use super::{DataOptions, Parsed, any_count, count, delta, epsilon, number, quantity, rate};
use clap::Args;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use leakbound_train::{Augmentation, DpSgdPlan, GradientNoise, Optimizer, PrivateModelsPlan, Schedule, TrainingViews};
use serde::Serialize;

/// Options of `leakbound torch dpsgd`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DpsgdOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Where answers are kept until all are there
    #[command(flatten)]
    #[serde(flatten)]
    pub checkpoint: CheckpointOptions,
    /// Models, each trained on half of the canaries
    #[arg(long, value_name = "M", default_value = "16", value_parser = count, allow_hyphen_values = true)]
    pub models: usize,
    /// Training images of every model [default: all that are not canaries]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub images: Option<usize>,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub canaries: usize,
    /// The network of each model
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Noise multiplier: standard deviation of the noise on the sum of gradients, in clipping norms
    #[arg(long, value_name = "S", value_parser = noise_multiplier, allow_hyphen_values = true,
          conflicts_with = "epsilon", required_unless_present = "epsilon")]
    pub noise_multiplier: Option<NoiseScale>,
    /// Calibrate the noise so that each model is (E, delta)-differentially private, instead of --noise-multiplier
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Option<Epsilon>,
    /// Delta of that guarantee
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true)]
    pub delta: Delta,
    /// Clipping norm of per-image gradients
    #[arg(long, value_name = "R", default_value = "1", value_parser = clipping_norm, allow_hyphen_values = true)]
    pub clipping_norm: f64,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "20", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Expected batch size N: each image joins a step independently with probability N/images
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Learning rate of SGD
    #[arg(long, value_name = "R", default_value = "1", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Momentum
    #[arg(long, value_name = "B", default_value = "0", value_parser = share, allow_hyphen_values = true)]
    pub momentum: f64,
    /// Decay of the exponential moving average of the parameters, which is then the model, such as 0.9999
    #[arg(long, value_name = "D", value_parser = share, allow_hyphen_values = true)]
    pub average: Option<f64>,
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

impl DpsgdOptions {
    /// The library's plan.
    pub fn plan(&self, seed: u64) -> PrivateModelsPlan {
        // One of the two is there, and no noise at all stands for none of them.
        let target = GradientNoise::Target(self.epsilon.unwrap_or(Epsilon::INFINITE));
        PrivateModelsPlan {
            network: self.network.plan(),
            models: self.models,
            images: self.images,
            canaries: self.canaries,
            training: DpSgdPlan {
                clipping_norm: self.clipping_norm,
                noise: self.noise_multiplier.map_or(target, GradientNoise::Multiplier),
                delta: self.delta,
                batch: self.batch,
                epochs: self.epochs,
                optimizer: Optimizer::Sgd { momentum: self.momentum, weight_decay: 0.0, nesterov: false },
                schedule: Schedule::Constant { rate: self.learning_rate },
                average: self.average,
            },
            views: (self.views > 1 || self.flip || self.shift > 0).then_some(TrainingViews {
                count: self.views,
                augmentation: Augmentation { flip: self.flip, shift: self.shift },
            }),
            seed,
        }
    }
}

pub(super) fn noise_multiplier(text: &str) -> Parsed<NoiseScale> {
    quantity(text, NoiseScale::new)
}

pub(super) fn clipping_norm(text: &str) -> Parsed<f64> {
    let norm = number(text)?;
    if norm > 0.0 && norm <= 1e6 { Ok(norm) } else { Err(format!("{norm} is not in (0, 1e6]")) }
}

pub(super) fn share(text: &str) -> Parsed<f64> {
    let share = number(text)?;
    if (0.0..1.0).contains(&share) { Ok(share) } else { Err(format!("{share} is not in [0, 1)")) }
}
