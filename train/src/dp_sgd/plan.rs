//! How a network is trained privately, and what that costs.

use super::accounting::DpSgdSteps;
use crate::augment::Augmentation;
use crate::checks::{check_counts, check_positive, check_range, reject};
use crate::optimizer::{Optimizer, Schedule};
use leakbound::error::Result;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use tch::Tensor;

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
    /// The least noise that gives this ε at δ.
    Target(Epsilon),
}

/// K views of an image, drawn afresh at every step (augmentation multiplicity: De et al. 2022, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrainingViews {
    /// K.
    pub count: usize,
    /// How each is drawn.
    pub augmentation: Augmentation,
}

impl TrainingViews {
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for no view, [`Error::Rejected`](leakbound::Error::Rejected) for a
    /// shift that leaves nothing of an image of this shape.
    pub(super) fn check(self, shape: [usize; 3]) -> Result<()> {
        check_counts([("views of an image", self.count)])?;
        self.augmentation.check(shape)
    }

    /// Views [n, K, F] of images [n, F].
    pub(super) fn of(self, images: &Tensor, shape: [usize; 3], stream: &mut ChaCha8Rng) -> Tensor {
        self.augmentation.views(images, self.count, shape, stream)
    }
}

/// How many images a network is trained on besides the canaries: the requested number, or all that remain.
pub(super) fn fixed_images(images: Option<usize>, canaries: usize, available: usize) -> Result<usize> {
    let left = available.saturating_sub(canaries);
    let images = images.unwrap_or(left);
    if images == 0 || images > left || canaries > available {
        return reject("DP-SGD", format!("{images} images and {canaries} canaries of {available} training images"));
    }
    Ok(images)
}

/// The consequences of a plan for a number of images.
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
    /// What tests begin with: SGD at a constant rate.
    #[cfg(test)]
    pub(super) fn plain(noise: f64, batch: usize, epochs: usize, rate: f64) -> Self {
        Self {
            clipping_norm: 1.0,
            noise: GradientNoise::Multiplier(NoiseScale::new(noise).unwrap()),
            delta: Delta::new(1e-5).unwrap(),
            batch,
            epochs,
            optimizer: Optimizer::Sgd { momentum: 0.0, weight_decay: 0.0, nesterov: false },
            schedule: Schedule::Constant { rate },
            average: None,
        }
    }

    /// Rate, steps, noise and ε for a training on this number of images.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a clipping norm, a decay or a count out of range; those of
    /// [`DpSgdSteps`].
    pub fn budget(&self, images: usize) -> Result<DpSgdBudget> {
        check_positive("clipping norm", self.clipping_norm)?;
        if let Some(decay) = self.average {
            check_range("decay of the average", decay, (0.0..1.0).contains(&decay), "[0, 1)")?;
        }
        let steps = DpSgdSteps::of_epochs(images, self.batch, self.epochs)?;
        let noise_multiplier = match self.noise {
            GradientNoise::Multiplier(noise) => noise,
            GradientNoise::Target(epsilon) => steps.noise_multiplier(epsilon, self.delta)?,
        };
        Ok(DpSgdBudget { steps, noise_multiplier, epsilon: steps.epsilon(noise_multiplier, self.delta)? })
    }
}
