//! The document of `leakbound audit counts` and `leakbound audit confusion`.

use super::advice::{forecasts_text, recommendations_text};
use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text, listed};
use crate::bound::Direction;
use crate::error::Result;
use crate::study::{BoundRow, Claim, ConfusionAnswer, CountsAnswer, TradeOffRow, short, significant};
use serde::Serialize;

/// Claims, one line each.
pub(super) fn claims_text(claims: &[Claim]) -> String {
    let mut text: String = claims
        .iter()
        .map(|claim| {
            let verdict = if claim.refuted { "REFUTED" } else { "not refuted" };
            let query = if claim.query.is_empty() { String::new() } else { format!(", query {}", claim.query) };
            let chance = if claim.failure_probability > 0.0 {
                format!(", wrong with probability at most {}", short(claim.failure_probability))
            } else {
                String::new()
            };
            format!("claim {}: {verdict} (at least {}{query}{chance})\n", claim.claim, significant(claim.lower.0, 6))
        })
        .collect();
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

impl CountsAnswer {
    /// Whether queries have names.
    pub(super) fn with_query(&self) -> bool {
        let mut queries = self.bounds.iter().map(|row| &row.query).chain(self.epsilon.iter().map(|row| &row.query));
        queries.any(|query| !query.is_empty())
    }

    /// Orders of the bounds, rising.
    pub(super) fn orders(&self) -> Vec<f64> {
        let mut orders: Vec<f64> = self.bounds.iter().map(|row| row.order).collect();
        orders.sort_by(f64::total_cmp);
        orders.dedup();
        orders
    }

    /// Directions of the bounds.
    pub(super) fn directions(&self) -> Vec<Direction> {
        let bounded = |direction: &Direction| self.bounds.iter().any(|row| row.direction == *direction);
        Direction::BOTH.into_iter().filter(bounded).collect()
    }

    pub(super) fn bounds_table(&self, with_query: bool) -> TextTable {
        let orders = self.orders();
        let names: Vec<String> = orders.iter().map(|order| format!("α = {}", short(*order))).collect();
        let mut header = if with_query { vec!["query"] } else { vec![] };
        header.extend(["method", "direction"]);
        let words: Vec<usize> = (0..header.len()).collect();
        header.extend(names.iter().map(String::as_str));
        header.push("validity");
        let mut table = TextTable::new(&header, &words);
        let mut start = 0;
        while start < self.bounds.len() {
            let first = &self.bounds[start];
            let same = |row: &&BoundRow| {
                (&row.query, row.method, row.direction) == (&first.query, first.method, first.direction)
            };
            let rows: Vec<&BoundRow> = self.bounds[start..].iter().take_while(same).collect();
            let mut cells = if with_query { vec![first.query.clone()] } else { vec![] };
            cells.extend([first.method.to_owned(), first.direction.to_string()]);
            cells.extend(orders.iter().map(|order| {
                let row = rows.iter().find(|row| row.order == *order);
                row.map_or_else(String::new, |row| significant(row.rdp_lower.0, 5))
            }));
            cells.push(first.validity.to_string());
            table.row(cells);
            start += rows.len();
        }
        table
    }

    pub(super) fn epsilon_table(&self, with_query: bool) -> TextTable {
        let mut header = if with_query { vec!["query"] } else { vec![] };
        header.extend(["method", "direction"]);
        let words: Vec<usize> = (0..header.len()).collect();
        header.extend(["δ", "ε at least", "validity"]);
        let mut table = TextTable::new(&header, &words);
        for row in &self.epsilon {
            let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
            cells.extend([
                row.method.to_owned(),
                row.direction.to_string(),
                short(row.delta),
                significant(row.epsilon_lower.0, 6),
                row.validity.to_string(),
            ]);
            table.row(cells);
        }
        table
    }
}

impl Render for CountsAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}\n{}\n\n", self.failure.words());
        let with_query = self.with_query();
        if !self.bounds.is_empty() {
            text += "Rényi divergence in nats, at least\n";
            text += &self.bounds_table(with_query).text();
        }
        if !self.epsilon.is_empty() {
            text += "Differential privacy, at least\n";
            text += &self.epsilon_table(with_query).text();
        }
        for (index, set) in self.output_sets.iter().enumerate().filter(|(index, _)| *index < 6) {
            let query = if set.query.is_empty() { String::new() } else { format!("query {}, ", set.query) };
            text += &format!(
                "output set {}: {query}{{{}}} ({}, {} tails)\n",
                index + 1,
                listed(&set.outcomes),
                set.source,
                if set.directed { "two" } else { "four" }
            );
        }
        if self.output_sets.len() > 6 {
            text += &format!("({} more output sets in --format json)\n", self.output_sets.len() - 6);
        }
        text += &recommendations_text(&self.recommendations);
        text += &forecasts_text(&self.forecasts);
        text.truncate(text.trim_end().len());
        text += "\n\n";
        text.extend(self.trade_off.iter().take(6).map(TradeOffRow::text));
        if self.trade_off.len() > 6 {
            text += &format!("({} more queries in --format json)\n\n", self.trade_off.len() - 6);
        }
        if let Some(composed) = &self.composed {
            text += &composed.text(&self.directions(), &self.orders());
        }
        text + &claims_text(&self.claims)
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        Some(self.as_page(envelope, title))
    }

    fn csv(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Row<'a> {
            query: &'a str,
            quantity: &'a str,
            method: &'a str,
            direction: &'a str,
            order: Option<f64>,
            delta: Option<f64>,
            lower: String,
            failure_probability: f64,
            failure_per: &'a str,
            validity: &'a str,
        }
        let failure_per = self.failure.per.name();
        let bounds = self.bounds.iter().map(|row| Row {
            query: &row.query,
            quantity: "rdp",
            method: row.method,
            direction: row.direction.name(),
            order: Some(row.order),
            delta: None,
            lower: row.rdp_lower.text(),
            failure_probability: row.failure_probability,
            failure_per,
            validity: row.validity.name(),
        });
        let epsilon = self.epsilon.iter().map(|row| Row {
            query: &row.query,
            quantity: "epsilon",
            method: row.method,
            direction: row.direction.name(),
            order: None,
            delta: Some(row.delta),
            lower: row.epsilon_lower.text(),
            failure_probability: row.failure_probability,
            failure_per,
            validity: row.validity.name(),
        });
        csv_text(bounds.chain(epsilon))
    }
}

impl Render for ConfusionAnswer {
    fn text(&self, title: &str) -> String {
        self.0.text(title)
    }

    fn csv(&self) -> Result<String> {
        self.0.csv()
    }

    fn page(&self, envelope: &Envelope, title: &str) -> Option<Page> {
        self.0.page(envelope, title)
    }
}
