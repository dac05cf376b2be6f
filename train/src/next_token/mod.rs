//! Next tokens of language models over bytes: a public model, and members of an ensemble that go on from it, each with
//! private documents of its own.

mod answers;
mod documents;
mod learner;
mod model;
mod plan;
mod planted;
mod positions;
mod recording;
mod texts;
mod windows;

pub use plan::{ByteTransformerPlan, NextTokenPlan, Planting};
pub use recording::{NextTokenTraining, NextTokens, PlantedLosses, PlantedTokens, TokenLosses, record_next_tokens};
pub use texts::Texts;

#[cfg(test)]
mod tests;
