//! How a network is trained privately, and what that costs.

use super::accounting::DpSgdSteps;
use crate::optimizer::{Optimizer, Schedule};
use leakbound::error::{Error, Result};
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use serde::Serialize;

/// DP-SGD of one network.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DpSgdPlan {
    /// R: the ℓ₂ norm to which the gradient of each image is clipped.
    pub clipping_norm: f64,
    /// How much noise.
    pub noise: GradientNoise,
    /// δ of the guarantee.
    pub delta: Delta,
    /// Images expected in a step, by which the sum is divided.
    pub batch: usize,
    /// Passes over the images.
    pub epochs: usize,
    /// The rule of a step.
    pub optimizer: Optimizer,
    /// The learning rate.
    pub schedule: Schedule,
    /// Decay of the moving average of the parameters, which is then the network; none for the last parameters.
    pub average: Option<f64>,
}

/// The noise on the sum of gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradientNoise {
    /// σ: its standard deviation in clipping norms.
    Multiplier(NoiseScale),
    /// As little as gives this ε at δ.
    Target(Epsilon),
}

/// What a plan comes to on a number of images.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DpSgdBudget {
    /// Sampling rate and number of steps.
    pub steps: DpSgdSteps,
    /// σ.
    pub noise_multiplier: NoiseScale,
    /// ε at the plan's δ.
    pub epsilon: Epsilon,
}

impl DpSgdPlan {
    /// Rate, steps, noise and ε for a training on so many images.
    ///
    /// # Errors
    /// [`Error::Domain`] for a clipping norm, a decay or a count out of range; those of [`DpSgdSteps`].
    pub fn budget(&self, images: usize) -> Result<DpSgdBudget> {
        let norm = self.clipping_norm;
        if !(norm > 0.0 && norm < f64::INFINITY) {
            return Err(Error::Domain { quantity: "clipping norm", value: norm, domain: "(0, inf)" });
        }
        if let Some(decay) = self.average.filter(|decay| !(0.0..1.0).contains(decay)) {
            return Err(Error::Domain { quantity: "decay of the average", value: decay, domain: "[0, 1)" });
        }
        let steps = DpSgdSteps::of_epochs(images, self.batch, self.epochs)?;
        let noise_multiplier = match self.noise {
            GradientNoise::Multiplier(noise) => noise,
            GradientNoise::Target(epsilon) => steps.noise_multiplier(epsilon, self.delta)?,
        };
        Ok(DpSgdBudget { steps, noise_multiplier, epsilon: steps.epsilon(noise_multiplier, self.delta)? })
    }
}
