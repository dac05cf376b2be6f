//! Which students are trained.

use super::labeling::LabelingPlan;
use crate::checks::{check_counts, check_range, reject};
use crate::context::TrainingContext;
use crate::network::NetworkPlan;
use crate::teachers::split::images_each;
use crate::train::TrainingPlan;
use crate::training_images::check_tables;
use leakbound::error::Result;
use leakbound::quantity::Epsilon;

/// Which teachers vote, what their answers may cost, and which students are trained on them.
#[derive(Debug, Clone, PartialEq)]
pub struct StudentPlan {
    /// Number of teachers k.
    pub teachers: usize,
    /// Images of each teacher; if absent, the most that suffice for all.
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
    /// The seed of all random numbers.
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
    pub(super) fn images_each(&self, context: &TrainingContext<'_>) -> Result<usize> {
        let &TrainingContext { train, test, .. } = context;
        let each = images_each(self.teachers, self.images, train.len())?;
        let counts = [("runs", self.runs), ("budgets", self.labeling.budgets.len()), ("private images", self.private)];
        check_counts(counts)?;
        check_range("share of public images", self.public, self.public > 0.0 && self.public < 1.0, "(0, 1)")?;
        let no_budget = self.labeling.budgets.iter().any(|budget| budget.epsilon() == Epsilon::ZERO);
        check_range("budget", 0.0, !no_budget, "(0, inf]")?;
        if self.labeling.budgets.iter().any(|budget| budget.curve().orders() != self.labeling.orders()) {
            return reject("students", "budgets on different orders");
        }
        if self.private > train.len() {
            return reject("students", format!("{} private images of {} training images", self.private, train.len()));
        }
        context.check_shapes()?;
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
