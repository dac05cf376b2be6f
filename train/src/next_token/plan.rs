//! What language models over bytes are, what they are trained on, and what they are asked.

use crate::optimizer::Schedule;
use leakbound::error::{Error, Result};
use serde::Serialize;
use std::fmt;

/// A transformer that says which byte comes next: each byte sees itself and those before it.
///
/// # References
/// Radford et al. (2019), "Language models are unsupervised multitask learners" (the blocks); Al-Rfou et al. (2019),
/// "Character-level language modeling with deeper self-attention" (one token for each character).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ByteTransformerPlan {
    /// Numbers in a token.
    pub width: usize,
    /// Blocks of attention and a multilayer perceptron.
    pub depth: usize,
    /// Heads of attention, of which the width is a multiple.
    pub heads: usize,
    /// Bytes that the model sees, at most.
    pub context: usize,
}

/// Random sequences of letters, each in the documents of one member that is drawn by a fair die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Planting {
    /// Number of sequences.
    pub sequences: usize,
    /// Letters in each.
    pub length: usize,
    /// How often each stands in the documents of its member.
    pub repeats: usize,
}

/// A public model, members that go on from it, and the places where all of them say what comes next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextTokenPlan {
    /// The model.
    pub model: ByteTransformerPlan,
    /// Steps of the public model's training.
    pub steps: u64,
    /// The learning rate of Adam in it.
    pub schedule: Schedule,
    /// Steps of each member's training, which goes on from the public model.
    pub member_steps: u64,
    /// The learning rate of Adam in it.
    pub member_schedule: Schedule,
    /// Windows of text in a step.
    pub batch: usize,
    /// Members of the ensemble.
    pub members: usize,
    /// Bytes of a document, into which texts are cut.
    pub document: usize,
    /// Share of the documents that no model is trained on.
    pub held_out: f64,
    /// Places in private documents that are held out, at which next tokens are recorded.
    pub positions: usize,
    /// What is planted, if anything.
    pub planting: Option<Planting>,
    /// Seed of everything random.
    pub seed: u64,
}

impl NextTokenPlan {
    /// A step's learning rate: linear over the first twentieth of the training, then half a cosine.
    #[must_use]
    pub fn schedule(rate: f64) -> Schedule {
        Schedule::WarmUp { share: 0.05, then: Box::new(Schedule::Cosine { rate }) }
    }

    /// Steps of all models.
    #[must_use]
    pub const fn all_steps(&self) -> u64 {
        self.steps.saturating_add(self.member_steps.saturating_mul(self.members as u64))
    }

    /// # Errors
    /// [`Error::Domain`] for a count of 0 or a share outside (0, 1), [`Error::Rejected`] for sizes that do not fit
    /// together.
    pub(super) fn check(&self) -> Result<()> {
        let ByteTransformerPlan { width, depth, heads, context } = self.model;
        let mut counts = vec![
            ("width", width),
            ("depth", depth),
            ("heads", heads),
            ("steps", usize::from(self.steps > 0)),
            ("steps of a member", usize::from(self.member_steps > 0)),
            ("windows in a step", self.batch),
            ("members", self.members),
            ("positions", self.positions),
        ];
        if let Some(Planting { sequences, length, repeats }) = self.planting {
            counts.extend([
                ("planted sequences", sequences),
                ("letters of a planted sequence", length),
                ("repeats of a planted sequence", repeats),
            ]);
        }
        if let Some((quantity, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(Error::Domain { quantity, value: 0.0, domain: "[1, inf)" });
        }
        if !(self.held_out > 0.0 && self.held_out < 1.0) {
            let quantity = "share of documents held out";
            return Err(Error::Domain { quantity, value: self.held_out, domain: "(0, 1)" });
        }
        let rejected = |reason| Err(Error::Rejected { operation: "language models", reason });
        if context < 2 {
            return rejected(format!("a context of {context} bytes, of which half is given at least; take 2 or more"));
        }
        if !width.is_multiple_of(heads) {
            return rejected(format!("a width of {width} for {heads} heads, which do not divide it"));
        }
        if self.document <= context {
            let document = self.document;
            return rejected(format!(
                "documents of {document} bytes for a context of {context}; take longer documents"
            ));
        }
        match self.planting {
            // Behind half a context of text and a new line.
            Some(Planting { length, .. }) if length > context / 2 => {
                rejected(format!("planted sequences of {length} letters for a context of {context}; take at most half"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ByteTransformerPlan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, depth, heads, context } = self;
        let blocks = if *depth == 1 { "block" } else { "blocks" };
        write!(formatter, "byte transformer of {depth} {blocks}, width {width}, {heads} heads, context {context}")
    }
}
