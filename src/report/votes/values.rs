//! What tables and figures of `leakbound audit votes` both show.

use crate::bound::Direction;
use crate::report::words::distinct;
use crate::study::{UpperRow, VotesAnswer, VotesQuery};
use easy_ext::ext;

#[ext(VotesAnswerValues)]
impl VotesAnswer {
    pub(crate) fn upper_names(&self) -> Vec<&'static str> {
        distinct(self.queries.iter().flat_map(|query| &query.upper).map(|row| row.name))
    }

    pub(crate) fn methods(&self) -> Vec<&'static str> {
        distinct(self.queries.iter().flat_map(|query| &query.lower).map(|row| row.method))
    }

    pub(crate) fn lower(&self, query: &VotesQuery, method: &str, order: f64) -> Option<f64> {
        let row =
            query.lower.iter().find(|row| row.method == method && row.order == order && row.direction == self.shown);
        row.map(|row| row.rdp_lower.0)
    }

    /// What an accountant promises about the direction shown.
    pub(crate) fn upper(&self, query: &VotesQuery, name: &str, order: f64) -> Option<f64> {
        let shown = |row: &&UpperRow| row.name == name && row.order == order && row.direction == self.shown;
        query.upper.iter().find(shown).map(|row| row.rdp.0)
    }

    pub(crate) fn exact_value(&self, query: &VotesQuery, order: f64) -> f64 {
        let row = query.divergences().iter().find(|row| row.order == order);
        row.map_or(0.0, |row| if self.shown == Direction::Forward { row.forward.0 } else { row.reverse.0 })
    }
}
