//! Defenses against membership inference: how a shadow model is trained and answers, one file for each.
//!
//! A new defense is a file with a type that implements `Method`, and a variant of [`Defense`].

mod contrastive;
mod dfkd;
mod dp_sgd;
mod hamp;
pub(super) mod method;
mod relaxloss;
mod selena;

pub use contrastive::{ClassifierPlan, EncoderPlan, MoCo, SimClr};
pub use dfkd::Dfkd;
pub use dp_sgd::DpSgd;
pub use hamp::Hamp;
pub use relaxloss::RelaxLoss;
pub use selena::Selena;

use crate::dp_sgd::GradientNoise;
use method::{Method, Undefended};
use serde::Serialize;
use std::fmt;

/// How shadow models are defended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Defense {
    /// Not at all: mean cross-entropy on the labels.
    None,
    /// The loss of a batch is kept at a threshold.
    #[serde(rename = "relaxloss")]
    RelaxLoss(RelaxLoss),
    /// Soft labels, less confident answers, and random ones in their order.
    Hamp(Hamp),
    /// Distillation of models, each image by those that did not see it.
    Selena(Selena),
    /// Distillation on images that a generator makes of the network's batch-normalization statistics.
    Dfkd(Dfkd),
    /// Noisy gradients of clipped norm.
    DpSgd(DpSgd),
    /// An encoder that learns from pairs of views, and a linear classifier on it.
    #[serde(rename = "simclr")]
    SimClr(SimClr),
    /// The same, with a queue of keys.
    #[serde(rename = "moco")]
    MoCo(MoCo),
}

impl Defense {
    /// Networks that progress counts for one shadow model; of DFKD a teacher and its student are one.
    #[must_use]
    pub fn networks(self) -> u64 {
        self.method().networks()
    }

    /// How it is carried out.
    pub(super) fn method(&self) -> &dyn Method {
        match self {
            Self::None => &Undefended,
            Self::RelaxLoss(defense) => defense,
            Self::Hamp(defense) => defense,
            Self::Selena(defense) => defense,
            Self::Dfkd(defense) => defense,
            Self::DpSgd(defense) => defense,
            Self::SimClr(defense) => defense,
            Self::MoCo(defense) => defense,
        }
    }
}

impl fmt::Display for Defense {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("no defense"),
            Self::RelaxLoss(RelaxLoss { loss_threshold }) => write!(formatter, "RelaxLoss at {loss_threshold}"),
            Self::Hamp(Hamp { entropy_share, entropy_weight }) => {
                write!(formatter, "HAMP with entropy share {entropy_share} and weight {entropy_weight}")
            }
            Self::Selena(Selena { models, left_out }) => {
                write!(formatter, "SELENA of {models} models, {left_out} of them for an image")
            }
            Self::Dfkd(Dfkd { iterations, images, .. }) => {
                write!(formatter, "DFKD with {iterations} times {images} synthetic images")
            }
            Self::DpSgd(DpSgd { noise: GradientNoise::Multiplier(noise), .. }) => {
                write!(formatter, "DP-SGD with noise multiplier {noise}")
            }
            Self::DpSgd(DpSgd { noise: GradientNoise::Target(epsilon), delta, .. }) => {
                write!(formatter, "DP-SGD with epsilon {epsilon} at delta {delta}")
            }
            Self::SimClr(SimClr { encoder: EncoderPlan { epochs, temperature, .. } }) => {
                write!(formatter, "SimCLR, {epochs} epochs at temperature {temperature}")
            }
            Self::MoCo(MoCo { encoder: EncoderPlan { epochs, temperature, .. }, queue, .. }) => {
                write!(formatter, "MoCo, {epochs} epochs at temperature {temperature}, a queue of {queue} keys")
            }
        }
    }
}

#[cfg(test)]
mod tests;
