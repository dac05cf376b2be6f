//! Which method was recommended, and how many samples it would take to certify more.

use super::section::{Form, Section, Table};
use super::words::rest;
use crate::study::{ForecastRow, RecommendationRow, short, significant};

/// Rows in text.
const SHOWN: usize = 6;

/// One line for each recommendation.
pub(super) fn recommendation_lines(rows: &[RecommendationRow]) -> impl Iterator<Item = String> {
    let line = |row: &RecommendationRow| {
        let query = if row.query.is_empty() { String::new() } else { format!("query {}: ", row.query) };
        format!("{query}{}: {}", row.method, row.reason)
    };
    rows.iter().take(SHOWN).map(line).chain(rest(rows.len(), SHOWN, "recommendations"))
}

/// The recommendations as a table.
pub(super) fn recommendations(rows: &[RecommendationRow]) -> Section {
    let table = Table::of(rows)
        .when(rows.iter().any(|row| !row.query.is_empty()), |table| table.words("query", |row| &row.query))
        .words("Rényi bounds", |row| row.method)
        .words("ε bounds", |row| row.epsilon_method)
        .words("why", |row| &row.reason);
    Section::new("Why these methods")
        .table(table)
        .notes(["Decided from the guide and the number of samples, before the counts are looked at."])
}

/// What each method would need.
pub(super) fn forecasts(form: Form, rows: &[ForecastRow]) -> Section {
    let shown = if form == Form::Text { rows.len().min(SHOWN) } else { rows.len() };
    let samples =
        |samples: Option<u64>| samples.map_or_else(|| "never".into(), |samples| significant(samples as f64, 2));
    let table = Table::of(&rows[..shown])
        .when(rows.iter().any(|row| !row.query.is_empty()), |table| table.words("query", |row| &row.query))
        .number("D", 3, |row| row.divergence.0)
        .words("method", |row| row.method)
        .exact("half of D", |row| samples(row.samples_half))
        .exact("nine tenths", |row| samples(row.samples_nine_tenths));
    let heading = rows.first().map_or_else(String::new, |first| {
        let (order, direction) = (short(first.order), first.direction);
        format!("Samples per world to certify D, if it is as it looks, at α = {order}, {direction}")
    });
    Section::new("Samples per world that would certify more").heading(heading).table(table).notes(rest(
        rows.len(),
        shown,
        "forecasts",
    ))
}
