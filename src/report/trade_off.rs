//! Lower bounds of μ and of δ, and the trade-off band behind them.

use super::section::{Form, Section, Table};
use super::words::{listed, rest};
use crate::study::{TradeOffRow, short};
use easy_ext::ext;

/// Rows of the band in text.
const SHOWN: usize = 12;

#[ext(TradeOffRowText)]
impl TradeOffRow {
    /// What holds, in words.
    pub(crate) fn words(&self) -> String {
        let query = if self.query.is_empty() { String::new() } else { format!("query {}, ", self.query) };
        format!(
            "Trade-off ({query}{}, {}, simultaneous except with probability {})",
            self.method,
            self.validity,
            short(self.failure_probability)
        )
    }

    /// μ, δ at each ε, and the limits of each set.
    pub(crate) fn sections(&self, form: Form) -> [Section; 2] {
        let delta = self
            .delta
            .iter()
            .map(|row| (format!("δ at ε = {}, {}", short(row.epsilon), row.direction), row.delta_lower.0));
        let bounds = Table::of([("μ".to_owned(), self.mu_lower.0)].into_iter().chain(delta))
            .words("quantity", |row| row.0.clone())
            .at_least("at least", 6, |row| row.1);
        let most = if form == Form::Text { SHOWN } else { usize::MAX };
        let band = Table::of(self.points.iter().take(most))
            .words("outputs O", |point| listed(&point.outcomes))
            .at_least("P(O) from", 5, |point| point.p[0].0)
            .at_most("to", 5, |point| point.p[1].0)
            .at_least("Q(O) from", 5, |point| point.q[0].0)
            .at_most("to", 5, |point| point.q[1].0);
        [
            Section::new("μ and δ, at least").heading(self.words()).table(bounds),
            Section::new("Trade-off band").table(band).notes(rest(self.points.len(), most, "sets")),
        ]
    }
}
