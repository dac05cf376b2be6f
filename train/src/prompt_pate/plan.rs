//! Which prompts are teachers, and what an adversary changes.

use crate::checks::{check_counts, reject};
use crate::in_context::InContextPlan;
use leakbound::error::Result;
use serde::Serialize;
use std::fmt;

/// Teachers of PromptPATE: prompts of one transformer, each with its own private examples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromptPatePlan {
    /// The transformer, and the seed of everything random.
    pub learner: InContextPlan,
    /// Number of teachers k.
    pub teachers: usize,
    /// Private examples of each: test images with their labels.
    pub shots: usize,
    /// Queries, which are other test images.
    pub queries: usize,
    /// What the neighbor of the dataset is.
    pub adversary: PromptAdversary,
}

/// What is in a teacher's prompt under the neighbor of the dataset.
///
/// The first two also choose the query: each query is a separate case, in which a teacher has seen it and it is asked
/// repeatedly. The others change one teacher for all queries.
///
/// # References
/// Chadha et al. (2024), "Auditing private prediction", appendix D.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum PromptAdversary {
    /// Nat-AdvQ: the query with its label instead of an example, for a teacher that is wrong about it.
    NatAdvq,
    /// Pois-AdvQ: the query with a wrong label, the one of them with most votes, for a teacher that is right about it.
    PoisAdvq,
    /// Pois-NatQ (confident): the mislabeled query on which most teachers agree.
    Confident,
    /// Pois-NatQ (unconfident): the mislabeled query whose two most voted classes are closest.
    Unconfident,
    /// Pois-NatQ (all same): the instruction to answer one class whatever is asked, instead of a prompt.
    AllSame {
        /// The class.
        class: u8,
    },
    /// Pois-NatQ (mapping): an example of each class under the name of the class that most often comes second when it
    /// is the correct one, instead of a prompt.
    Mapping,
}

impl PromptAdversary {
    /// Whether one query is asked repeatedly.
    #[must_use]
    pub const fn chooses_the_query(self) -> bool {
        matches!(self, Self::NatAdvq | Self::PoisAdvq)
    }

    /// Whether the changed prompt shows a query instead of an example.
    #[must_use]
    pub const fn shows_a_query(self) -> bool {
        !matches!(self, Self::AllSame { .. } | Self::Mapping)
    }
}

impl fmt::Display for PromptAdversary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NatAdvq => "nat-advq",
            Self::PoisAdvq => "pois-advq",
            Self::Confident => "pois-natq (confident)",
            Self::Unconfident => "pois-natq (unconfident)",
            Self::AllSame { class } => return write!(formatter, "pois-natq (all same, class {class})"),
            Self::Mapping => "pois-natq (mapping)",
        })
    }
}

impl PromptPatePlan {
    /// Steps of training.
    #[must_use]
    pub const fn steps(&self) -> u64 {
        self.learner.steps
    }

    /// # Errors
    /// Those of the transformer's plan; [`Error::Domain`](leakbound::Error::Domain) for a count of 0,
    /// [`Error::Rejected`](leakbound::Error::Rejected) for too few test images of `available`, and for prompts and
    /// classes that the transformer cannot have.
    pub(super) fn check(&self, available: usize, classes: usize) -> Result<()> {
        self.learner.check()?;
        let counts = [("teachers", self.teachers), ("examples of a teacher", self.shots), ("queries", self.queries)];
        check_counts(counts)?;
        let rejected = |reason: String| reject("prompts", reason);
        let &Self { teachers, shots, queries, adversary, .. } = self;
        let context = self.learner.context;
        if shots > context {
            return rejected(format!("{shots} examples of a teacher for a transformer with a context of {context}"));
        }
        let needed = teachers.checked_mul(shots).and_then(|private| private.checked_add(queries));
        if needed.is_none_or(|needed| needed > available) {
            let text = "with an example each and";
            let text = if shots == 1 { text.into() } else { format!("with {shots} examples each and") };
            return rejected(format!("{teachers} teachers {text} {queries} queries of {available} test images"));
        }
        match adversary {
            PromptAdversary::AllSame { class } if usize::from(class) >= classes => {
                rejected(format!("class {class} of {classes}, counted from 0"))
            }
            PromptAdversary::Mapping if classes > context => rejected(format!(
                "a mapping of {classes} classes has an example of each, more than a context of {context}"
            )),
            _ => Ok(()),
        }
    }
}
