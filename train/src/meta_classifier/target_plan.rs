//! Which networks are trained to be told apart.

use crate::checks::{check_counts, check_range};
use crate::network::NetworkPlan;
use crate::property::check_shares;
use crate::train::TrainingPlan;
use leakbound::error::Result;
use serde::Serialize;

/// Networks trained on images that have a property, equally many for each value that it may have.
///
/// The property: of the images of one class, only a share is there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetPlan {
    /// The class.
    pub class: u8,
    /// Shares of its images, each in (0, 1]: the values of the property.
    pub shares: Vec<f64>,
    /// Networks for each value.
    pub networks: usize,
    /// Images of each network, drawn by itself.
    pub images: usize,
    /// Public points: test images that every network answers at.
    pub points: usize,
    /// The network of all.
    pub network: NetworkPlan,
    /// Training of each.
    pub training: TrainingPlan,
    /// Seed of everything random.
    pub seed: u64,
}

impl TargetPlan {
    /// Networks that are trained.
    #[must_use]
    pub fn all_networks(&self) -> u64 {
        self.shares.len() as u64 * self.networks as u64
    }

    pub(super) fn check(&self) -> Result<()> {
        self.network.check()?;
        let counts = [
            ("public points", self.points),
            ("images of a network", self.images),
            ("epochs", self.training.epochs),
            ("images in a step", self.training.batch),
        ];
        check_counts(counts)?;
        check_shares(&self.shares)?;
        let values = self.shares.len();
        check_range("property values", values as f64, (2..=256).contains(&values), "{2, ..., 256}")?;
        let quantity = "networks of a value, for training, validation and test";
        check_range(quantity, self.networks as f64, self.networks >= 3, "[3, inf)")
    }
}
