//! The document of `leakbound audit stream`.

use super::counts::{BoundRow, Claim, claims_text};
use super::document::{Document, Envelope};
use super::number::significant;
use super::table::{TextTable, csv_text, warnings_text};
use crate::error::Result;
use serde::Serialize;

/// The result of an audit of a stream.
#[derive(Debug, Clone, Serialize)]
pub struct StreamDocument {
    /// The common part.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// Title line of the text.
    #[serde(skip)]
    pub title: String,
    /// Outputs of the dataset so far, those of earlier runs included.
    pub outputs: u64,
    /// Outputs of its neighbour so far.
    pub outputs_neighbor: u64,
    /// Pairs made of them.
    pub pairs: u64,
    /// Different outcomes so far.
    pub outcomes: usize,
    /// The line after which a claim was refuted and reading stopped.
    pub stopped_at_line: Option<u64>,
    /// Rényi bounds.
    pub bounds: Vec<BoundRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
}

impl Document for StreamDocument {
    fn text(&self) -> String {
        let mut text = format!(
            "{}\n{} outputs of s, {} of s_prime, {} pairs, {} outcomes\n",
            self.title, self.outputs, self.outputs_neighbor, self.pairs, self.outcomes
        );
        if let Some(line) = self.stopped_at_line {
            text += &format!("stopped at line {line}: a claim is refuted\n");
        }
        text += "\nRényi divergence in nats, at least, at any time\n";
        let mut table = TextTable::new(&["direction", "order", "at least", "failure", "validity"], &[0, 4]);
        for row in &self.bounds {
            table.row(vec![
                row.direction.to_string(),
                row.order.to_string(),
                significant(row.rdp_lower.0, 5),
                significant(row.failure_probability, 3),
                row.validity.to_string(),
            ]);
        }
        text += &table.text();
        text += &claims_text(&self.claims);
        text + &warnings_text(&self.envelope.warnings)
    }

    fn csv(&self) -> Result<String> {
        csv_text(&self.bounds)
    }
}
