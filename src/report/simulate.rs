//! Presentation of the answers of `leakbound simulate` and `leakbound merge`.

use super::document::Render;
use super::records::Records;
use super::section::{Columns, Form, Section, Table};
use super::words::rest;
use crate::study::{SimulateAnswer, short, significant};
use easy_ext::ext;

/// Queries and classes that are shown: the rest is for programs.
const MOST_QUERIES: usize = 6;
const MOST_OUTCOMES: usize = 40;

fn share(count: u64, total: u64) -> String {
    if total == 0 { "-".into() } else { significant(count as f64 / total as f64, 6) }
}

#[ext]
impl SimulateAnswer {
    /// Counts, shares and distributions of one query.
    fn query_table(&self, index: usize) -> Columns<(usize, &String)> {
        let query = &self.queries[index];
        let pair = self.distributions.get(index).and_then(|distribution| distribution.distributions.as_ref());
        let worlds =
            [("S", &query.counts, pair.map(|pair| &pair.p)), ("S'", &query.counts_neighbor, pair.map(|pair| &pair.q))];
        Table::of(query.labels.iter().enumerate().take(MOST_OUTCOMES)).exact("class", |row| row.1).each(
            worlds,
            |table, (name, counts, distribution)| {
                let total = counts.iter().sum::<u64>();
                table
                    .exact(name, |row| counts[row.0])
                    .exact("share", |row| share(counts[row.0], total))
                    .each(distribution, |table, distribution| table.number("expected", 6, |row| distribution[row.0].0))
            },
        )
    }

    /// What the distribution of a query shows about its counts.
    fn distribution_note(&self, index: usize) -> Option<String> {
        let distribution = self.distributions.get(index)?;
        let Some(pair) = &distribution.distributions else {
            return distribution.rejected.as_ref().map(|reason| format!("no distribution: {reason}"));
        };
        let [first, second] = [pair.p_value, pair.p_value_neighbor].map(|p| significant(p, 3));
        Some(format!(
            "chi-square against the distributions ({}, relative error about {}): p-value {first} under S, {second} under S'",
            pair.method,
            significant(pair.error.0, 2)
        ))
    }

    /// The smallest p-value of all, corrected for their number: with many queries a small one is not surprising.
    fn summary(&self) -> Option<String> {
        let pairs = self.distributions.iter().filter_map(|distribution| distribution.distributions.as_ref());
        let values: Vec<f64> = pairs.flat_map(|pair| [pair.p_value, pair.p_value_neighbor]).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        let corrected = (least * values.len() as f64).min(1.0);
        Some(format!(
            "smallest of {} chi-square p-values: {} (times their number: {})",
            values.len(),
            significant(least, 3),
            significant(corrected, 3)
        ))
    }
}

impl Render for SimulateAnswer {
    fn title(&self, title: &str) -> String {
        if self.blocks.len() == self.blocks_in_all {
            return title.to_owned();
        }
        format!("{title}\nblocks {} of {}", self.blocks, self.blocks_in_all)
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let section = |index: usize| {
            let query = &self.queries[index];
            let section = match &query.query {
                Some(name) => Section::new(format!("Query {name}")),
                None => Section::new("Outputs").heading(""),
            };
            let more = rest(query.labels.len(), MOST_OUTCOMES, "classes");
            section.table(self.query_table(index)).notes(more.into_iter().chain(self.distribution_note(index)))
        };
        let queries = self.queries.len();
        let scenario = format!(
            "scenario {}..., seed {}, {} samples per query and world",
            self.plan.scenario_sha256.get(..12).unwrap_or_default(),
            self.plan.seed,
            short(self.plan.samples as f64)
        );
        let notes = rest(queries, MOST_QUERIES, "queries").into_iter();
        let notes = notes.chain(self.summary().filter(|_| queries > 1)).chain([scenario]);
        (0..queries.min(MOST_QUERIES)).map(section).chain([Section::default().notes(notes)]).collect()
    }

    fn meaning(&self) -> Vec<String> {
        vec![
            "These are counts of simulated outputs, not bounds; an audit of counts makes bounds of them. A p-value \
             near 0 shows that the counts do not fit the computed distribution."
                .into(),
        ]
    }

    fn records(&self) -> Records<'_> {
        let rows = self.queries.iter().flat_map(|query| (0..query.labels.len()).map(move |index| (query, index)));
        let with_query = self.queries.iter().any(|query| query.query.is_some());
        Records::of(rows)
            .when(with_query, |records| records.column("query", |row| row.0.query.as_ref()))
            .column("outcome", |row| &row.0.labels[row.1])
            .column("count", |row| row.0.counts[row.1])
            .column("count_neighbor", |row| row.0.counts_neighbor[row.1])
            .into()
    }
}
