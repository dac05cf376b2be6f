//! Plans of language models over bytes: their shape, their training data, and their queries.

use crate::checks::{check_counts, check_range, reject};
use crate::optimizer::Schedule;
use half::f16;
use leakbound::error::Result;
use leakbound::token::TokenMechanism;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// A transformer that predicts the next byte: each byte sees itself and those before it.
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
    /// Heads of attention; the width is a multiple of them.
    pub heads: usize,
    /// The most bytes that the model sees.
    pub context: usize,
}

/// Random sequences of letters, each in the documents of one member that is drawn by a fair die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Planting {
    /// Number of sequences.
    pub sequences: usize,
    /// Letters in each, at most half a context.
    pub length: usize,
    /// How often each occurs in the documents of its member.
    pub repeats: usize,
}

/// A public model, and members trained further from it, each with its own documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextTokenPlan {
    /// The model.
    pub model: ByteTransformerPlan,
    /// Steps of the public model's training.
    pub steps: u64,
    /// The learning rate of Adam in it.
    pub schedule: Schedule,
    /// Steps of each member's training, which continues from the public model.
    pub member_steps: u64,
    /// The learning rate of Adam in it.
    pub member_schedule: Schedule,
    /// Windows of text in a step.
    pub batch: usize,
    /// Members of the ensemble.
    pub members: usize,
    /// Bytes of a document, into which files are cut; none if each file is one document.
    pub document: Option<usize>,
    /// Share of the documents that the public model is trained on if no public text is given, in (0, 1).
    pub public_share: f64,
    /// Share of the private documents that no model is trained on, in (0, 1).
    pub held_out: f64,
    /// What is planted, if anything.
    pub planting: Option<Planting>,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// Where next tokens are recorded.
#[derive(Debug, Clone)]
pub struct TokenRecordingPlan {
    /// Positions, those of planted sequences not counted.
    pub positions: usize,
    /// How the ensemble answers; without it, positions are places in held-out text and nothing is answered.
    pub answering: Option<Answering>,
    /// In which precision logits are recorded.
    pub precision: LogitPrecision,
}

impl TokenRecordingPlan {
    /// Places in held-out text: positions, or the prompts that are answered.
    ///
    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0.
    pub(super) fn places(&self) -> Result<usize> {
        let length = self.answering.as_ref().map_or(1, |answering| answering.length);
        let counts = [("positions", self.positions), ("tokens behind a prompt", length)];
        check_counts(counts)?;
        Ok(self.positions.div_ceil(length))
    }
}

/// Tokens that an ensemble answers with; each enters the context of the next.
#[derive(Debug, Clone)]
pub struct Answering {
    /// Draws each token.
    pub mechanism: Arc<dyn TokenMechanism>,
    /// Tokens after each prompt, fixed beforehand; the last prompt may get fewer.
    pub length: usize,
}

/// Precision of recorded logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogitPrecision {
    /// 16 bits, with 11 bits of precision.
    Half,
    /// 32 bits.
    Single,
}

impl LogitPrecision {
    /// Bytes of a logit.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Half => 2,
            Self::Single => 4,
        }
    }

    /// The nearest number that it has.
    pub(super) fn round(self, logit: f32) -> f32 {
        match self {
            Self::Half => f16::from_f32(logit).to_f32(),
            Self::Single => logit,
        }
    }
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

    /// Positions of planted sequences.
    #[must_use]
    pub fn planted_positions(&self) -> usize {
        self.planting.map_or(0, |planting| planting.sequences.saturating_mul(planting.length))
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a count of 0 or a share outside (0, 1),
    /// [`Error::Rejected`](leakbound::Error::Rejected) for sizes that do not fit together.
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
        ];
        if let Some(Planting { sequences, length, repeats }) = self.planting {
            counts.extend([
                ("planted sequences", sequences),
                ("letters of a planted sequence", length),
                ("repeats of a planted sequence", repeats),
            ]);
        }
        check_counts(counts)?;
        for (quantity, share) in [("share of public documents", self.public_share), ("share held out", self.held_out)] {
            check_range(quantity, share, share > 0.0 && share < 1.0, "(0, 1)")?;
        }
        let rejected = |reason: String| reject("language models", reason);
        if context < 2 {
            return rejected(format!("a context of {context} bytes, at least half of which is given; take 2 or more"));
        }
        if !width.is_multiple_of(heads) {
            return rejected(format!("a width of {width} for {heads} heads, which do not divide it"));
        }
        if let Some(document) = self.document.filter(|&document| document <= context) {
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
