//! Presentation of the answers of `leakbound audit counts` and `leakbound audit confusion`.

mod figures;

use super::advice::{forecasts, recommendation_lines, recommendations};
use super::bound_figures::method;
use super::document::Render;
use super::figure::Drawing;
use super::meaning;
use super::records::{Records, cells};
use super::section::{Columns, Form, Section, Table};
use super::words::{distinct, listed, rest};
use crate::bound::Direction;
use crate::report::composed::ComposedSectionText;
use crate::report::counts::figures::CountsAnswerFigures;
use crate::report::failure::FailureNoteText;
use crate::report::trade_off::TradeOffRowText;
use crate::study::{BoundRow, ConfusionAnswer, CountsAnswer, EpsilonRow, SetRow, short};
use easy_ext::ext;
use std::collections::HashMap;

/// Output sets and trade-offs that are shown; all are in JSON.
const SHOWN: usize = 6;
/// On a page a table with more orders than fit a line has a row for each.
const MOST_COLUMNS: usize = 9;

/// The header of the flat table.
const HEADER: &str = "query,quantity,method,direction,order,delta,lower,failure_probability,failure_per,validity";

#[ext]
impl CountsAnswer {
    /// Whether queries have names.
    fn with_query(&self) -> bool {
        let mut queries = self.bounds.iter().map(|row| &row.query).chain(self.epsilon.iter().map(|row| &row.query));
        queries.any(|query| !query.is_empty())
    }

    /// Orders of the bounds, rising.
    fn orders(&self) -> Vec<f64> {
        let mut orders: Vec<f64> = self.bounds.iter().map(|row| row.order).collect();
        orders.sort_by(f64::total_cmp);
        orders.dedup();
        orders
    }

    fn bounds_table(&self, with_query: bool) -> Columns<&[BoundRow]> {
        let same = |a: &BoundRow, b: &BoundRow| (&a.query, a.method, a.direction) == (&b.query, b.method, b.direction);
        Table::of(self.bounds.chunk_by(same))
            .when(with_query, |table| table.words("query", |rows| &rows[0].query))
            .words("method", |rows| rows[0].method)
            .words("direction", |rows| rows[0].direction)
            .each(self.orders(), |table, order| {
                table.at_least(format!("α = {}", short(order)), 5, |rows| {
                    rows.iter().find(|row| row.order == order).map(|row| row.rdp_lower.0)
                })
            })
            .exact("validity", |rows| rows[0].validity)
    }

    /// A row for each order and direction, a column for each method.
    fn orders_table(&self, with_query: bool) -> Columns<(&str, Direction, u64)> {
        let places = self.bounds.iter().map(|row| (row.query.as_str(), row.direction, row.order.to_bits()));
        let methods = self.bounds.iter().map(|row| (row.method, row.validity));
        let values = places.clone().zip(methods.clone()).zip(self.bounds.iter().map(|row| row.rdp_lower.0));
        let values: HashMap<_, _> = values.collect();
        Table::of(distinct(places))
            .when(with_query, |table| table.words("query", |row| row.0))
            .words("direction", |row| row.1)
            .short("order α", |row| f64::from_bits(row.2))
            .each(distinct(methods), |table, (name, validity)| {
                table.at_least(method(name, validity).0, 5, |row| values.get(&(*row, (name, validity))).copied())
            })
    }

    fn epsilon_table(&self, with_query: bool) -> Columns<&EpsilonRow> {
        Table::of(&self.epsilon)
            .when(with_query, |table| table.words("query", |row| &row.query))
            .words("method", |row| row.method)
            .words("direction", |row| row.direction)
            .short("δ", |row| row.delta)
            .at_least("ε at least", 6, |row| row.epsilon_lower.0)
            .exact("validity", |row| row.validity)
    }

    /// The output sets and why these methods: a line each in text, tables on a page.
    fn choices(&self, form: Form, with_query: bool) -> Vec<Section> {
        let tails = |set: &SetRow| if set.directed { "two" } else { "four" };
        if form == Form::Page {
            let sets = Table::of(&self.output_sets)
                .when(with_query, |table| table.words("query", |set| &set.query))
                .words("outcomes", |set| listed(&set.outcomes))
                .words("chosen from", |set| &set.source)
                .exact("tails", |set| tails(set));
            let note = "An output set is chosen without looking at the counts that are bounded. Where its direction was \
                        declared it costs two tails instead of four.";
            return vec![recommendations(&self.recommendations), Section::new("Output sets").table(sets).notes([note])];
        }
        let line = |(index, set): (usize, &SetRow)| {
            let query = if set.query.is_empty() { String::new() } else { format!("query {}, ", set.query) };
            let (outcomes, source, tails) = (listed(&set.outcomes), &set.source, tails(set));
            format!("output set {}: {query}{{{outcomes}}} ({source}, {tails} tails)", index + 1)
        };
        let sets = self.output_sets.iter().enumerate().take(SHOWN).map(line);
        let lines = sets.chain(rest(self.output_sets.len(), SHOWN, "output sets"));
        vec![Section::default().notes(lines.chain(recommendation_lines(&self.recommendations)))]
    }
}

impl Render for CountsAnswer {
    fn title(&self, title: &str) -> String {
        format!("{title}\n{}", self.failure.words())
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        let with_query = self.with_query();
        let bounds = Section::new("Rényi divergence in nats, at least");
        let bounds = match form {
            Form::Page if self.orders().len() > MOST_COLUMNS => bounds.table(self.orders_table(with_query)),
            _ => bounds.table(self.bounds_table(with_query)),
        };
        let epsilon = Section::new("Differential privacy, at least").table(self.epsilon_table(with_query));
        let trade_offs = self.trade_off.iter().take(SHOWN).flat_map(|row| row.sections(form));
        let mut sections = vec![bounds, epsilon];
        sections.extend(self.choices(form, with_query));
        sections.push(forecasts(form, &self.forecasts));
        sections.extend(trade_offs);
        sections.push(Section::default().notes(rest(self.trade_off.len(), SHOWN, "queries")));
        sections.extend(self.composed.iter().map(|composed| composed.section(&self.directions(), &self.orders())));
        sections
    }

    fn figures(&self) -> Vec<Drawing> {
        self.drawings()
    }

    fn meaning(&self) -> Vec<String> {
        let bounds = self.bounds.iter().map(|row| (row.method, row.validity));
        let all: Vec<_> = bounds.chain(self.epsilon.iter().map(|row| (row.method, row.validity))).collect();
        let methods = distinct(all.iter().map(|row| row.0)).len();
        let mut words = meaning::lower_bounds(&self.failure, all.iter().map(|row| row.1), methods);
        words.push(meaning::LIMIT.into());
        words
    }

    fn records(&self) -> Records<'_> {
        let per = self.failure.per.name();
        let bounds = self.bounds.iter().map(move |row| {
            let (order, delta, lower, failure) = (row.order, None::<f64>, row.rdp_lower, row.failure_probability);
            cells![&row.query, "rdp", row.method, row.direction, order, delta, lower, failure, per, row.validity]
        });
        let epsilon = self.epsilon.iter().map(move |row| {
            let (order, delta, lower, failure) = (None::<f64>, row.delta, row.epsilon_lower, row.failure_probability);
            cells![&row.query, "epsilon", row.method, row.direction, order, delta, lower, failure, per, row.validity]
        });
        Records::with(HEADER, bounds.chain(epsilon))
    }
}

impl Render for ConfusionAnswer {
    fn title(&self, title: &str) -> String {
        self.0.title(title)
    }

    fn sections(&self, form: Form) -> Vec<Section> {
        self.0.sections(form)
    }

    fn figures(&self) -> Vec<Drawing> {
        self.0.figures()
    }

    fn meaning(&self) -> Vec<String> {
        self.0.meaning()
    }

    fn records(&self) -> Records<'_> {
        self.0.records()
    }
}
