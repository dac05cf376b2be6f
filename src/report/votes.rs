//! Presentation of the answer of `leakbound audit votes`.

mod figures;
mod values;

use super::document::Render;
use super::figure::Drawing;
use super::records::{Records, cells};
use super::section::{Columns, Form, Section, Table};
use crate::bound::{Direction, Validity};
use crate::report::composed::ComposedSectionText;
use crate::report::failure::FailureNoteText;
use crate::report::votes::figures::VotesAnswerFigures;
use crate::report::votes::values::VotesAnswerValues;
use crate::study::{BoundRow, VotesAnswer, VotesQuery, short};
use easy_ext::ext;

/// Orders in text.
const MOST_ORDERS: usize = 6;

/// The header of the flat table.
const HEADER: &str = "query,kind,name,direction,order,delta,value,failure_probability,failure_per,validity";

#[ext]
impl VotesAnswer {
    /// The orders that fit a page: the first, the last, and some between them in equal ratios.
    fn shown_orders(&self) -> Vec<f64> {
        let count = self.orders.len();
        if count <= MOST_ORDERS {
            return self.orders.clone();
        }
        let places = (0..MOST_ORDERS)
            .map(|step| (((count as f64).powf(step as f64 / (MOST_ORDERS - 1) as f64)).round() as usize - 1).max(step));
        places.map(|place| self.orders[place.min(count - 1)]).collect()
    }

    /// The largest lower bound of a query with a finite-sample guarantee; 0 without one.
    fn certified(&self, query: &VotesQuery, order: f64) -> f64 {
        let shown = |row: &&BoundRow| row.order == order && row.direction == self.shown;
        let guaranteed = |row: &&BoundRow| row.validity == Validity::FiniteSample;
        query.lower.iter().filter(shown).filter(guaranteed).map(|row| row.rdp_lower.0).fold(0.0, f64::max)
    }

    /// Per query at one order: lower bounds, exact value, upper bounds, and the share certified.
    fn queries_table(&self, order: f64) -> Columns<&VotesQuery> {
        let guaranteed = |query: &&VotesQuery| {
            let rows = query.epsilon.iter().filter(|row| row.validity == Validity::FiniteSample);
            rows.map(|row| row.epsilon_lower.0).reduce(f64::max)
        };
        let with_epsilon = self.queries.iter().any(|query| guaranteed(&query).is_some());
        Table::of(&self.queries)
            .exact("query", |query| &query.query)
            .exact("label", |query| query.label.map_or_else(|| "-".into(), |label| label.to_string()))
            // A method that was not applied to this query leaves its cell empty.
            .each(self.methods(), |table, method| table.at_least(method, 3, |query| self.lower(query, method, order)))
            .number(self.distribution.column(), 3, |query| self.exact_value(query, order))
            .each(self.upper_names(), |table, name| table.at_most(name, 3, |query| self.upper(query, name, order)))
            .exact(self.share_name(), |query| share(self.certified(query, order), self.exact_value(query, order)))
            .when(with_epsilon, |table| {
                table.at_least("ε at least", 3, |query| guaranteed(query).map_or(0.0, |epsilon| epsilon.max(0.0)))
            })
    }

    fn share_name(&self) -> String {
        format!("lower/{}", self.distribution.column())
    }

    /// In how many queries some bound of this order with a guarantee is not 0.
    fn certified_text(&self, order: f64) -> String {
        let certified = self.queries.iter().filter(|query| self.certified(query, order) > 0.0);
        format!("leakage certified in {} of {} queries", certified.count(), self.queries.len())
    }

    /// Means over the queries, order by order.
    fn orders_table(&self) -> Columns<f64> {
        let count = self.queries.len() as f64;
        let mean = |value: &dyn Fn(&VotesQuery) -> f64| self.queries.iter().map(value).sum::<f64>() / count;
        let exact = |order: f64| mean(&|query| self.exact_value(query, order));
        let lower = |method: &str, order: f64| mean(&|query| self.lower(query, method, order).unwrap_or(0.0));
        // An accountant that some query lacks promises nothing about the mean.
        let upper = |name: &str, order: f64| mean(&|query| self.upper(query, name, order).unwrap_or(f64::INFINITY));
        Table::of(self.shown_orders())
            .short("order α", |order| *order)
            .each(self.methods(), |table, method| table.at_least(method, 4, |order| lower(method, *order)))
            .number(self.distribution.column(), 4, |order| exact(*order))
            .each(self.upper_names(), |table, name| table.at_most(name, 4, |order| upper(name, *order)))
            .exact(self.share_name(), |order| share(mean(&|query| self.certified(query, *order)), exact(*order)))
    }
}

fn share(lower: f64, exact: f64) -> String {
    if exact > 0.0 { format!("{:.1}%", 100.0 * lower / exact) } else { "-".into() }
}

impl Render for VotesAnswer {
    fn title(&self, title: &str) -> String {
        format!("{title}\n{}", self.failure.words())
    }

    fn sections(&self, _: Form) -> Vec<Section> {
        let per_query = self.orders.first().map(|&order| {
            Section::new(format!("Rényi divergence of order {}, {}, per query (nats)", short(order), self.shown))
                .table(self.queries_table(order))
                .notes([self.certified_text(order)])
        });
        let more = self.orders.len() - self.shown_orders().len();
        let more = if more > 0 { format!("; {more} more orders in the JSON document") } else { String::new() };
        let means = Section::new(format!("Mean over the queries, {}, per order (nats{more})", self.shown))
            .table(self.orders_table())
            .notes(self.series_check.as_ref().map(|check| format!("Check: {check}")));
        let composed = self.composed.as_ref().map(|composed| composed.section(&[self.shown], &self.shown_orders()));
        per_query.into_iter().chain([means]).chain(composed).collect()
    }

    fn figures(&self) -> Vec<Drawing> {
        self.drawings()
    }

    fn meaning(&self) -> Vec<String> {
        self.explanation()
    }

    fn records(&self) -> Records<'_> {
        let per = self.failure.per.name();
        let rows = self.queries.iter().flat_map(move |query| {
            let (name, nothing) = (&query.query, None::<f64>);
            let distribution = if query.exact.is_empty() { "approximate" } else { "exact" };
            let lower = query.lower.iter().map(move |row| {
                let (value, failure) = (row.rdp_lower, row.failure_probability);
                cells![name, "lower", row.method, row.direction, row.order, nothing, value, failure, per, row.validity]
            });
            let epsilon = query.epsilon.iter().map(move |row| {
                let (kind, value, failure) = ("lower-epsilon", row.epsilon_lower, row.failure_probability);
                cells![name, kind, row.method, row.direction, nothing, row.delta, value, failure, per, row.validity]
            });
            let exact = query.divergences().iter().flat_map(move |row| {
                let (column, validity) = (self.distribution.column(), self.distribution.validity());
                [(Direction::Forward, row.forward), (Direction::Reverse, row.reverse)].map(|(direction, value)| {
                    cells![name, distribution, column, direction, row.order, nothing, value, nothing, nothing, validity]
                })
            });
            let upper = query.upper.iter().map(move |row| {
                let (direction, validity) = (row.direction, row.validity);
                cells![name, "upper", row.name, direction, row.order, nothing, row.rdp, nothing, nothing, validity]
            });
            lower.chain(epsilon).chain(exact).chain(upper)
        });
        Records::with(HEADER, rows)
    }
}
