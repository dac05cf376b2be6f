//! Which teachers are trained.

use super::split::images_each;
use crate::checks::check_counts;
use crate::network::NetworkPlan;
use crate::train::TrainingPlan;
use crate::training_images::check_tables;
use leakbound::error::Result;
use serde::Serialize;

/// Which teachers are trained, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeacherPlan {
    /// Number of teachers k of an ensemble.
    pub teachers: usize,
    /// Images of each teacher; if absent, the most that suffice for all.
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
    /// The seed of all random numbers.
    pub seed: u64,
}

impl TeacherPlan {
    /// All networks trained: ensembles of both kinds and retrainings.
    #[must_use]
    pub fn networks(&self) -> u64 {
        let times = |a: usize, b: usize| (a as u64).saturating_mul(b as u64);
        let ensembles = times(self.instantiations, self.teachers).saturating_mul(2);
        let retrained = times(self.adversarial, self.retrainings).saturating_mul(4);
        ensembles.saturating_add(retrained).saturating_add(self.teachers as u64)
    }

    /// Images of each teacher.
    pub(super) fn images_each(&self, available: usize) -> Result<usize> {
        let images = images_each(self.teachers, self.images, available)?;
        let counts = [("instantiations", self.instantiations), ("queries", self.queries)];
        check_counts(counts)?;
        check_tables("teachers", self.networks(), images)?;
        self.network.check()?;
        self.training.check(images)?;
        Ok(images)
    }
}
