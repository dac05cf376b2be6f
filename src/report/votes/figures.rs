//! The figures of `leakbound audit votes`, and what its numbers mean.

use super::values::VotesAnswerValues;
use crate::bound::{Direction, Validity};
use crate::report::bound_figures::{axis, epsilon_per_query, method};
use crate::report::composed::ComposedSectionText;
use crate::report::words::distinct;
use crate::report::{Curves, Drawing, Row, RowSeries, Rows, Series, SeriesKind, meaning};
use crate::study::{DistributionKind, EpsilonRow, VotesAnswer, VotesQuery, short};
use easy_ext::ext;

/// The divergence in letters.
const fn letters(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "D(S‖S')",
        Direction::Reverse => "D(S'‖S)",
    }
}

#[ext(VotesAnswerFigures)]
impl VotesAnswer {
    pub(crate) fn drawings(&self) -> Vec<Drawing> {
        let mut figures = Vec::new();
        figures.extend(self.orders.first().and_then(|&order| self.per_query(order)));
        figures.extend(self.means());
        figures.extend(self.leakiest());
        figures.extend(self.composed.iter().filter_map(|composed| composed.figure(self.shown, letters(self.shown))));
        let epsilon: Vec<&EpsilonRow> = self.queries.iter().flat_map(|query| &query.epsilon).collect();
        figures.extend(epsilon_per_query(&epsilon));
        figures
    }

    pub(crate) fn explanation(&self) -> Vec<String> {
        let bounds = self.queries.iter().flat_map(|query| {
            let rdp = query.lower.iter().map(|row| (row.method, row.validity));
            rdp.chain(query.epsilon.iter().map(|row| (row.method, row.validity)))
        });
        let all: Vec<_> = bounds.collect();
        let mut words = meaning::lower_bounds(
            &self.failure,
            all.iter().map(|row| row.1),
            distinct(all.iter().map(|row| row.0)).len(),
        );
        words.push(match self.distribution {
            DistributionKind::Exact => "Exact is the divergence of the output distributions of the fitted model, by numerical integration, with no \
                               sampling. Bounds and exact values hold for the model fitted to the recorded votes, not for the \
                               training that produced them."
                .into(),
            DistributionKind::Series => "Series is the divergence of the output distributions of the fitted model by a series whose remainder is \
                                estimated; it is never called exact. Bounds hold for the model fitted to the recorded votes, \
                                not for the training that produced them."
                .into(),
        });
        words.push(meaning::UPPER.into());
        if self.composed.is_some() {
            words.push(
                "A composed figure is called a bound only where a theorem supports it; an illustrative one compares, \
                 and proves nothing about the whole sequence. An ε converted from a lower Rényi curve is always \
                 illustrative."
                    .into(),
            );
        }
        words.push(meaning::LIMIT.into());
        words
    }

    /// Name and kind of a method, with the guarantee that its rows have.
    pub(crate) fn described(&self, name: &str) -> (String, SeriesKind) {
        let rows = self.queries.iter().flat_map(|query| &query.lower);
        let validity = rows.filter(|row| row.method == name).map(|row| row.validity).next();
        method(name, validity.unwrap_or(Validity::FiniteSample))
    }

    pub(crate) fn distribution_series(&self) -> (String, SeriesKind) {
        let kind = if self.distribution == DistributionKind::Exact { SeriesKind::Exact } else { SeriesKind::Heuristic };
        (self.distribution.column().to_owned(), kind)
    }

    /// The method that certifies most of this order over all queries.
    pub(crate) fn strongest_method(&self, order: f64) -> Option<usize> {
        let methods = self.methods();
        let sum = |index: &usize| -> f64 {
            self.queries.iter().filter_map(|query| self.lower(query, methods[*index], order)).sum()
        };
        let guaranteed = (0..methods.len()).filter(|&index| self.described(methods[index]).1 == SeriesKind::Lower);
        guaranteed.max_by(|a, b| sum(a).total_cmp(&sum(b)))
    }

    /// As figure 3 of Chadha et al. (2024), in Rényi divergences.
    pub(crate) fn per_query(&self, order: f64) -> Option<Drawing> {
        let (methods, uppers) = (self.methods(), self.upper_names());
        let bar = self.strongest_method(order);
        let mut series: Vec<(String, SeriesKind)> = methods.iter().map(|name| self.described(name)).collect();
        series.push(self.distribution_series());
        series.extend(uppers.iter().map(|name| ((*name).to_owned(), SeriesKind::Upper)));
        let row = |query: &VotesQuery| {
            let lower = methods.iter().map(|name| self.lower(query, name, order));
            let exact = self.exact_value(query, order);
            let upper = uppers.iter().map(|name| self.upper(query, name, order));
            let values: Vec<Option<f64>> = lower.chain([Some(exact)]).chain(upper).collect();
            let proven = bar.and_then(|bar| values[bar]);
            let share = proven
                .filter(|_| exact > 0.0 && exact.is_finite())
                .map(|proven| format!("{:.0}%", 100.0 * proven / exact));
            let label = query.label.map_or_else(String::new, |label| format!(" ({label})"));
            let label = format!("{}{label}", query.query);
            Row { label, values, bands: Vec::new(), note: share.unwrap_or_default() }
        };
        let rows: Vec<Row> = self.queries.iter().map(row).collect();
        let figure = Rows {
            title: format!("Rényi divergence {} of order {} per query", letters(self.shown), short(order)),
            description: format!(
                "Per query (with its label) what is proven, what is true of the model and what is promised; at the end the \
                 share of the {} value that {} proves.",
                self.distribution.column(),
                bar.map_or("nothing", |bar| methods[bar])
            ),
            x: axis("nats", rows.iter().flat_map(|row| row.values.iter().flatten().copied())),
            series: series.into_iter().map(|(name, kind)| RowSeries { name, kind }).collect(),
            bar,
            rows,
            sorted_by: Some(methods.len()),
        };
        (!self.queries.is_empty()).then(|| figure.draw())
    }

    /// Bounds, distribution and accountants against the order; `value` reads the queries that the figure is about.
    pub(crate) fn against_order(&self, title: String, queries: &[&VotesQuery]) -> Option<Drawing> {
        if self.orders.len() < 2 || queries.is_empty() {
            return None;
        }
        let mean = |value: &dyn Fn(&VotesQuery, f64) -> f64| {
            let at = |&order: &f64| {
                [order, queries.iter().map(|query| value(query, order)).sum::<f64>() / queries.len() as f64]
            };
            self.orders.iter().map(at).collect::<Vec<_>>()
        };
        let (distribution, kind) = self.distribution_series();
        let mut series = vec![Series::new(distribution, kind, mean(&|query, order| self.exact_value(query, order)))];
        for method in self.methods() {
            let (name, kind) = self.described(method);
            series.push(Series::new(name, kind, mean(&|query, order| self.lower(query, method, order).unwrap_or(0.0))));
        }
        for name in self.upper_names() {
            let points = mean(&|query, order| self.upper(query, name, order).unwrap_or(0.0));
            series.push(Series::new(name, SeriesKind::Upper, points));
        }
        let words = "Lower bounds, the value of the fitted model, and upper bounds.";
        Some(Curves::of_orders(title, words, series).draw())
    }

    pub(crate) fn means(&self) -> Option<Drawing> {
        let queries: Vec<&VotesQuery> = self.queries.iter().collect();
        let title = format!("Rényi divergence {}, mean over {} queries", letters(self.shown), queries.len());
        if queries.len() > 1 { self.against_order(title, &queries) } else { None }
    }

    pub(crate) fn leakiest(&self) -> Option<Drawing> {
        let order = *self.orders.first()?;
        let larger = |a, b| if self.exact_value(b, order) > self.exact_value(a, order) { b } else { a };
        let query = self.queries.iter().reduce(larger)?;
        let which = if self.queries.len() > 1 { ", which leaks most" } else { "" };
        self.against_order(format!("Rényi divergence {}, query {}{which}", letters(self.shown), query.query), &[query])
    }
}
