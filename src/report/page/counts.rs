//! The page of `leakbound audit counts` and `leakbound audit confusion`.

use super::{Drawing, Page, meaning};
use crate::bound::Direction;
use crate::report::table::TextTable;
use crate::report::{
    Axis, BoundRow, CountsDocument, Curves, EpsilonRow, Row, RowSeries, Rows, Scale, Series, SeriesKind, short,
    significant,
};

/// A table with more orders than fit a line has a row for each.
const MOST_COLUMNS: usize = 9;

impl CountsDocument {
    pub(in crate::report) fn as_page(&self) -> Page {
        let mut page = Page::new(&self.envelope, &self.title);
        page.claims.clone_from(&self.claims);
        page.figures = self.figures();
        let with_query = self.with_query();
        let orders = distinct(self.bounds.iter().map(|row| row.order.to_bits())).len();
        let bounds = if orders > MOST_COLUMNS { self.orders_table(with_query) } else { self.bounds_table(with_query) };
        page.table("Rényi divergence in nats, at least", bounds, "");
        page.table("Differential privacy, at least", self.epsilon_table(with_query), "");
        page.table(
            "Output sets",
            self.sets_table(with_query),
            "An output set is chosen without looking at the counts that are bounded. Where its direction was declared it \
             costs two tails instead of four.",
        );
        let bounds = self.bounds.iter().map(|row| (row.method, row.validity, row.failure_probability));
        let epsilon = self.epsilon.iter().map(|row| (row.method, row.validity, row.failure_probability));
        let all: Vec<_> = bounds.chain(epsilon).collect();
        page.meaning = meaning::lower_bounds(
            all.iter().map(|row| row.2).reduce(f64::max),
            all.iter().map(|row| row.1),
            distinct(all.iter().map(|row| row.0)).len(),
            self.queries().len(),
        );
        page.meaning.push(meaning::LIMIT.into());
        page
    }

    fn queries(&self) -> Vec<&str> {
        let names = self.bounds.iter().map(|row| &row.query).chain(self.epsilon.iter().map(|row| &row.query));
        distinct(names.map(String::as_str))
    }

    fn figures(&self) -> Vec<Drawing> {
        let mut figures = Vec::new();
        let several = self.queries().len() > 1;
        let largest = self.bounds.iter().reduce(|a, b| if b.rdp_lower.0 > a.rdp_lower.0 { b } else { a });
        for direction in Direction::BOTH {
            let rows: Vec<&BoundRow> = self.bounds.iter().filter(|row| row.direction == direction).collect();
            if several {
                figures.extend(per_query(&rows, direction));
            }
            let one = largest.map(|largest| largest.query.as_str());
            let rows: Vec<&BoundRow> = rows.into_iter().filter(|row| Some(row.query.as_str()) == one).collect();
            let of = one.filter(|_| several).map(|query| format!(", query {query}, which has the largest bound"));
            figures.extend(per_order(&rows, direction, &of.unwrap_or_default()));
        }
        figures.extend(if several {
            epsilon_per_query(&self.epsilon.iter().collect::<Vec<_>>())
        } else {
            epsilon_per_method(&self.epsilon)
        });
        figures
    }

    /// A row for each order, a column for each method and direction.
    fn orders_table(&self, with_query: bool) -> TextTable {
        let columns = distinct(self.bounds.iter().map(|row| (row.method, row.direction)));
        let names: Vec<String> = columns.iter().map(|(method, direction)| format!("{method} {direction}")).collect();
        let mut header = if with_query { vec!["query"] } else { vec![] };
        header.push("order α");
        header.extend(names.iter().map(String::as_str));
        let mut table = TextTable::new(&header, if with_query { &[0] } else { &[] });
        let mut places = std::collections::HashMap::new();
        for row in &self.bounds {
            let index = *places.entry((row.query.as_str(), row.order.to_bits())).or_insert_with(|| {
                let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
                cells.push(short(row.order));
                cells.resize(header.len(), String::new());
                table.row(cells);
                table.rows.len() - 1
            });
            if let Some(column) = columns.iter().position(|column| *column == (row.method, row.direction)) {
                table.rows[index][usize::from(with_query) + 1 + column] = significant(row.rdp_lower.0, 5);
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
            cells.extend([set.outcomes.join(", "), set.source.clone(), tails.into()]);
            table.row(cells);
        }
        table
    }
}

/// Each value once, in the order of first appearance.
pub(super) fn distinct<T: Copy + Eq + std::hash::Hash>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = std::collections::HashSet::new();
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
pub(super) fn method(name: &str, validity: crate::bound::Validity) -> (String, SeriesKind) {
    match meaning::kind(validity) {
        SeriesKind::Lower => (name.to_owned(), SeriesKind::Lower),
        kind => (format!("{name} ({validity})"), kind),
    }
}

/// The bounds of one query and direction against the order.
fn per_order(rows: &[&BoundRow], direction: Direction, of: &str) -> Option<Drawing> {
    let title = format!("Rényi divergence {}, at least{of}", letters(direction));
    let description = "Lower bounds of every method.".to_owned();
    if distinct(rows.iter().map(|row| row.order.to_bits())).len() < 2 {
        let (first, series) = (rows.first()?, series_by_validity(rows.iter().map(|row| row.validity)));
        let figure = Rows {
            title: format!("{title}, order {}", short(first.order)),
            description,
            x: axis("nats", rows.iter().map(|row| row.rdp_lower.0)),
            rows: rows
                .iter()
                .map(|row| Row {
                    label: row.method.to_owned(),
                    values: series.iter().map(|s| (s.name == row.validity.name()).then_some(row.rdp_lower.0)).collect(),
                    note: significant(row.rdp_lower.0, 4),
                })
                .collect(),
            series,
            largest_first: false,
        };
        return Some(figure.draw());
    }
    let series = distinct(rows.iter().map(|row| (row.method, row.validity))).into_iter().map(|(name, validity)| {
        let points = rows.iter().filter(|row| row.method == name && row.validity == validity);
        let (label, kind) = method(name, validity);
        Series::new(label, kind, points.map(|row| [row.order, row.rdp_lower.0]).collect())
    });
    let figure = Curves {
        title,
        description,
        x: Axis::log("order α"),
        y: Axis::log("Rényi divergence in nats"),
        series: series.collect(),
    };
    Some(figure.draw())
}

/// The bounds of the first order, a row for each query.
fn per_query(rows: &[&BoundRow], direction: Direction) -> Option<Drawing> {
    let order = rows.first()?.order;
    let rows: Vec<&&BoundRow> = rows.iter().filter(|row| row.order == order).collect();
    let methods = distinct(rows.iter().map(|row| (row.method, row.validity)));
    let mut values: std::collections::HashMap<&str, Vec<Option<f64>>> = std::collections::HashMap::new();
    for row in &rows {
        let cells = values.entry(&row.query).or_insert_with(|| vec![None; methods.len()]);
        if let Some(place) = methods.iter().position(|known| *known == (row.method, row.validity)) {
            cells[place] = Some(row.rdp_lower.0);
        }
    }
    let queries = distinct(rows.iter().map(|row| row.query.as_str())).into_iter();
    let figure = Rows {
        title: format!("Rényi divergence {} of order {} per query, at least", letters(direction), short(order)),
        description: "Lower bounds of every method.".into(),
        x: axis("nats", rows.iter().map(|row| row.rdp_lower.0)),
        series: methods
            .iter()
            .map(|(name, validity)| {
                let (name, kind) = method(name, *validity);
                RowSeries { name, kind }
            })
            .collect(),
        rows: queries
            .map(|query| Row {
                label: query.to_owned(),
                values: values.remove(query).unwrap_or_default(),
                note: String::new(),
            })
            .collect(),
        largest_first: true,
    };
    Some(figure.draw())
}

fn series_by_validity(validities: impl Iterator<Item = crate::bound::Validity>) -> Vec<RowSeries> {
    let distinct = distinct(validities).into_iter();
    distinct.map(|validity| RowSeries { name: validity.name().into(), kind: meaning::kind(validity) }).collect()
}

/// ε bounds of one query, a row for each method and direction.
fn epsilon_per_method(rows: &[EpsilonRow]) -> Option<Drawing> {
    let delta = rows.first()?.delta;
    let series = series_by_validity(rows.iter().map(|row| row.validity));
    let figure = Rows {
        title: format!("Differential privacy: ε at δ = {}, at least", short(delta)),
        description: "Lower bounds of every method, marked by what they guarantee.".into(),
        x: axis("ε", rows.iter().map(|row| row.epsilon_lower.0)),
        rows: rows
            .iter()
            .map(|row| Row {
                label: format!("{} {}", row.method, row.direction),
                values: series.iter().map(|s| (s.name == row.validity.name()).then_some(row.epsilon_lower.0)).collect(),
                note: significant(row.epsilon_lower.0, 4),
            })
            .collect(),
        series,
        largest_first: false,
    };
    Some(figure.draw())
}

/// ε bounds, a row for each query: the larger of both directions, which the failure probability of a method covers.
pub(super) fn epsilon_per_query(rows: &[&EpsilonRow]) -> Option<Drawing> {
    let delta = rows.first()?.delta;
    let methods = distinct(rows.iter().map(|row| (row.method, row.validity)));
    let mut values: std::collections::HashMap<&str, Vec<Option<f64>>> = std::collections::HashMap::new();
    for row in rows {
        let cells = values.entry(&row.query).or_insert_with(|| vec![None; methods.len()]);
        if let Some(place) = methods.iter().position(|known| *known == (row.method, row.validity)) {
            cells[place] = Some(cells[place].unwrap_or(0.0).max(row.epsilon_lower.0));
        }
    }
    let queries = distinct(rows.iter().map(|row| row.query.as_str())).into_iter();
    let figure = Rows {
        title: format!("Differential privacy: ε at δ = {} per query, at least", short(delta)),
        description: "Lower bounds of every method, the larger of both directions.".into(),
        x: axis("ε", rows.iter().map(|row| row.epsilon_lower.0)),
        series: methods
            .iter()
            .map(|(name, validity)| {
                let (name, kind) = method(name, *validity);
                RowSeries { name, kind }
            })
            .collect(),
        rows: queries
            .map(|query| {
                let values = values.remove(query).unwrap_or_default();
                let best = values.iter().flatten().copied().fold(0.0, f64::max);
                Row { label: query.to_owned(), note: significant(best, 3), values }
            })
            .collect(),
        largest_first: true,
    };
    Some(figure.draw())
}
