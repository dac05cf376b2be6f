//! Presentation of the answer of `leakbound audit stream`.

use super::document::Render;
use super::meaning;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use super::words::listed;
use crate::study::StreamAnswer;

impl Render for StreamAnswer {
    fn title(&self, title: &str) -> String {
        let mut text = format!(
            "{title}\n{} outputs of s, {} of s_prime, {} pairs, {} outcomes",
            self.outputs, self.outputs_neighbor, self.pairs, self.outcomes
        );
        if let Some(bins) = &self.bins {
            let [s, neighbor] = [bins.pilot_outputs, bins.pilot_outputs_neighbor];
            if s + neighbor > 0 {
                text += &format!(
                    "\nthe first outputs ({s} of s, {neighbor} of s_prime) choose the bins and are not bounded"
                );
            }
            let labels = if bins.labels.is_empty() { "not chosen yet".into() } else { listed(&bins.labels) };
            text += &format!("\nbins: {labels}");
        }
        if let Some(line) = self.stopped_at_line {
            text += &format!("\nstopped at line {line}: a claim is refuted");
        }
        text
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let table = Table::of(&self.bounds)
            .words("direction", |row| row.direction)
            .exact("order", |row| row.order)
            .number("at least", 5, |row| row.rdp_lower.0)
            .number("failure", 3, |row| row.failure_probability)
            .words("validity", |row| row.validity);
        vec![Section::new("Rényi divergence in nats, at least, at any time").table(table)]
    }

    fn meaning(&self) -> Vec<String> {
        let failure = self.bounds.first().map(|row| row.failure_probability);
        meaning::of_one_event(failure, self.bounds.iter().map(|row| row.validity))
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.bounds)
            .column("query", |row| &row.query)
            .columns(fields!(row => method, direction, order, rdp_lower, failure_probability, validity))
            .into()
    }
}
