//! Lower bounds of μ and of δ, and the trade-off band behind them.

use super::table::{TextTable, listed};
use crate::study::{TradeOffRow, short, significant};

/// Rows of the band shown before the rest is left to JSON.
const SHOWN: usize = 12;

impl TradeOffRow {
    /// What holds, in words.
    pub(super) fn words(&self) -> String {
        let query = if self.query.is_empty() { String::new() } else { format!("query {}, ", self.query) };
        format!(
            "Trade-off ({query}{}, {}, all of it at once except with probability {})",
            self.method,
            self.validity,
            short(self.failure_probability)
        )
    }

    /// μ, and δ at each ε.
    pub(super) fn bounds(&self) -> TextTable {
        let mut table = TextTable::new(&["quantity", "at least"], &[0]);
        table.row(vec!["μ".into(), significant(self.mu_lower.0, 6)]);
        for row in &self.delta {
            table.row(vec![
                format!("δ at ε = {}, {}", short(row.epsilon), row.direction),
                significant(row.delta_lower.0, 6),
            ]);
        }
        table
    }

    /// The limits of each set, at most so many.
    pub(super) fn band(&self, most: usize) -> TextTable {
        let mut table = TextTable::new(&["outputs O", "P(O) from", "to", "Q(O) from", "to"], &[0]);
        for point in self.points.iter().take(most) {
            let mut cells = vec![listed(&point.outcomes)];
            cells.extend(point.p.iter().chain(&point.q).map(|limit| significant(limit.0, 5)));
            table.row(cells);
        }
        table
    }

    pub(super) fn text(&self) -> String {
        let rest = self.points.len().saturating_sub(SHOWN);
        let rest = if rest > 0 { format!("({rest} more sets in --format json)\n") } else { String::new() };
        format!("{}\n{}{}{rest}", self.words(), self.bounds().text(), self.band(SHOWN).text())
    }
}
