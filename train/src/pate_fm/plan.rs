//! Which teachers vote, what their answers cost, and which student learns from them.

use crate::checks::{check_counts, reject};
use crate::fixmatch::FixMatchPlan;
use crate::network::NetworkPlan;
use crate::training_images::check_tables;
use leakbound::accountant::{gnmax_data_independent, threshold_data_independent};
use leakbound::distribution::ThresholdTest;
use leakbound::divergence::{RdpCurve, order_grid};
use leakbound::error::Result;
use leakbound::quantity::{Delta, Epsilon, NoiseScale};
use leakbound::record::ImageSet;
use serde::Serialize;

/// PATE-FM: teachers and a student that are trained by FixMatch, all with all images without labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PateFmPlan {
    /// Teachers T.
    pub teachers: usize,
    /// The network of teachers and students.
    pub network: NetworkPlan,
    /// Training of each teacher on its labels.
    pub teacher_training: FixMatchPlan,
    /// Training of the student on the labels that were given.
    pub student_training: FixMatchPlan,
    /// How the teachers label.
    pub voting: VotingPlan,
    /// Training images with a wrong label, drawn uniformly and independently.
    pub canaries: usize,
    /// Runs: other canaries, partitions, weights, queries and noise each time.
    pub runs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// Confident-GNMax on training images, until there are enough labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct VotingPlan {
    /// The test on the largest count: threshold τ, noise σ₁.
    pub test: ThresholdTest,
    /// σ₂, noise of the argmax on every count.
    pub sigma: NoiseScale,
    /// The labels that the student wants.
    pub goal: LabelGoal,
    /// Queries N at most, declared beforehand.
    pub queries: usize,
    /// δ of every ε.
    pub delta: Delta,
}

impl VotingPlan {
    /// Answers at most.
    #[must_use]
    pub fn answers(&self) -> usize {
        self.goal.answers().map_or(self.queries, |answers| answers.min(self.queries))
    }

    /// ε at δ of label differential privacy, whatever the votes are and whenever the labels suffice: that of N tests and
    /// A answers at most,
    /// ```text
    /// D_α ≤ N α/(2σ₁²) + A α/σ₂²,
    /// ```
    /// when one label is replaced and with it the vote of one teacher.
    ///
    /// Every query costs at most α/(2σ₁²) + α/σ₂² if it is answered and α/(2σ₁²) if not, and there are never more of
    /// either. So the sum is within this budget at every order whatever the answers are: a filter, with which the
    /// process may end after any answer (Feldman and Zrnic 2021, "Individual privacy accounting via a Rényi filter").
    /// As the budget is the same whatever happens, taking the best order is also a theorem.
    ///
    /// # References
    /// Malek Esmaeili et al. (2021), "Antipodes of label differential privacy: PATE and ALIBI", section 4 and Algorithm 2;
    /// Papernot et al. (2018), "Scalable private learning with PATE", appendix A.
    #[must_use]
    pub fn claimed_epsilon(&self) -> Epsilon {
        let orders = order_grid();
        let tests = RdpCurve::from_fn(&orders, |order| threshold_data_independent(order, self.test.sigma()));
        let answers = RdpCurve::from_fn(&orders, |order| gnmax_data_independent(order, self.sigma));
        let both = tests.repeated(self.queries as f64).composed(&answers.repeated(self.answers() as f64));
        both.map_or(Epsilon::INFINITE, |curve| curve.epsilon(self.delta).0)
    }
}

/// What the votes of teachers depend on: with a checkpoint, other thresholds, noise, labels and students need no other
/// teachers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VotesPlan<'a> {
    teachers: usize,
    network: NetworkPlan,
    training: &'a FixMatchPlan,
    queries: usize,
    canaries: usize,
    runs: usize,
    seed: u64,
}

impl PateFmPlan {
    /// What a checkpoint is for.
    #[must_use]
    pub fn votes(&self) -> VotesPlan<'_> {
        let &Self { teachers, network, ref teacher_training, canaries, runs, seed, .. } = self;
        VotesPlan { teachers, network, training: teacher_training, queries: self.voting.queries, canaries, runs, seed }
    }

    /// All networks trained: of each run its teachers, its student, and one that learns without unlabeled images.
    #[must_use]
    pub fn networks(&self) -> u64 {
        (self.runs as u64).saturating_mul((self.teachers as u64).saturating_add(2))
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a number out of its range,
    /// [`Error::Rejected`](leakbound::Error::Rejected) for more teachers, queries or canaries than images, and for too
    /// few classes, [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape.
    pub(super) fn check(&self, train: &ImageSet, test: &ImageSet) -> Result<()> {
        self.network.check()?;
        self.network.check_images(train.shape())?;
        [&self.teacher_training, &self.student_training].into_iter().try_for_each(|plan| plan.check(train.shape()))?;
        let counts = [
            ("teachers", self.teachers),
            ("queries", self.voting.queries),
            ("labels", self.voting.goal.labels()),
            ("canaries", self.canaries),
        ];
        let runs = [("answers", self.voting.answers()), ("runs", self.runs)];
        check_counts(counts.into_iter().chain(runs))?;
        let rejected = |reason: String| reject("PATE-FM", reason);
        for (quantity, count) in [counts[0], counts[1], counts[3]] {
            if count > train.len() {
                return rejected(format!("{count} {quantity} of {} training images", train.len()));
            }
        }
        let classes = train.classes.max(test.classes);
        let (labels, answers) = (self.voting.goal.least(classes), self.voting.answers());
        if labels > answers {
            return rejected(format!("{labels} labels, but {answers} answers at most; allow more answers and queries"));
        }
        if classes < 3 {
            return rejected("the audit guesses between two wrong labels, which needs at least 3 classes".into());
        }
        check_tables("PATE-FM", self.runs as u64, train.len())
    }
}

/// The labels that the student wants; queries end when it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelGoal {
    /// This many labels, of whichever classes: the loop of Malek Esmaeili et al. (2021), Algorithm 2.
    Total(usize),
    /// This many labels of each class. Further labels are paid for and not used.
    PerClass {
        /// Labels of each class.
        labels: usize,
        /// The most answers, of all classes together; if absent, the number of queries.
        answers: Option<usize>,
    },
}

impl LabelGoal {
    /// K, in all or of each class.
    pub(super) fn labels(self) -> usize {
        match self {
            Self::Total(labels) | Self::PerClass { labels, .. } => labels,
        }
    }

    /// The fewest answers with which the goal is reached, for this many classes.
    pub(super) fn least(self, classes: usize) -> usize {
        match self {
            Self::Total(labels) => labels,
            Self::PerClass { labels, .. } => labels.saturating_mul(classes),
        }
    }

    /// The most answers, if they are bounded by more than the queries.
    pub(super) fn answers(self) -> Option<usize> {
        match self {
            Self::Total(labels) => Some(labels),
            Self::PerClass { answers, .. } => answers,
        }
    }

    /// Whether a label is used of a class that has `given` of them.
    pub(super) fn uses(self, given: usize) -> bool {
        match self {
            Self::Total(_) => true,
            Self::PerClass { labels, .. } => given < labels,
        }
    }

    /// Whether these labels of each class are enough.
    pub(super) fn is_reached(self, given: &[usize]) -> bool {
        match self {
            Self::Total(labels) => given.iter().sum::<usize>() >= labels,
            Self::PerClass { labels, .. } => given.iter().all(|&given| given >= labels),
        }
    }
}
