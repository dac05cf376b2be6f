//! What figures of lower bounds share.

use super::figure::{Axis, Drawing, Row, RowSeries, Rows, Scale, SeriesKind};
use super::meaning;
use super::words::distinct;
use crate::bound::Validity;
use crate::study::{EpsilonRow, short};
use std::collections::HashMap;

/// A logarithmic axis if values differ much.
pub(super) fn axis(label: impl Into<String>, values: impl Iterator<Item = f64>) -> Axis {
    let positive: Vec<f64> = values.filter(|value| *value > 0.0 && value.is_finite()).collect();
    let least = positive.iter().copied().fold(f64::INFINITY, f64::min);
    let most = positive.iter().copied().fold(0.0, f64::max);
    Axis { label: label.into(), scale: if most > 30.0 * least { Scale::Log } else { Scale::Linear } }
}

/// Name and kind of a method in a figure: a weaker guarantee is part of its name.
pub(super) fn method(name: &str, validity: Validity) -> (String, SeriesKind) {
    match meaning::kind(validity) {
        SeriesKind::Lower => (name.to_owned(), SeriesKind::Lower),
        kind => (format!("{name} ({validity})"), kind),
    }
}

/// ε bounds, a row for each query: the larger of both directions, which the failure probability of a method covers.
pub(super) fn epsilon_per_query(rows: &[&EpsilonRow]) -> Option<Drawing> {
    let title = format!("Lower bounds on ε at δ = {} per query", short(rows.first()?.delta));
    let rows: Vec<_> =
        rows.iter().map(|row| (row.query.as_str(), row.method, row.validity, row.epsilon_lower.0)).collect();
    Some(query_rows(title, " Of both directions the larger bound is shown.", "ε", &rows))
}

/// Bounds of many queries: query, method, guarantee and value, of several values the largest.
pub(super) fn query_rows(
    title: String,
    more: &str,
    quantity: &str,
    bounds: &[(&str, &'static str, Validity, f64)],
) -> Drawing {
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
        bands: Vec::new(),
        note: String::new(),
    });
    let rows = rows.collect();
    let series = methods.iter().map(|(name, validity)| method(name, *validity));
    let caption = format!("A row for each query, a mark for each method.{more}");
    rows_figure(title, caption, quantity, series, rows)
}

/// The series with a guarantee that certifies most over all rows is a bar.
pub(super) fn rows_figure(
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
    Rows { title, description, x, series, bar, rows, sorted_by: None }.draw()
}
