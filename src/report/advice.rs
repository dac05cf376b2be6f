//! Which method was recommended, and how many samples it would take to certify more.

use super::table::TextTable;
use crate::study::{ForecastRow, RecommendationRow, short, significant};

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
