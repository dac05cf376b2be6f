//! The document of `leakbound audit stream`.

use super::counts::claims_text;
use super::document::Document;
use super::envelope::Envelope;
use super::table::{TextTable, csv_text, listed, warnings_text};
use crate::error::Result;
use crate::study::{BoundRow, Claim, significant};
use serde::Serialize;

/// The bins of a stream of numbers, and the first outputs that chose them.
#[derive(Debug, Clone, Serialize)]
pub struct StreamBinsRow {
    /// Outputs of the dataset that chose the bins and are not bounded.
    pub pilot_outputs: u64,
    /// Those of its neighbor.
    pub pilot_outputs_neighbor: u64,
    /// The bins as intervals, from below; none while the pilot lasts.
    pub labels: Vec<String>,
}

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
    /// Outputs of its neighbor so far.
    pub outputs_neighbor: u64,
    /// Pairs made of them.
    pub pairs: u64,
    /// Different outcomes so far, or bins.
    pub outcomes: usize,
    /// Bins of outputs that are numbers.
    pub bins: Option<StreamBinsRow>,
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
        if let Some(bins) = &self.bins {
            let [s, neighbor] = [bins.pilot_outputs, bins.pilot_outputs_neighbor];
            if s + neighbor > 0 {
                text += &format!(
                    "the first outputs ({s} of s, {neighbor} of s_prime) choose the bins and are not bounded\n"
                );
            }
            text += &format!(
                "bins: {}\n",
                if bins.labels.is_empty() { "not chosen yet".into() } else { listed(&bins.labels) }
            );
        }
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
