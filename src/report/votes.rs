//! `leakbound audit votes` as text and CSV.

use super::counts::claims_text;
use super::document::Render;
use super::envelope::Envelope;
use super::page::Page;
use super::table::{TextTable, csv_text};
use crate::bound::{Direction, Validity};
use crate::error::Result;
use crate::study::{BoundRow, UpperRow, VotesAnswer, VotesQuery, short, significant};
use serde::Serialize;

/// Orders in text.
const MOST_ORDERS: usize = 6;

impl VotesAnswer {
    pub(super) fn upper_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for row in self.queries.iter().flat_map(|query| &query.upper) {
            if !names.contains(&row.name) {
                names.push(row.name);
            }
        }
        names
    }

    pub(super) fn methods(&self) -> Vec<&'static str> {
        let mut methods = Vec::new();
        for row in self.queries.iter().flat_map(|query| &query.lower) {
            if !methods.contains(&row.method) {
                methods.push(row.method);
            }
        }
        methods
    }

    /// The orders that fit a page: the first, the last, and some between them in equal ratios.
    pub(super) fn shown_orders(&self) -> Vec<f64> {
        let count = self.orders.len();
        if count <= MOST_ORDERS {
            return self.orders.clone();
        }
        let places = (0..MOST_ORDERS)
            .map(|step| (((count as f64).powf(step as f64 / (MOST_ORDERS - 1) as f64)).round() as usize - 1).max(step));
        places.map(|place| self.orders[place.min(count - 1)]).collect()
    }

    pub(super) fn lower(&self, query: &VotesQuery, method: &str, order: f64) -> Option<f64> {
        let row =
            query.lower.iter().find(|row| row.method == method && row.order == order && row.direction == self.shown);
        row.map(|row| row.rdp_lower.0)
    }

    /// What an accountant promises about the direction shown.
    pub(super) fn upper(&self, query: &VotesQuery, name: &str, order: f64) -> Option<f64> {
        let shown = |row: &&UpperRow| row.name == name && row.order == order && row.direction == self.shown;
        query.upper.iter().find(shown).map(|row| row.rdp.0)
    }

    /// The largest lower bound of a query with a finite-sample guarantee; 0 without one.
    fn certified(&self, query: &VotesQuery, order: f64) -> f64 {
        let shown = |row: &&BoundRow| row.order == order && row.direction == self.shown;
        let guaranteed = |row: &&BoundRow| row.validity == Validity::FiniteSample;
        query.lower.iter().filter(shown).filter(guaranteed).map(|row| row.rdp_lower.0).fold(0.0, f64::max)
    }

    pub(super) fn exact_value(&self, query: &VotesQuery, order: f64) -> f64 {
        let row = query.divergences().iter().find(|row| row.order == order);
        row.map_or(0.0, |row| if self.shown == Direction::Forward { row.forward.0 } else { row.reverse.0 })
    }

    /// Per query at one order: lower bounds, exact value, upper bounds, and the share certified.
    pub(super) fn queries_table(&self, order: f64) -> TextTable {
        let (methods, uppers) = (self.methods(), self.upper_names());
        let mut header = vec!["query", "label"];
        header.extend(&methods);
        header.push(self.law.column());
        header.extend(&uppers);
        let share_name = format!("lower/{}", self.law.column());
        header.push(&share_name);
        let with_epsilon =
            self.queries.iter().flat_map(|query| &query.epsilon).any(|row| row.validity == Validity::FiniteSample);
        if with_epsilon {
            header.push("ε at least");
        }
        let mut table = TextTable::new(&header, &[]);
        for query in &self.queries {
            let exact = self.exact_value(query, order);
            let lower = methods.iter().map(|method| self.lower(query, method, order));
            let mut cells =
                vec![query.query.clone(), query.label.map_or_else(|| "-".into(), |label| label.to_string())];
            // A method that was not applied to this query leaves its cell empty.
            cells.extend(lower.map(|value| value.map_or_else(String::new, |value| significant(value, 3))));
            cells.push(significant(exact, 3));
            for name in &uppers {
                cells.push(self.upper(query, name, order).map_or_else(String::new, |value| significant(value, 3)));
            }
            cells.push(share(self.certified(query, order), exact));
            if with_epsilon {
                let guaranteed = query.epsilon.iter().filter(|row| row.validity == Validity::FiniteSample);
                let epsilon = guaranteed.map(|row| row.epsilon_lower.0).fold(0.0, f64::max);
                cells.push(significant(epsilon, 3));
            }
            table.row(cells);
        }
        table
    }

    /// In how many queries some bound of this order with a guarantee is not 0.
    pub(super) fn certified_text(&self, order: f64) -> String {
        let certified = self.queries.iter().filter(|query| self.certified(query, order) > 0.0);
        format!("leakage certified in {} of {} queries", certified.count(), self.queries.len())
    }

    /// Means over the queries, order by order.
    pub(super) fn orders_table(&self) -> TextTable {
        let (methods, uppers) = (self.methods(), self.upper_names());
        let mut header = vec!["order α"];
        header.extend(&methods);
        header.push(self.law.column());
        header.extend(&uppers);
        let share_name = format!("lower/{}", self.law.column());
        header.push(&share_name);
        let mut table = TextTable::new(&header, &[]);
        let count = self.queries.len() as f64;
        for order in self.shown_orders() {
            let mean = |value: &dyn Fn(&VotesQuery) -> f64| self.queries.iter().map(value).sum::<f64>() / count;
            let lower: Vec<f64> =
                methods.iter().map(|method| mean(&|query| self.lower(query, method, order).unwrap_or(0.0))).collect();
            let exact = mean(&|query| self.exact_value(query, order));
            let mut cells = vec![short(order)];
            cells.extend(lower.iter().map(|value| significant(*value, 4)));
            cells.push(significant(exact, 4));
            for name in &uppers {
                // An accountant that some query lacks promises nothing about the mean.
                let upper = mean(&|query| self.upper(query, name, order).unwrap_or(f64::INFINITY));
                cells.push(significant(upper, 4));
            }
            cells.push(share(mean(&|query| self.certified(query, order)), exact));
            table.row(cells);
        }
        table
    }
}

fn share(lower: f64, exact: f64) -> String {
    if exact > 0.0 { format!("{:.1} %", 100.0 * lower / exact) } else { "-".into() }
}

impl Render for VotesAnswer {
    fn text(&self, title: &str) -> String {
        let mut text = format!("{title}; {}\n\n", self.failure.words());
        if let Some(&order) = self.orders.first() {
            text += &format!("Rényi divergence of order {}, {}, per query (nats)\n", short(order), self.shown);
            text += &self.queries_table(order).text();
            text.truncate(text.trim_end().len());
            text += &format!("\n  {}\n\n", self.certified_text(order));
        }
        let more = self.orders.len() - self.shown_orders().len();
        let more = if more > 0 { format!("; {more} more orders in --format json") } else { String::new() };
        text += &format!("Mean over the queries, {}, per order (nats{more})\n", self.shown);
        text += &self.orders_table().text();
        if let Some(check) = &self.series_check {
            text += &format!("Check: {check}\n\n");
        }
        if let Some(composed) = &self.composed {
            text += &composed.text(&[self.shown], &self.shown_orders());
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
            kind: &'a str,
            name: &'a str,
            direction: &'a str,
            order: Option<f64>,
            delta: Option<f64>,
            value: String,
            failure_probability: Option<f64>,
            failure_per: Option<&'a str>,
            validity: &'a str,
        }
        let per = self.failure.per.name();
        let mut rows = Vec::new();
        for query in &self.queries {
            let name = query.query.as_str();
            rows.extend(query.lower.iter().map(|row| Row {
                query: name,
                kind: "lower",
                name: row.method,
                direction: row.direction.name(),
                order: Some(row.order),
                delta: None,
                value: row.rdp_lower.text(),
                failure_probability: Some(row.failure_probability),
                failure_per: Some(per),
                validity: row.validity.name(),
            }));
            rows.extend(query.epsilon.iter().map(|row| Row {
                query: name,
                kind: "lower-epsilon",
                name: row.method,
                direction: row.direction.name(),
                order: None,
                delta: Some(row.delta),
                value: row.epsilon_lower.text(),
                failure_probability: Some(row.failure_probability),
                failure_per: Some(per),
                validity: row.validity.name(),
            }));
            let exact = query.divergences().iter().flat_map(|row| {
                Direction::BOTH.map(|direction| {
                    (row.order, direction, if direction == Direction::Forward { row.forward } else { row.reverse })
                })
            });
            rows.extend(exact.map(|(order, direction, value)| Row {
                query: name,
                kind: if query.exact.is_empty() { "approximate" } else { "exact" },
                name: self.law.column(),
                direction: direction.name(),
                order: Some(order),
                delta: None,
                value: value.text(),
                failure_probability: None,
                failure_per: None,
                validity: self.law.validity().name(),
            }));
            rows.extend(query.upper.iter().map(|row| Row {
                query: name,
                kind: "upper",
                name: row.name,
                direction: row.direction.name(),
                order: Some(row.order),
                delta: None,
                value: row.rdp.text(),
                failure_probability: None,
                failure_per: None,
                validity: row.validity.name(),
            }));
        }
        csv_text(rows)
    }
}
