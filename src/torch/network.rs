//! Which network is trained.

use super::ensemble::Ensemble;
use super::mlp::MlpEnsemble;
use crate::error::{Error, Result};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::fmt;
use tch::Device;

/// The shape of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum NetworkPlan {
    /// One hidden layer of units with ReLU.
    Mlp {
        /// Hidden units H.
        hidden: usize,
    },
}

impl NetworkPlan {
    /// One network for each stream, which draws its initial weights, for images of shape \[channels, rows, columns\].
    pub(super) fn build(
        self,
        streams: &mut [ChaCha8Rng],
        shape: [usize; 3],
        classes: usize,
        device: Device,
    ) -> Box<dyn Ensemble> {
        match self {
            Self::Mlp { hidden } => {
                Box::new(MlpEnsemble::new(streams, shape.iter().product(), hidden, classes, device))
            }
        }
    }

    /// Networks that are trained side by side on one thread of a CPU: as many as keep their parameters in its cache.
    pub(super) fn group(self) -> usize {
        match self {
            Self::Mlp { .. } => 8,
        }
    }

    /// # Errors
    /// [`Error::Domain`] for a layer of no units.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Mlp { hidden: 0 } => Err(Error::Domain { quantity: "hidden units", value: 0.0, domain: "[1, inf)" }),
            Self::Mlp { .. } => Ok(()),
        }
    }
}

impl fmt::Display for NetworkPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mlp { hidden } => write!(formatter, "one hidden layer of {hidden} units"),
        }
    }
}
