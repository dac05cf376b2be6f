//! Which method was recommended, and how many samples it would take to certify more.

use super::table::TextTable;
use crate::bound::Direction;
use crate::study::{Number, short, significant};
use serde::Serialize;

/// The methods that `--methods auto` chose for a query.
#[derive(Debug, Clone, Serialize)]
pub struct RecommendationRow {
    /// The query; empty where the file has no queries.
    pub query: String,
    /// The method of the Rényi bounds.
    pub method: &'static str,
    /// The method of the ε bounds.
    pub epsilon_method: &'static str,
    /// Why, in words.
    pub reason: String,
}

/// Samples that a method would need, if the divergence is as estimated.
#[derive(Debug, Clone, Serialize)]
pub struct ForecastRow {
    /// The query; empty where the file has no queries.
    pub query: String,
    /// The method.
    pub method: &'static str,
    /// Which divergence.
    pub direction: Direction,
    /// α.
    pub order: f64,
    /// The estimate of D_α: no bound.
    pub divergence: Number,
    /// Samples per world for half of it; None where no number of samples is enough.
    pub samples_half: Option<u64>,
    /// Samples per world for nine tenths of it.
    pub samples_nine_tenths: Option<u64>,
    /// Samples per world, and which share of the divergence they are expected to certify.
    pub tightness: Vec<[f64; 2]>,
}

/// Rows shown before the rest is left to JSON.
const SHOWN: usize = 6;

fn of_query(query: &str) -> String {
    if query.is_empty() { String::new() } else { format!("query {query}: ") }
}

fn rest(rows: usize, what: &str) -> String {
    if rows > SHOWN { format!("({} more {what} in --format json)\n", rows - SHOWN) } else { String::new() }
}

/// One line for each recommendation.
pub(super) fn recommendations_text(rows: &[RecommendationRow]) -> String {
    let line = |row: &RecommendationRow| format!("{}{}: {}\n", of_query(&row.query), row.method, row.reason);
    rows.iter().take(SHOWN).map(line).collect::<String>() + &rest(rows.len(), "recommendations")
}

/// The recommendations as a table.
pub(super) fn recommendations_table(rows: &[RecommendationRow]) -> TextTable {
    let with_query = rows.iter().any(|row| !row.query.is_empty());
    let header = ["query", "Rényi bounds", "ε bounds", "why"];
    let mut table = TextTable::new(&header[usize::from(!with_query)..], &[0, 1, 2, 3][..3 + usize::from(with_query)]);
    for row in rows {
        let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
        cells.extend([row.method.to_owned(), row.epsilon_method.to_owned(), row.reason.clone()]);
        table.row(cells);
    }
    table
}

/// What each method would need, as a table.
pub(super) fn forecasts_table(rows: &[ForecastRow]) -> TextTable {
    let with_query = rows.iter().any(|row| !row.query.is_empty());
    let mut header = if with_query { vec!["query"] } else { vec![] };
    header.extend(["D", "method", "half of D", "nine tenths"]);
    let mut table = TextTable::new(&header, if with_query { &[0, 2] } else { &[1] });
    let samples =
        |samples: Option<u64>| samples.map_or_else(|| "never".into(), |samples| significant(samples as f64, 2));
    for row in rows {
        let mut cells = if with_query { vec![row.query.clone()] } else { vec![] };
        cells.push(significant(row.divergence.0, 3));
        cells.extend([row.method.to_owned(), samples(row.samples_half), samples(row.samples_nine_tenths)]);
        table.row(cells);
    }
    table
}

/// What each method would need, in words and as a table.
pub(super) fn forecasts_text(rows: &[ForecastRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    format!(
        "\nSamples per world to certify D, if it is as it looks, at α = {}, {}\n{}{}",
        short(first.order),
        first.direction,
        forecasts_table(&rows[..rows.len().min(SHOWN)]).text(),
        rest(rows.len(), "forecasts")
    )
}
