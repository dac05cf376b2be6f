//! Which ensembles are neighbors.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The neighbors of an ensemble. An owner has one of its models, or the number that the mechanism requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum TokenNeighbors {
    /// Those without one of the owners
    #[default]
    Removed,
    /// Those in which models that were set aside replace one of the owners
    Replaced,
}

/// A neighbor of an ensemble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenNeighbor {
    /// The owner that is removed or replaced, counted from 0.
    pub owner: usize,
    /// Which of those set aside replaces it, counted from 0; `None` if the owner is removed.
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
    /// The neighbors of an ensemble with this many owners and this many set aside: those without each owner, or those
    /// in which the first one set aside replaces each owner in turn, then the second, and so on.
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
}
