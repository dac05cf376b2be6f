//! What makes one distribution of those of an ensemble.

use super::NextTokens;
use crate::accountant::Theorem;
use crate::error::Result;
use std::fmt;

/// A mechanism that answers with a token.
///
/// A mechanism is one file that implements this trait.
pub trait TokenMechanism: fmt::Debug + Send + Sync {
    /// The distribution of its answer at a position, with all members and without each of them.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for a position without what the mechanism needs, such as a public
    /// model.
    fn released(&self, position: &NextTokens) -> Result<Released>;

    /// The theorems that bound D_α of one answer for an ensemble of so many members against one of them less, and the
    /// other way round, whatever the members say.
    fn theorems(&self, members: usize) -> Vec<Theorem>;
}

/// The distributions of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Released {
    whole: Vec<f64>,
    /// \[member, token\]
    without: Vec<f64>,
}

impl Released {
    /// From the probabilities of the tokens with all members, and \[member, token\] without each of them.
    pub(super) const fn new(whole: Vec<f64>, without: Vec<f64>) -> Self {
        Self { whole, without }
    }

    /// Probabilities of the tokens with all members.
    #[must_use]
    pub fn whole(&self) -> &[f64] {
        &self.whole
    }

    /// Probabilities without each of the members, in their order.
    pub fn without(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.without.chunks_exact(self.whole.len())
    }
}
