//! Transformers that classify images by the labeled images before them.

mod learner;
mod lessons;
mod measure;
mod plan;
mod transformer;

pub(super) use learner::{answers, learn_in_context};
pub(super) use lessons::Library;
pub use measure::InContextAccuracy;
pub(super) use measure::in_context_accuracy;
pub use plan::{InContextPlan, LessonShares};
pub(super) use transformer::Transformer;
pub(super) use transformer::{Instruction, Labeled, Prompt};
