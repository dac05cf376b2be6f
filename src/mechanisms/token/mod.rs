//! Private prediction of tokens: ensembles of language models, and the leakage of each member.
//!
//! An ensemble answers with one token at a time. At a position, each member has a distribution of the next token, and
//! so has a public model; a [`TokenMechanism`] combines them into one distribution, from which the token is drawn. Two
//! ensembles are neighbors if one of them lacks a member, the model trained on the records of one owner, or has another
//! model instead ([`TokenNeighbors`]). Both output distributions can be written down, so the leakage of a position is
//! known exactly ([`removed_members`]), and an accountant can be compared with it.
//!
//! [`TOKEN_MECHANISMS`] is the registry of the mechanisms, each with a text form that [`parse_mechanism`] reads:
//!
//! ```
//! # use leakbound::token::parse_mechanism;
//! let mechanism = parse_mechanism("mixed-tokens:order=3,radius=0.04")?;
//! assert_eq!(mechanism.to_string(), "mixed-tokens:order=3,radius=0.04,rate=1");
//! # Ok::<(), leakbound::Error>(())
//! ```

mod answers;
mod clipped_logits;
mod decoding;
mod divergences;
mod dominating;
mod interpolated;
mod mechanism;
mod mixed;
mod neighbor;
mod position;
mod share;
mod submixed;
mod voted;

pub use clipped_logits::ClippedLogits;
pub use decoding::{Decoded, Decoding};
pub use divergences::{TokenDivergence, removed_members};
pub use dominating::DominatingAnswer;
pub use interpolated::InterpolatedTokens;
pub use mechanism::{Charge, Released, TokenMechanism, TokenMechanismKind};
pub use mixed::{MixedTokens, pmixed_as_published};
pub use neighbor::{TokenNeighbor, TokenNeighbors};
pub use position::{EnsembleSize, NextTokens};
pub use submixed::SubmixedTokens;
pub use voted::VotedTokens;

#[doc(hidden)]
pub use self::{
    clipped_logits::CLIPPED_LOGITS, divergences::of_released, interpolated::INTERPOLATED_TOKENS, mixed::MIXED_TOKENS,
    submixed::SUBMIXED_TOKENS, voted::VOTED_TOKENS,
};

use crate::error::Result;
use crate::mechanism::{named, read_parameters};
use std::sync::Arc;

/// All mechanisms that answer with a token.
pub const TOKEN_MECHANISMS: &[&TokenMechanismKind] =
    &[MIXED_TOKENS, CLIPPED_LOGITS, INTERPOLATED_TOKENS, VOTED_TOKENS, SUBMIXED_TOKENS];

/// Reads the text form of a mechanism of the registry, such as `clipped-logits:clip=5,batch=8`.
///
/// # Errors
/// [`Error::Rejected`](crate::Error::Rejected) for an unknown mechanism or parameter, for one that is missing or
/// repeated, and for a value outside its domain.
pub fn parse_mechanism(text: &str) -> Result<Arc<dyn TokenMechanism>> {
    let (kind, rest) = named(text, TOKEN_MECHANISMS, |kind| kind.name)?;
    (kind.read)(&read_parameters(kind.name, kind.parameters, rest)?)
}

#[cfg(test)]
mod tests;
