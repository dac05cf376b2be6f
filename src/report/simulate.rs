//! The document of `leakbound simulate` and `leakbound merge`.

use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::error::Result;
use crate::study::{SimulateAnswer, short, significant};
use serde::Serialize;

/// Queries and classes shown in text: the rest is for programs.
pub(super) const MOST_QUERIES: usize = 6;
const MOST_OUTCOMES: usize = 40;

fn share(count: u64, total: u64) -> String {
    if total == 0 { "-".into() } else { significant(count as f64 / total as f64, 6) }
}

impl SimulateAnswer {
    /// Counts, shares and laws of one query.
    pub(super) fn query_table(&self, index: usize) -> TextTable {
        let query = &self.queries[index];
        let pair = self.laws.get(index).and_then(|law| law.laws.as_ref());
        let header: &[&str] = match pair {
            Some(_) => &["class", "S", "share", "law", "S'", "share", "law"],
            None => &["class", "S", "share", "S'", "share"],
        };
        let mut table = TextTable::new(header, &[]);
        let totals = [&query.counts, &query.counts_neighbor].map(|counts| counts.iter().sum::<u64>());
        for (class, label) in query.labels.iter().enumerate().take(MOST_OUTCOMES) {
            let mut cells = vec![label.clone()];
            let worlds =
                [(&query.counts, pair.map(|pair| &pair.p)), (&query.counts_neighbor, pair.map(|pair| &pair.q))];
            for ((counts, law), total) in worlds.into_iter().zip(totals) {
                cells.extend([counts[class].to_string(), share(counts[class], total)]);
                cells.extend(law.map(|law| significant(law[class].0, 6)));
            }
            table.row(cells);
        }
        table
    }

    /// What the table of a query leaves out, and what its law says about the counts.
    pub(super) fn query_notes(&self, index: usize) -> Vec<String> {
        let (query, law) = (&self.queries[index], self.laws.get(index));
        let mut notes = Vec::new();
        if query.labels.len() > MOST_OUTCOMES {
            notes.push(format!("  ({} more classes in --format json)", query.labels.len() - MOST_OUTCOMES));
        }
        if let Some(pair) = law.and_then(|law| law.laws.as_ref()) {
            let [first, second] = [pair.p_value, pair.p_value_neighbor].map(|p| significant(p, 3));
            notes.push(format!(
                "chi-square against the laws ({}, relative error about {}): p-value {first} under S, {second} under S'",
                pair.method,
                significant(pair.error.0, 2)
            ));
        } else if let Some(reason) = law.and_then(|law| law.refused.as_ref()) {
            notes.push(format!("no law: {reason}"));
        }
        notes
    }

    fn query_text(&self, index: usize) -> String {
        let name = self.queries[index].query.as_ref();
        let mut text = name.map_or_else(String::new, |name| format!("Query {name}\n"));
        text += &self.query_table(index).text();
        for note in self.query_notes(index) {
            text += &format!("{note}\n\n");
        }
        text
    }

    /// The smallest p-value of all, corrected for their number: with many queries a small one is no surprise.
    pub(super) fn summary(&self) -> Option<String> {
        let pairs = self.laws.iter().filter_map(|law| law.laws.as_ref());
        let values: Vec<f64> = pairs.flat_map(|pair| [pair.p_value, pair.p_value_neighbor]).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        let corrected = (least * values.len() as f64).min(1.0);
        Some(format!(
            "smallest of {} chi-square p-values: {} (times their number: {})\n",
            values.len(),
            significant(least, 3),
            significant(corrected, 3)
        ))
    }
}

impl Render for SimulateAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n");
        if self.blocks.len() < self.blocks_in_all {
            text += &format!("blocks {} of {}\n", self.blocks, self.blocks_in_all);
        }
        text.push('\n');
        for index in 0..self.queries.len().min(MOST_QUERIES) {
            text += &self.query_text(index);
        }
        if self.queries.len() > MOST_QUERIES {
            text += &format!("({} more queries in --format json)\n\n", self.queries.len() - MOST_QUERIES);
        }
        if self.queries.len() > 1 {
            text += &self.summary().unwrap_or_default();
        }
        text += &format!(
            "scenario {}..., seed {}, {} samples per query and world\n",
            self.plan.scenario_sha256.get(..12).unwrap_or_default(),
            self.plan.seed,
            short(self.plan.samples as f64)
        );
        text
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        Some(self.as_page(envelope, title))
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            query: Option<&'a str>,
            outcome: &'a str,
            count: u64,
            count_neighbor: u64,
        }
        csv_text(self.queries.iter().flat_map(|query| {
            let worlds = query.counts.iter().zip(&query.counts_neighbor);
            query.labels.iter().zip(worlds).map(|(outcome, (&count, &count_neighbor))| Row {
                query: query.query.as_deref(),
                outcome,
                count,
                count_neighbor,
            })
        }))
    }
}
