//! The noise of DP-SGD, for every recipe that trains by it.

use super::numbers::{below_1, noise_scale, rate, within};
use crate::args::values::{Parsed, delta, epsilon};
use clap::Args;
use leakbound::error::{Error, Result};
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use leakbound_train::{DpSgdPlan, GradientNoise, Optimizer, Schedule};
use serde::Serialize;

/// Noisy gradients of clipped norm.
#[derive(Debug, Clone, Args, Serialize)]
pub struct NoiseOptions {
    /// Noise multiplier of DP-SGD: standard deviation of the noise on the sum of gradients, in clipping norms
    #[arg(long, value_name = "S", value_parser = noise_scale, allow_hyphen_values = true,
          conflicts_with = "epsilon")]
    pub noise_multiplier: Option<NoiseScale>,
    /// Calibrate the noise of DP-SGD so that each model is (E, delta)-differentially private, instead of
    /// --noise-multiplier
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub epsilon: Option<Epsilon>,
    /// Delta of that guarantee
    #[arg(long, value_name = "D", default_value = "1e-5", value_parser = delta, allow_hyphen_values = true, help_heading = "Advanced")]
    pub delta: Delta,
    /// Clipping norm of per-image gradients in DP-SGD
    #[arg(long, value_name = "R", default_value = "1", value_parser = clipping_norm, allow_hyphen_values = true, help_heading = "Advanced")]
    pub clipping_norm: f64,
    /// Decay of the exponential moving average of the parameters, which is then the model of DP-SGD, such as 0.9999
    #[arg(long, value_name = "D", value_parser = below_1, allow_hyphen_values = true, help_heading = "Advanced")]
    pub average: Option<f64>,
}

impl NoiseOptions {
    /// How much noise.
    /// Fails with [`Error::Rejected`] if neither option is given.
    pub fn noise(&self) -> Result<GradientNoise> {
        match (self.noise_multiplier, self.epsilon) {
            (Some(noise), _) => Ok(GradientNoise::Multiplier(noise)),
            (None, Some(epsilon)) => Ok(GradientNoise::Target(epsilon)),
            (None, None) => {
                Err(Error::Rejected { operation: "DP-SGD", reason: "it needs --noise-multiplier or --epsilon".into() })
            }
        }
    }

    /// Options with whether they are at another value than their default.
    pub fn chosen(&self) -> [(&'static str, bool); 5] {
        [
            ("--noise-multiplier", self.noise_multiplier.is_some()),
            ("--epsilon", self.epsilon.is_some()),
            ("--delta", self.delta.get() != 1e-5),
            ("--clipping-norm", self.clipping_norm != 1.0),
            ("--average", self.average.is_some()),
        ]
    }
}

/// Steps along noisy gradients at a constant rate.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct DescentOptions {
    /// Learning rate of SGD
    #[arg(long, value_name = "R", default_value = "1", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Momentum
    #[arg(long, value_name = "B", default_value = "0", value_parser = below_1, allow_hyphen_values = true)]
    pub momentum: f64,
}

impl DescentOptions {
    /// The library's plan of a training.
    pub fn training(&self, noise: &NoiseOptions, batch: usize, epochs: usize) -> Result<DpSgdPlan> {
        Ok(DpSgdPlan {
            clipping_norm: noise.clipping_norm,
            noise: noise.noise()?,
            delta: noise.delta,
            batch,
            epochs,
            optimizer: Optimizer::Sgd { momentum: self.momentum, weight_decay: 0.0, nesterov: false },
            schedule: Schedule::Constant { rate: self.learning_rate },
            average: noise.average,
        })
    }
}

fn clipping_norm(text: &str) -> Parsed<f64> {
    within(text, |norm| norm > 0.0 && norm <= 1e6, "(0, 1e6]")
}
