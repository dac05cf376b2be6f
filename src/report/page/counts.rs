//! The page of `leakbound audit counts` and `leakbound audit confusion`.

use super::{Drawing, Page, meaning};
use crate::bound::{Direction, Validity};
use crate::report::advice::{forecasts_table, recommendations_table};
use crate::report::table::{TextTable, listed};
use crate::report::{Axis, Curves, Envelope, Row, RowSeries, Rows, Scale, Series, SeriesKind};
use crate::study::{BoundRow, CountsAnswer, EpsilonRow, ForecastRow, LawDivergenceRow, short, significant};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Trade-offs of so many queries are on the page; all are in JSON.
const MOST_TRADE_OFFS: usize = 6;
/// A table with more orders than fit a line has a row for each.
const MOST_COLUMNS: usize = 9;

impl CountsAnswer {
    pub(in crate::report) fn as_page(&self, envelope: &Envelope, title: &str) -> Page {
        let mut page = Page::new(envelope, title);
        page.claims.clone_from(&self.claims);
        page.figures = self.figures();
        let with_query = self.with_query();
        let orders = distinct(self.bounds.iter().map(|row| row.order.to_bits())).len();
        let bounds = if orders > MOST_COLUMNS { self.orders_table(with_query) } else { self.bounds_table(with_query) };
        page.table("Rényi divergence in nats, at least", bounds, "");
        page.table("Differential privacy, at least", self.epsilon_table(with_query), "");
        for row in self.trade_off.iter().take(MOST_TRADE_OFFS) {
            page.table("μ and δ, at least", row.bounds(), row.words());
            page.table("Trade-off band", row.band(usize::MAX), row.words());
        }
        if let Some(composed) = &self.composed {
            for direction in self.directions() {
                page.figures.extend(composed.figure(direction, letters(direction)));
            }
            page.table("All queries together", composed.table(&self.directions(), &self.orders()), composed.words());
        }
        page.table(
            "Why these methods",
            recommendations_table(&self.recommendations),
            "Decided from the guide and the number of samples, before the counts are looked at.",
        );
        page.table(
            "Samples per world that would certify more",
            forecasts_table(&self.forecasts),
            "For half and for nine tenths of the divergence D as it is estimated now; an estimate, no bound.",
        );
        page.table(
            "Output sets",
            self.sets_table(with_query),
            "An output set is chosen without looking at the counts that are bounded. Where its direction was declared it \
             costs two tails instead of four.",
        );
        let bounds = self.bounds.iter().map(|row| (row.method, row.validity));
        let epsilon = self.epsilon.iter().map(|row| (row.method, row.validity));
        let all: Vec<_> = bounds.chain(epsilon).collect();
        page.meaning = meaning::lower_bounds(
            &self.failure,
            all.iter().map(|row| row.1),
            distinct(all.iter().map(|row| row.0)).len(),
        );
        page.meaning.push(meaning::LIMIT.into());
        page
    }

    fn queries(&self) -> Vec<&str> {
        let names = self.bounds.iter().map(|row| &row.query).chain(self.epsilon.iter().map(|row| &row.query));
        distinct(names.map(String::as_str))
    }

    /// The query that a figure of one query is about, and why: the one that leaks most by the given law at the first
    /// order, or else the first of the file. Never the one with the largest bound, which chance favors.
    fn shown_query(&self) -> Option<(&str, &'static str)> {
        let first = self.bounds.first()?;
        let of_law = self.law.iter().filter(|row| row.order == first.order);
        let leakiest = of_law.reduce(|a, b| if b.divergence.0 > a.divergence.0 { b } else { a });
        Some(leakiest.map_or((first.query.as_str(), "the first of the file"), |row| {
            (row.query.as_str(), "which leaks most by the given law")
        }))
    }

    fn figures(&self) -> Vec<Drawing> {
        let mut figures = Vec::new();
        let several = self.queries().len() > 1;
        let shown = self.shown_query();
        for direction in Direction::BOTH {
            let rows: Vec<&BoundRow> = self.bounds.iter().filter(|row| row.direction == direction).collect();
            if several {
                figures.extend(per_query(&rows, direction));
            }
            let one = shown.map(|(query, _)| query);
            let rows: Vec<&BoundRow> = rows.into_iter().filter(|row| Some(row.query.as_str()) == one).collect();
            let of = shown.filter(|_| several).map(|(query, why)| format!(", query {query}, {why}"));
            figures.extend(per_order(&rows, &self.law, direction, &of.unwrap_or_default()));
        }
        figures.extend(if several {
            epsilon_per_query(&self.epsilon.iter().collect::<Vec<_>>())
        } else {
            epsilon_per_method(&self.epsilon)
        });
        figures.extend(tightness(&self.forecasts));
        figures
    }

    /// A row for each order and direction, a column for each method.
    fn orders_table(&self, with_query: bool) -> TextTable {
        let methods = distinct(self.bounds.iter().map(|row| (row.method, row.validity)));
        let names: Vec<String> = methods.iter().map(|(name, validity)| method(name, *validity).0).collect();
        let mut header = if with_query { vec!["query"] } else { vec![] };
        header.extend(["direction", "order α"]);
        let first = header.len();
        header.extend(names.iter().map(String::as_str));
        let mut table = TextTable::new(&header, if with_query { &[0, 1] } else { &[0] });
        let mut places = HashMap::new();
        for row in &self.bounds {
            let index = *places.entry((row.query.as_str(), row.direction, row.order.to_bits())).or_insert_with(|| {
                let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
                cells.extend([row.direction.to_string(), short(row.order)]);
                cells.resize(header.len(), String::new());
                table.row(cells);
                table.rows.len() - 1
            });
            if let Some(column) = methods.iter().position(|known| *known == (row.method, row.validity)) {
                table.rows[index][first + column] = significant(row.rdp_lower.0, 5);
            }
        }
        table
    }

    fn sets_table(&self, with_query: bool) -> TextTable {
        let header: &[&str] = &["query", "outcomes", "chosen from", "tails"];
        let mut table = TextTable::new(if with_query { header } else { &header[1..] }, &[0, 1, 2]);
        for set in &self.output_sets {
            let tails = if set.directed { "two" } else { "four" };
            let mut cells = if with_query { vec![set.query.clone()] } else { vec![] };
            cells.extend([listed(&set.outcomes), set.source.clone(), tails.into()]);
            table.row(cells);
        }
        table
    }
}

/// The share of the divergence against the samples, for the first query.
fn tightness(forecasts: &[ForecastRow]) -> Option<Drawing> {
    let first = forecasts.first()?;
    let rows = forecasts.iter().filter(|row| row.query == first.query);
    let series = rows.map(|row| Series::new(row.method, SeriesKind::Lower, row.tightness.clone()));
    let of = if first.query.is_empty() { String::new() } else { format!(", query {}", first.query) };
    let figure = Curves {
        title: format!(
            "Tightness against samples: share of {} of order {}{of}",
            letters(first.direction),
            short(first.order)
        ),
        description: "Which share of the divergence each method is expected to certify, if it is as it looks now."
            .into(),
        x: Axis::log("samples per world"),
        y: Axis { label: "share certified".into(), scale: Scale::Linear },
        series: series.collect(),
    };
    Some(figure.draw())
}

/// Each value once, in the order of first appearance.
pub(super) fn distinct<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(*value)).collect()
}

/// A logarithmic axis where values differ much.
pub(super) fn axis(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Axis {
    let positive: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
    let least = positive.iter().copied().fold(f64::INFINITY, f64::min);
    let most = positive.iter().copied().fold(0.0, f64::max);
    Axis { label: label.into(), scale: if most > 30.0 * least { Scale::Log } else { Scale::Linear } }
}

/// The divergence in letters, P that of the dataset.
pub(super) const fn letters(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "D(P‖Q)",
        Direction::Reverse => "D(Q‖P)",
    }
}

/// Name and kind of a method in a figure: a weaker guarantee is part of its name.
pub(super) fn method(name: &str, validity: Validity) -> (String, SeriesKind) {
    match meaning::kind(validity) {
        SeriesKind::Lower => (name.to_owned(), SeriesKind::Lower),
        kind => (format!("{name} ({validity})"), kind),
    }
}

/// The bounds of one query and direction against the order.
fn per_order(rows: &[&BoundRow], law: &[LawDivergenceRow], direction: Direction, of: &str) -> Option<Drawing> {
    let title = format!("Lower bounds on the Rényi divergence {}{of}", letters(direction));
    if distinct(rows.iter().map(|row| row.order.to_bits())).len() < 2 {
        let title = format!("{title}, order {}", short(rows.first()?.order));
        let rows = rows.iter().map(|row| (row.method.to_owned(), row.validity, row.rdp_lower.0));
        return Some(per_method(title, "nats", rows));
    }
    let series = distinct(rows.iter().map(|row| (row.method, row.validity))).into_iter().map(|(name, validity)| {
        let points = rows.iter().filter(|row| row.method == name && row.validity == validity);
        let (label, kind) = method(name, validity);
        Series::new(label, kind, points.map(|row| [row.order, row.rdp_lower.0]).collect())
    });
    let query = rows.first().map(|row| row.query.as_str());
    let law = law.iter().filter(|row| Some(row.query.as_str()) == query && row.direction == direction);
    let exact: Vec<_> = law.map(|row| [row.order, row.divergence.0]).collect();
    let exact = (!exact.is_empty()).then(|| Series::new("of the given law", SeriesKind::Exact, exact));
    let figure = Curves {
        title,
        description:
            "The leakage is above every line with a guarantee, at all orders of a line together, except with the \
                      line's failure probability."
                .into(),
        x: Axis::log("order α"),
        y: Axis::log("Rényi divergence in nats"),
        series: exact.into_iter().chain(series).collect(),
    };
    Some(figure.draw())
}

/// The bounds of the first order, a row for each query.
fn per_query(rows: &[&BoundRow], direction: Direction) -> Option<Drawing> {
    let order = rows.first()?.order;
    let title =
        format!("Lower bounds on the Rényi divergence {} of order {} per query", letters(direction), short(order));
    let rows = rows.iter().filter(|row| row.order == order);
    let rows: Vec<_> = rows.map(|row| (row.query.as_str(), row.method, row.validity, row.rdp_lower.0)).collect();
    Some(query_rows(title, "", "nats", &rows))
}

/// ε bounds of one query, a row for each method and direction.
fn epsilon_per_method(rows: &[EpsilonRow]) -> Option<Drawing> {
    let title = format!("Lower bounds on ε at δ = {}", short(rows.first()?.delta));
    let rows = rows.iter().map(|row| (format!("{} {}", row.method, row.direction), row.validity, row.epsilon_lower.0));
    Some(per_method(title, "ε", rows))
}

/// ε bounds, a row for each query: the larger of both directions, which the failure probability of a method covers.
pub(super) fn epsilon_per_query(rows: &[&EpsilonRow]) -> Option<Drawing> {
    let title = format!("Lower bounds on ε at δ = {} per query", short(rows.first()?.delta));
    let rows: Vec<_> =
        rows.iter().map(|row| (row.query.as_str(), row.method, row.validity, row.epsilon_lower.0)).collect();
    Some(query_rows(title, " Of both directions the larger bound is shown.", "ε", &rows))
}

/// Named bounds, marked by what they guarantee.
fn per_method(title: String, quantity: &str, bounds: impl Iterator<Item = (String, Validity, f64)> + Clone) -> Drawing {
    let validities = distinct(bounds.clone().map(|bound| bound.1));
    let rows = bounds.map(|(label, validity, value)| Row {
        label,
        values: validities.iter().map(|known| (*known == validity).then_some(value)).collect(),
        note: significant(value, 4),
    });
    let series = validities.iter().map(|&validity| (validity.name().to_owned(), meaning::kind(validity)));
    rows_figure(title, "Each bound is marked by what it guarantees.".into(), quantity, series, rows.collect())
}

/// Bounds of many queries: query, method, guarantee and value, of several values the largest.
fn query_rows(title: String, more: &str, quantity: &str, bounds: &[(&str, &'static str, Validity, f64)]) -> Drawing {
    let methods = distinct(bounds.iter().map(|bound| (bound.1, bound.2)));
    let mut values: HashMap<&str, Vec<Option<f64>>> = HashMap::new();
    for &(query, method, validity, value) in bounds {
        let cells = values.entry(query).or_insert_with(|| vec![None; methods.len()]);
        if let Some(place) = methods.iter().position(|known| *known == (method, validity)) {
            cells[place] = Some(cells[place].map_or(value, |cell| cell.max(value)));
        }
    }
    let queries = distinct(bounds.iter().map(|bound| bound.0)).into_iter();
    let rows = queries.map(|query| Row {
        label: query.to_owned(),
        values: values.remove(query).unwrap_or_default(),
        note: String::new(),
    });
    let rows = rows.collect();
    let series = methods.iter().map(|(name, validity)| method(name, *validity));
    let caption = format!("A row for each query, a mark for each method.{more}");
    rows_figure(title, caption, quantity, series, rows)
}

/// The series with a guarantee that certifies most over all rows is a bar.
fn rows_figure(
    title: String,
    description: String,
    quantity: &str,
    series: impl Iterator<Item = (String, SeriesKind)>,
    rows: Vec<Row>,
) -> Drawing {
    let series: Vec<RowSeries> = series.map(|(name, kind)| RowSeries { name, kind }).collect();
    let sum = |index: &usize| rows.iter().filter_map(|row| row.values[*index]).sum::<f64>();
    let guaranteed = (0..series.len()).filter(|&index| series[index].kind == SeriesKind::Lower);
    let bar = guaranteed.max_by(|a, b| sum(a).total_cmp(&sum(b)));
    let x = axis(quantity, rows.iter().flat_map(|row| row.values.iter().flatten().copied()));
    // In the order of the file: of many rows none is chosen by its bound.
    Rows { title, description, x, series, bar, rows, sorted_by: None }.draw()
}
