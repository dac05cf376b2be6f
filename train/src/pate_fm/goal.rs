//! When the student has enough labels.

use serde::Serialize;

/// The labels that the student wants; queries end when it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelGoal {
    /// So many labels, of whichever classes: the loop of Malek Esmaeili et al. (2021), Algorithm 2.
    Total(usize),
    /// So many labels of each class. Labels beyond are paid for and not used.
    PerClass {
        /// Labels of each class.
        labels: usize,
        /// Answers at most, of all classes together; as many as there are queries if absent.
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

    /// The fewest answers with which the goal is reached, of so many classes.
    pub(super) fn least(self, classes: usize) -> usize {
        match self {
            Self::Total(labels) => labels,
            Self::PerClass { labels, .. } => labels.saturating_mul(classes),
        }
    }

    /// Answers at most, where they are bounded by more than the queries.
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
