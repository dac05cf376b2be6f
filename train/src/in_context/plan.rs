//! The shape of a transformer that learns in context, and its training data.

use crate::checks::{check_counts, check_range, reject};
use crate::optimizer::Schedule;
use leakbound::error::Result;
use serde::Serialize;
use std::fmt;

/// A transformer that classifies an image by the labeled images before it, and its training by cross-entropy.
///
/// # References
/// Garg et al. (2022), "What can transformers learn in-context?"; Chan et al. (2022), "Data distributional properties
/// drive emergent in-context learning" (images, and labels that only the context explains).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InContextPlan {
    /// Numbers in a token.
    pub width: usize,
    /// Blocks of attention and a multilayer perceptron.
    pub depth: usize,
    /// Heads of attention; the width is a multiple of them.
    pub heads: usize,
    /// The most labeled images in a prompt.
    pub context: usize,
    /// Steps of training.
    pub steps: u64,
    /// Prompts in a step.
    pub batch: usize,
    /// The learning rate of Adam.
    pub schedule: Schedule,
    /// The kinds of prompts in training.
    pub lessons: LessonShares,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// Shares of the prompts of training; what is left of 1 has the labels of the data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LessonShares {
    /// Prompts whose labels are permuted, independently in each: only the context tells what a class is called.
    pub permuted: f64,
    /// Prompts in which two classes have exchanged their labels: one wrong label implies nothing about other classes.
    pub exchanged: f64,
    /// Prompts that begin with the instruction to answer one class whatever comes.
    pub instructed: f64,
}

impl InContextPlan {
    /// Queries on each context in training.
    pub(super) const QUERIES: usize = 8;

    /// A step's learning rate: linear over the first twentieth of the training, then half a cosine.
    #[must_use]
    pub fn schedule(rate: f64) -> Schedule {
        Schedule::WarmUp { share: 0.05, then: Box::new(Schedule::Cosine { rate }) }
    }

    /// What tests begin with.
    #[cfg(test)]
    pub(crate) fn small() -> Self {
        Self {
            width: 8,
            depth: 1,
            heads: 1,
            context: 6,
            steps: 60,
            batch: 32,
            schedule: Self::schedule(1e-3),
            lessons: LessonShares { permuted: 0.4, exchanged: 0.1, instructed: 0.2 },
            seed: 1,
        }
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a share outside [0, 1],
    /// [`Error::Rejected`](leakbound::Error::Rejected) for shares above 1 together and a width that heads do not
    /// divide.
    pub(crate) fn check(&self) -> Result<()> {
        let counts = [
            ("width", self.width),
            ("depth", self.depth),
            ("heads", self.heads),
            ("images of a context", self.context),
            ("prompts in a step", self.batch),
            ("steps", usize::from(self.steps > 0)),
        ];
        check_counts(counts)?;
        let LessonShares { permuted, exchanged, instructed } = self.lessons;
        let shares = [
            ("share of permuted prompts", permuted),
            ("share of exchanged prompts", exchanged),
            ("share of instructed prompts", instructed),
        ];
        for (quantity, share) in shares {
            check_range(quantity, share, (0.0..=1.0).contains(&share), "[0, 1]")?;
        }
        let rejected = |reason: String| reject("transformer", reason);
        if permuted + exchanged + instructed > 1.0 {
            let shares = format!("{permuted} permuted, {exchanged} exchanged, {instructed} instructed");
            return rejected(format!("shares of prompts are more than 1 together: {shares}"));
        }
        if !self.width.is_multiple_of(self.heads) {
            return rejected(format!("a width of {} for {} heads, which do not divide it", self.width, self.heads));
        }
        Ok(())
    }
}

impl fmt::Display for InContextPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, depth, heads, steps, .. } = self;
        let blocks = if *depth == 1 { "block" } else { "blocks" };
        write!(formatter, "transformer of {depth} {blocks}, width {width}, {heads} heads, {steps} steps")
    }
}
