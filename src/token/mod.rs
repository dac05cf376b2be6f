//! Private prediction of tokens: language models that answer from an ensemble, and what each member of it leaks.
//!
//! An ensemble answers with one token at a time. At a position, each member has a distribution of the next token, and
//! so has a public model; a [`TokenMechanism`] makes one distribution of them, from which the token is drawn. Neighbors
//! are two ensembles of which one lacks a member: the model that was trained on the records of one owner. Both output
//! distributions can be written down, so that the leakage of a position is known exactly ([`removed_members`]), and an
//! accountant can be held against it.

mod clipped_logits;
mod divergences;
mod mechanism;
mod mixed;
mod position;

pub use clipped_logits::ClippedLogits;
pub use divergences::{TokenDivergence, removed_members};
pub use mechanism::{Released, TokenMechanism};
pub use mixed::{MixedTokens, pmixed_as_published};
pub use position::NextTokens;

#[cfg(test)]
mod tests;
