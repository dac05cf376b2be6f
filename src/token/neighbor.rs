//! Which ensembles are neighbors, and what they answer.

use super::{NextTokens, Released, TokenMechanism};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which ensembles are neighbors of one. An owner has one model of it, or as many as the mechanism asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum TokenNeighbors {
    /// Those without one of the owners
    #[default]
    Removed,
    /// Those in which models that were set aside stand in for one of the owners
    Replaced,
}

/// A neighbor of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenNeighbor {
    /// The owner that is removed or replaced, from 0.
    pub owner: usize,
    /// Which of those set aside stands in, from 0; None if the owner is removed.
    pub replaced_by: Option<usize>,
}

impl fmt::Display for TokenNeighbor {
    /// "without member 3", or "with spare 0 in place of member 3".
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.replaced_by {
            None => write!(formatter, "without member {}", self.owner),
            Some(spare) => write!(formatter, "with spare {spare} in place of member {}", self.owner),
        }
    }
}

impl TokenNeighbors {
    /// The neighbors of an ensemble of so many owners, of which so many are set aside: those without each owner, or those
    /// in which the first one set aside stands in for each owner, then the second, and so on.
    ///
    /// ```
    /// # use leakbound::token::{TokenNeighbor, TokenNeighbors};
    /// assert_eq!(TokenNeighbors::Removed.of(3, 0)[1], TokenNeighbor { owner: 1, replaced_by: None });
    /// let replaced = TokenNeighbors::Replaced.of(3, 2);
    /// assert_eq!((replaced.len(), replaced[4]), (6, TokenNeighbor { owner: 1, replaced_by: Some(1) }));
    /// ```
    #[must_use]
    pub fn of(self, owners: usize, spares: usize) -> Vec<TokenNeighbor> {
        let each = |replaced_by| (0..owners).map(move |owner| TokenNeighbor { owner, replaced_by });
        match self {
            Self::Removed => each(None).collect(),
            Self::Replaced => (0..spares).flat_map(|spare| each(Some(spare))).collect(),
        }
    }

    /// The distributions of an answer at a position: of the ensemble, and of its neighbors in the order of [`of`](Self::of).
    ///
    /// An ensemble in which a model stands in for another is the one that it joined, without the other.
    ///
    /// # Errors
    /// Those of [`TokenMechanism::released`]; [`Error::Rejected`] where nobody was set aside to stand in.
    pub fn released(self, mechanism: &dyn TokenMechanism, position: &NextTokens) -> Result<Released> {
        let whole = mechanism.released(position)?;
        if self == Self::Removed {
            return Ok(whole);
        }
        let each = mechanism.kind().models_of_owner;
        let spares = position.spares() / each;
        if spares == 0 || !position.spares().is_multiple_of(each) {
            let reason =
                format!("{} models are set aside to stand in; {each} or a multiple is needed", position.spares());
            return Err(Error::Rejected { operation: "answers of an ensemble in which a member is replaced", reason });
        }
        let owners = position.members() / each;
        let mut neighbors = Vec::with_capacity(spares * owners * position.tokens());
        for spare in 0..spares {
            let joined = mechanism.released(&position.joined_by(spare * each..(spare + 1) * each))?;
            // The last owner is the one that joined.
            joined.neighbors().take(owners).for_each(|one| neighbors.extend_from_slice(one));
        }
        Ok(Released::new(whole.whole().to_vec(), neighbors))
    }
}
