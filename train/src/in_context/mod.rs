//! Transformers that classify images by the labeled images before them.

mod learner;
mod lessons;
mod measure;
mod plan;
mod prompt;
mod transformer;

pub use measure::InContextAccuracy;
pub use plan::{InContextPlan, LessonShares};

pub(super) use learner::{answers, learn_in_context};
pub(super) use lessons::Library;
pub(super) use measure::in_context_accuracy;
pub(super) use prompt::{Instruction, Labeled, Prompt};
pub(super) use transformer::Transformer;
