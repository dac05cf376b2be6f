//! Which students are trained.

use super::labelling::LabellingPlan;
use crate::error::{Error, Result};
use crate::quantity::Epsilon;
use crate::record::ImageSet;
use crate::torch::network::NetworkPlan;
use crate::torch::optimizer::Schedule;
use crate::torch::teachers::split::images_each;
use crate::torch::train::TrainingPlan;

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
    pub labelling: LabellingPlan,
    /// Share of the test images that are public, in (0, 1); the others measure.
    pub public: f64,
    /// Training images that the students are asked about.
    pub private: usize,
    /// The network of each student.
    pub student_network: NetworkPlan,
    /// Training of each student.
    pub student_training: TrainingPlan,
    /// Runs: other partitions, initial weights, orders of the queries and noise each time.
    pub runs: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl StudentPlan {
    /// A learning rate that is multiplied by `factor` after each of so many epochs, as Ihrig (2021), section 5.1.3, has it.
    ///
    /// ```
    /// # use leakbound::torch::StudentPlan;
    /// let schedule = StudentPlan::decayed(1e-3, 0.5, 10);
    /// assert_eq!([schedule.rate(0, 40), schedule.rate(4, 40), schedule.rate(39, 40)], [1e-3, 0.5e-3, 1e-3 / 512.0]);
    /// ```
    #[must_use]
    pub fn decayed(rate: f64, factor: f64, epochs: usize) -> Schedule {
        Schedule::Steps { rate, factor, shares: (1..epochs).map(|epoch| epoch as f64 / epochs as f64).collect() }
    }

    /// All networks trained: the teachers of each run, and a student for each budget.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (self.runs * (self.teachers + self.labelling.budgets.len())) as u64
    }

    /// Images of each teacher, if all can be done as it was asked.
    pub(super) fn images_each(&self, train: &ImageSet, test: &ImageSet) -> Result<usize> {
        let each = images_each(self.teachers, self.images, train.len())?;
        let counts = [
            ("runs", self.runs),
            ("budgets", self.labelling.budgets.len()),
            ("private images", self.private),
            ("images in a step", self.training.batch.min(self.student_training.batch)),
            ("epochs", self.training.epochs.min(self.student_training.epochs)),
        ];
        if let Some((quantity, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
        if !(self.public > 0.0 && self.public < 1.0) {
            return Err(Error::Domain { quantity: "share of public images", value: self.public, domain: "(0, 1)" });
        }
        if self.labelling.budgets.iter().any(|budget| budget.epsilon() == Epsilon::ZERO) {
            return Err(Error::Domain { quantity: "budget", value: 0.0, domain: "(0, inf]" });
        }
        if self.labelling.budgets.iter().any(|budget| budget.curve().orders() != self.labelling.orders()) {
            return Err(Error::Refused { operation: "students", reason: "budgets on different orders".into() });
        }
        if self.private > train.len() {
            let reason = format!("{} private images of {} training images", self.private, train.len());
            return Err(Error::Refused { operation: "students", reason });
        }
        if train.shape() != test.shape() {
            let expected = format!("that of the training images, {:?}", train.shape());
            let found = test.shape().iter().product();
            return Err(Error::Length { quantity: "shape of test images", found, expected });
        }
        self.network.check()?;
        self.student_network.check()?;
        Ok(each)
    }
}
