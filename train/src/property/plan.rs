//! What is trained for property inference.

use crate::checks::{check_counts, check_range, reject};
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use leakbound::accountant::gnmax_data_independent;
use leakbound::divergence::{RdpCurve, order_grid};
use leakbound::error::Result;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use serde::Serialize;

/// A PATE student whose teachers' images have a property, and ensembles for each value that the property may have.
///
/// The property: only a share of the images of one class is present.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropertyPlan {
    /// The class.
    pub class: u8,
    /// Shares of its images, each in (0, 1]: the values of the property.
    pub shares: Vec<f64>,
    /// Position of the share that the student's teachers have.
    pub value: usize,
    /// K: teachers of the student, and members of each ensemble.
    pub teachers: usize,
    /// Images of the ensembles.
    pub ensembles: EnsembleImages,
    /// Public points: test images that the teachers label for the student.
    pub points: usize,
    /// Noise of each class's votes for a point (GNMax).
    pub sigma: NoiseScale,
    /// The network of all.
    pub network: NetworkPlan,
    /// Training of teachers and members.
    pub training: TrainingPlan,
    /// Training of the student.
    pub student: TrainingPlan,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// Whose images the ensembles are trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnsembleImages {
    /// A half of the images that no teacher has: an adversary who knows data like the private ones.
    Public,
    /// The images of the teachers, partitioned again: an adversary in theory.
    Private,
}

impl PropertyPlan {
    /// Networks that are trained.
    #[must_use]
    pub fn networks(&self) -> u64 {
        ((self.shares.len() as u64 + 1) * self.teachers as u64).saturating_add(1)
    }

    /// ε at δ of all labels that the teachers gave, for one replaced image of theirs: the data-independent Rényi
    /// divergence of GNMax, over all points.
    #[must_use]
    pub fn label_epsilon(&self, delta: Delta) -> Epsilon {
        let curve = RdpCurve::from_fn(&order_grid(), |order| gnmax_data_independent(order, self.sigma));
        curve.repeated(self.points as f64).epsilon(delta).0
    }

    pub(super) fn check(&self) -> Result<()> {
        self.network.check()?;
        let counts = [
            ("teachers", self.teachers),
            ("public points", self.points),
            ("epochs", self.training.epochs.min(self.student.epochs)),
            ("images in a step", self.training.batch.min(self.student.batch)),
        ];
        check_counts(counts)?;
        check_shares(&self.shares)?;
        let (values, value) = (self.shares.len(), self.value);
        if values < 2 || value >= values {
            return reject("property", format!("{values} property values, and the student has number {value}"));
        }
        Ok(())
    }
}

/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a share of a class outside (0, 1].
pub(crate) fn check_shares(shares: &[f64]) -> Result<()> {
    shares.iter().try_for_each(|&share| check_range("share of a class", share, share > 0.0 && share <= 1.0, "(0, 1]"))
}
