//! Which networks are trained on private labels.

use super::mechanism::LabelMechanism;
use crate::checks::{check_counts, reject};
use crate::context::TrainingContext;
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use crate::training_images::check_tables;
use leakbound::error::Result;
use serde::Serialize;

/// Networks trained on private labels, each with its own canaries and noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelDpPlan {
    /// The network of each model.
    pub network: NetworkPlan,
    /// How labels are made private.
    pub mechanism: LabelMechanism,
    /// Number of models.
    pub models: usize,
    /// Training images of each model with a wrong label, drawn uniformly and independently.
    pub canaries: usize,
    /// Training of each network.
    pub training: TrainingPlan,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl LabelDpPlan {
    /// Networks that are trained for all models.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (self.models as u64).saturating_mul(self.mechanism.networks() as u64)
    }

    pub(super) fn check(&self, context: &TrainingContext<'_>) -> Result<()> {
        let (images, classes) = (context.train.len(), context.classes());
        check_counts([("models", self.models), ("canaries", self.canaries)])?;
        self.network.check()?;
        self.training.check(images)?;
        self.mechanism.check()?;
        if let Some(augmentation) = self.training.augmentation {
            augmentation.check(context.train.shape())?;
        }
        if self.canaries > images {
            return reject("label privacy", format!("{} canaries of {images} training images", self.canaries));
        }
        if classes < 3 {
            return reject(
                "label privacy",
                "the audit guesses between two wrong labels, which needs at least 3 classes",
            );
        }
        context.check_shapes()?;
        check_tables("label privacy", self.models as u64, images.saturating_mul(classes))
    }
}
