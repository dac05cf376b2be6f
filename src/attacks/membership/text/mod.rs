//! Membership of texts, from a language model's probabilities of their tokens.

mod documents;
mod formulas;
mod part;
mod ragged;
mod score;
mod scores;
mod sequence;
mod sequences;

pub use documents::{Documents, document_scores};
pub use part::TextPart;
pub use ragged::Ragged;
pub use score::{TextRule, TextScore};
pub use scores::text_scores;
pub use sequence::TextSequence;
pub use sequences::{MemoryText, TextSequences};
