//! Options of `leakbound torch prompt-pate`.

use super::DataOptions;
use super::numbers::{below_1, count, rate};
use clap::{Args, ValueEnum};
use leakbound::{Error, Result};
use leakbound_train::{InContextPlan, LessonShares, PromptAdversary, PromptPatePlan};
use serde::Serialize;

/// The answer of all-same, as published.
const CLASS: u8 = 1;

/// Options of `leakbound torch prompt-pate`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct PromptPateOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// What is in one teacher's prompt in the neighboring dataset
    #[arg(long, value_enum, value_name = "NAME", default_value = "pois-advq")]
    pub adversary: PromptAdversaryName,
    /// The answer that all-same instructs a teacher to give [default: 1]
    #[arg(long, value_name = "C")]
    pub class: Option<u8>,
    /// Teachers: prompts with private examples
    #[arg(long, value_name = "K", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub teachers: usize,
    /// Private examples per teacher, drawn from the test images
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub shots: usize,
    /// Queries, drawn from the other test images
    #[arg(long, value_name = "N", default_value = "200", value_parser = count, allow_hyphen_values = true)]
    pub queries: usize,
    /// The transformer
    #[command(flatten)]
    #[serde(flatten)]
    pub transformer: TransformerOptions,
}

/// A transformer that learns in context, and its training.
#[derive(Debug, Clone, Args, Serialize)]
pub struct TransformerOptions {
    /// Width of a token, a multiple of --heads
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub width: usize,
    /// Transformer blocks
    #[arg(long, value_name = "N", default_value = "2", value_parser = count, allow_hyphen_values = true)]
    pub depth: usize,
    /// Attention heads
    #[arg(long, value_name = "N", default_value = "4", value_parser = count, allow_hyphen_values = true)]
    pub heads: usize,
    /// Examples in a prompt, at most
    #[arg(long, value_name = "N", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub context: usize,
    /// Training steps
    #[arg(long, value_name = "N", default_value = "6000", value_parser = count, allow_hyphen_values = true)]
    pub steps: usize,
    /// Prompts in a step
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// Largest learning rate of Adam: reached linearly in 1/20 of the steps, then decayed by half a cosine
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// Fraction of training prompts with permuted labels
    #[arg(long, value_name = "S", default_value = "0.4", value_parser = below_1, allow_hyphen_values = true)]
    pub permuted: f64,
    /// Fraction of training prompts in which two classes have exchanged their labels
    #[arg(long, value_name = "S", default_value = "0.15", value_parser = below_1, allow_hyphen_values = true)]
    pub exchanged: f64,
    /// Fraction of training prompts that begin with the instruction to answer one class whatever is asked
    #[arg(long, value_name = "S", default_value = "0.1", value_parser = below_1, allow_hyphen_values = true)]
    pub instructed: f64,
}

/// Adversaries by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptAdversaryName {
    /// Nat-AdvQ: the query with its label in place of an example; another neighbor for each query
    NatAdvq,
    /// Pois-AdvQ: the query with a wrong label in place of an example; another neighbor for each query
    PoisAdvq,
    /// Pois-NatQ: the mislabeled query on which most teachers agree
    Confident,
    /// Pois-NatQ: the mislabeled query whose two most voted classes are closest
    Unconfident,
    /// Pois-NatQ: the instruction to answer --class whatever is asked
    AllSame,
    /// Pois-NatQ: an example of each class under a wrong name
    Mapping,
}

impl PromptPateOptions {
    /// The library's plan.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an option of another adversary.
    pub fn plan(&self, seed: u64) -> Result<PromptPatePlan> {
        if self.class.is_some() && self.adversary != PromptAdversaryName::AllSame {
            let reason = "only --adversary all-same has it".into();
            return Err(Error::Rejected { operation: "--class", reason });
        }
        let TransformerOptions { width, depth, heads, context, steps, batch, learning_rate, .. } = self.transformer;
        let TransformerOptions { permuted, exchanged, instructed, .. } = self.transformer;
        Ok(PromptPatePlan {
            learner: InContextPlan {
                width,
                depth,
                heads,
                context,
                steps: steps as u64,
                batch,
                schedule: InContextPlan::schedule(learning_rate),
                lessons: LessonShares { permuted, exchanged, instructed },
                seed,
            },
            teachers: self.teachers,
            shots: self.shots,
            queries: self.queries,
            adversary: match self.adversary {
                PromptAdversaryName::NatAdvq => PromptAdversary::NatAdvq,
                PromptAdversaryName::PoisAdvq => PromptAdversary::PoisAdvq,
                PromptAdversaryName::Confident => PromptAdversary::Confident,
                PromptAdversaryName::Unconfident => PromptAdversary::Unconfident,
                PromptAdversaryName::AllSame => PromptAdversary::AllSame { class: self.class.unwrap_or(CLASS) },
                PromptAdversaryName::Mapping => PromptAdversary::Mapping,
            },
        })
    }
}
