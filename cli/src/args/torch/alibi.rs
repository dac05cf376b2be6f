//! Options of `leakbound torch alibi`.

use super::network::NetworkOptions;
use super::noise::share;
use super::{DataOptions, count, delta, epsilon, rate};
use clap::{Args, ValueEnum};
use leakbound::Result;
use leakbound::quantity::{Delta, Epsilon};
use leakbound_train::{AlibiPlan, LabelNoise, Optimizer, Schedule, TrainingPlan};
use serde::Serialize;

/// Options of `leakbound torch alibi`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct AlibiOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Noise of the one-hot labels
    #[arg(long, value_enum, default_value = "alibi")]
    pub mechanism: LabelMechanism,
    /// Label differential privacy of the noisy labels
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Epsilon,
    /// Delta of agibi; alibi needs none
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true)]
    pub delta: Delta,
    /// Canaries: training images with a wrong label, drawn at random
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub canaries: usize,
    /// The network
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Epochs
    #[arg(long, value_name = "N", default_value = "20", value_parser = count, allow_hyphen_values = true)]
    pub epochs: usize,
    /// Batch size
    #[arg(long, value_name = "N", default_value = "128", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Learning rate of SGD
    #[arg(long, value_name = "R", default_value = "0.05", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Momentum
    #[arg(long, value_name = "B", default_value = "0.9", value_parser = share, allow_hyphen_values = true)]
    pub momentum: f64,
    /// Weight decay
    #[arg(long, value_name = "W", default_value = "0", value_parser = share, allow_hyphen_values = true)]
    pub weight_decay: f64,
}

/// Noise of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelMechanism {
    /// Laplace noise of scale 2/epsilon on every coordinate
    Alibi,
    /// Gaussian noise
    Agibi,
}

impl AlibiOptions {
    /// The library's plan.
    pub fn plan(&self, seed: u64) -> Result<AlibiPlan> {
        Ok(AlibiPlan {
            network: self.network.plan(),
            noise: match self.mechanism {
                LabelMechanism::Alibi => LabelNoise::alibi(self.epsilon)?,
                LabelMechanism::Agibi => LabelNoise::agibi(self.epsilon, self.delta)?,
            },
            canaries: self.canaries,
            training: TrainingPlan::new(
                self.epochs,
                self.batch,
                Optimizer::Sgd { momentum: self.momentum, weight_decay: self.weight_decay, nesterov: false },
                Schedule::Constant { rate: self.learning_rate },
            ),
            seed,
        })
    }
}
