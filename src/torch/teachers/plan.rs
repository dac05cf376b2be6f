//! Which teachers are trained.

use crate::error::{Error, Result};
use crate::torch::network::NetworkPlan;
use crate::torch::train::TrainingPlan;
use serde::Serialize;

/// Which teachers are trained, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeacherPlan {
    /// Number of teachers k of an ensemble.
    pub teachers: usize,
    /// Images of each teacher; as many as there are for all if absent.
    pub images: Option<usize>,
    /// The network of each teacher.
    pub network: NetworkPlan,
    /// Instantiations N_g: ensembles trained, with other randomness each.
    pub instantiations: usize,
    /// Queries, drawn from the test images.
    pub queries: usize,
    /// Queries that adversaries choose: half with the smallest margin of the votes, the others at random.
    pub adversarial: usize,
    /// Retrainings of one teacher for each of them.
    pub retrainings: usize,
    /// Training of each network.
    pub training: TrainingPlan,
    /// Seed of everything random.
    pub seed: u64,
}

impl TeacherPlan {
    /// All networks trained: ensembles of both kinds and retrainings.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (2 * self.instantiations * self.teachers + 4 * self.adversarial * self.retrainings + self.teachers) as u64
    }

    /// Images of each teacher.
    pub(super) fn images_each(&self, available: usize) -> Result<usize> {
        let images = self.images.unwrap_or(available / self.teachers.max(1));
        let counts = [
            ("teachers", self.teachers),
            ("images of a teacher", images),
            ("instantiations", self.instantiations),
            ("queries", self.queries),
        ];
        if let Some((quantity, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
        self.network.check()?;
        self.training.check(images)?;
        match images.checked_mul(self.teachers) {
            Some(needed) if needed <= available => Ok(images),
            _ => Err(Error::Refused {
                operation: "teachers",
                reason: format!(
                    "{} teachers with {images} images each need more than the {available} there are",
                    self.teachers
                ),
            }),
        }
    }
}
