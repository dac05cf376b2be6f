//! Next tokens of language models over bytes: a public model, and members of an ensemble that are trained further from
//! it, each with its own private documents.

mod answers;
mod documents;
mod learner;
mod model;
mod models;
mod plan;
mod planted;
mod recording;
mod sequences;
mod texts;

pub use models::{LanguageModels, NextTokenTraining, train_language_models};
pub use plan::{Answering, ByteTransformerPlan, LogitPrecision, NextTokenPlan, Planting, TokenRecordingPlan};
pub use recording::{NextTokens, PlantedTokens, check_next_tokens};
pub use sequences::{MemberScores, SequencePlan, TextSequence, TokenLosses};
pub use texts::Texts;

#[cfg(test)]
mod tests;
