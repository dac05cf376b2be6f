//! The answers of an ensemble and its neighbors.

use super::{NextTokens, Released, TokenMechanism, TokenNeighbors};
use crate::error::{Error, Result};

impl TokenNeighbors {
    /// The distributions of an answer at a position: of the ensemble, and of its neighbors in the order of [`of`](Self::of).
    ///
    /// An ensemble in which a spare model replaces another is the one that the spare has joined, without the other.
    ///
    /// # Errors
    /// Those of [`TokenMechanism::released`]; [`Error::Rejected`] if no models were set aside as replacements.
    pub fn released(self, mechanism: &dyn TokenMechanism, position: &NextTokens) -> Result<Released> {
        let whole = mechanism.released(position)?;
        if self == Self::Removed {
            return Ok(whole);
        }
        let each = mechanism.kind().models_of_owner;
        let spares = position.spares() / each;
        let reason =
            format_args!("{} models are set aside to stand in; {each} or a multiple is needed", position.spares());
        let possible = spares > 0 && position.spares().is_multiple_of(each);
        Error::check_possible(possible, "answers of an ensemble in which a member is replaced", reason)?;
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
