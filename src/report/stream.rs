//! The document of `leakbound audit stream`.

use super::counts::claims_text;
use super::document::Render;
use super::table::{TextTable, csv_text, listed};
use crate::error::Result;
use crate::study::{StreamAnswer, significant};

impl Render for StreamAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!(
            "{title}\n{} outputs of s, {} of s_prime, {} pairs, {} outcomes\n",
            self.outputs, self.outputs_neighbor, self.pairs, self.outcomes
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
        text + &claims_text(&self.claims)
    }

    fn csv(&self) -> Result<String> {
        csv_text(&self.bounds)
    }
}
