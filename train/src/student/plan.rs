//! Which students are trained.

use super::labeling::LabelingPlan;
use crate::network::NetworkPlan;
use crate::teachers::split::images_each;
use crate::train::TrainingPlan;
use crate::training_images::check_tables;
use leakbound::error::{Error, Result};
use leakbound::quantity::Epsilon;
use leakbound::record::ImageSet;

/// Which teachers vote, what their answers may cost, and which students are trained on them.
#[derive(Debug, Clone, PartialEq)]
pub struct StudentPlan {
    /// Number of teachers k.
    pub teachers: usize,
    /// Images of each teacher; as many as there are for all if absent.
    pub images: Option<usize>,
    /// The network of each teacher.
    pub network: NetworkPlan,
    /// Training of each teacher.
    pub training: TrainingPlan,
    /// How queries are answered, and the budgets.
    pub labeling: LabelingPlan,
    /// Share of the test images that are public, in (0, 1); the others measure.
    pub public: f64,
    /// Training images that the students are queried on.
    pub private: usize,
    /// The network of each student.
    pub student_network: NetworkPlan,
    /// Training of each student.
    pub student_training: TrainingPlan,
    /// Baselines without privacy: networks like the students, with their training, that learn all training images with
    /// their own labels. There may be none.
    pub baselines: usize,
    /// Runs: other partitions, initial weights, orders of the queries and noise each time.
    pub runs: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl StudentPlan {
    /// All networks trained: the teachers of each run, a student for each budget, and the baselines.
    #[must_use]
    pub fn networks(&self) -> u64 {
        let each = (self.teachers as u64).saturating_add(self.labeling.budgets.len() as u64);
        (self.runs as u64).saturating_mul(each).saturating_add(self.baselines as u64)
    }

    /// Images of each teacher, if all can be done as it was asked.
    pub(super) fn images_each(&self, train: &ImageSet, test: &ImageSet) -> Result<usize> {
        let each = images_each(self.teachers, self.images, train.len())?;
        let counts = [("runs", self.runs), ("budgets", self.labeling.budgets.len()), ("private images", self.private)];
        if let Some((quantity, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
        if !(self.public > 0.0 && self.public < 1.0) {
            return Err(Error::Domain { quantity: "share of public images", value: self.public, domain: "(0, 1)" });
        }
        if self.labeling.budgets.iter().any(|budget| budget.epsilon() == Epsilon::ZERO) {
            return Err(Error::Domain { quantity: "budget", value: 0.0, domain: "(0, inf]" });
        }
        if self.labeling.budgets.iter().any(|budget| budget.curve().orders() != self.labeling.orders()) {
            return Err(Error::Rejected { operation: "students", reason: "budgets on different orders".into() });
        }
        if self.private > train.len() {
            let reason = format!("{} private images of {} training images", self.private, train.len());
            return Err(Error::Rejected { operation: "students", reason });
        }
        if train.shape() != test.shape() {
            let expected = format!("that of the training images, {:?}", train.shape());
            let found = test.shape().iter().product();
            return Err(Error::Length { quantity: "shape of test images", found, expected });
        }
        check_tables("students", self.networks(), each.max(test.len()))?;
        check_tables("baselines", self.baselines as u64, train.len())?;
        self.network.check()?;
        self.training.check(each)?;
        self.student_network.check()?;
        // A student with too few labels for early stopping is rejected when it is trained.
        self.student_training.check(if self.baselines > 0 { train.len() } else { usize::MAX })?;
        Ok(each)
    }
}
