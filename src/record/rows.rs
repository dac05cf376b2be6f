//! What every table of outcomes asks of its rows: named outcomes, queries on all rows or on none, no row twice.

use super::fault::{hinted, quoted};
use super::lines::{Header, Line, Lines};
use super::place::Place;
use super::table::{Misfit, NAME, Table, is_name};
use crate::audit::OutputWorld;
use crate::error::{InputError, Result};
use std::collections::HashSet;
use std::io::BufRead;

/// A table of a CSV file: each row has an outcome, two values of it that `read` makes of column and field, and perhaps
/// its query.
pub(super) fn csv_table<T: Copy + Default, R: BufRead>(
    header: &Header<'_>,
    lines: &mut Lines<'_, R>,
    [first, second]: [&str; 2],
    read: impl Fn(&Line<'_>, &str, &str) -> Result<T>,
) -> Result<Table<T>> {
    let columns = [
        header.find("query")?,
        Some(header.require("outcome")?),
        Some(header.require(first)?),
        Some(header.require(second)?),
    ];
    let mut table = Table::new();
    lines.each_row(header, columns, |line, [query, outcome, one, other]| {
        let query = named_query(line, columns[0], &query)?;
        check_name(line, "outcome", &outcome)?;
        let values = [read(line, first, &one)?, read(line, second, &other)?];
        Ok(table.insert(query, &outcome, values).map_err(|misfit| reject(&line.at("outcome"), &outcome, misfit))?)
    })?;
    Ok(table)
}

/// The world of a raw output.
pub(super) fn world(line: &Line<'_>, text: &str) -> Result<OutputWorld> {
    match text {
        "s" => Ok(OutputWorld::Dataset),
        "s_prime" => Ok(OutputWorld::Neighbor),
        other => Err(line.at("world").fault(quoted(other), "`s` or `s_prime`").into()),
    }
}

/// The query of a CSV row; if the column exists, every row must name one.
pub(super) fn named_query<'a>(line: &Line<'_>, column: Option<usize>, query: &'a str) -> Result<Option<&'a str>> {
    if column.is_none() {
        return Ok(None);
    }
    check_name(line, "query", query)?;
    Ok(Some(query))
}

/// Checks the name in one column of a CSV row.
pub(super) fn check_name(line: &Line<'_>, column: &str, name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    let error = line.at(column).fault(quoted(name), NAME);
    Err(if name.is_empty() && column != "query" {
        hinted(error, "give an absent answer a name, such as none")
    } else {
        error
    }
    .into())
}

/// The error of an outcome that the table rejects.
pub(super) fn reject(place: &Place<'_>, outcome: &str, misfit: Misfit) -> InputError {
    match misfit {
        Misfit::Duplicate => place.fault(format!("{} a second time", quoted(outcome)), "each outcome once per query"),
        Misfit::Full(limit, what) => {
            let error = place.fault(format!("the new outcome {}", quoted(outcome)), format!("at most {limit} {what}"));
            hinted(error, "count outputs that are numbers in bins, such as `quantile:20` with a pilot fraction of 0.1")
        }
    }
}

/// The queries of the entries of a JSON file so far.
#[derive(Default)]
pub(super) struct QueryNames {
    named: Option<bool>,
    seen: HashSet<Option<String>>,
}

impl QueryNames {
    /// Either every entry of a file names its query or none does.
    pub(super) fn check(&mut self, place: &Place<'_>, query: Option<&str>) -> Result<()> {
        match (self.named.replace(query.is_some()), query) {
            (Some(true), None) => Err(place.fault("no query", "a query as in the entries before").into()),
            (Some(false), Some(query)) => {
                let found = format!("the query {}", quoted(query));
                Err(place.fault(found, "no query as in the entries before").into())
            }
            _ => Ok(()),
        }
    }

    /// An entry that is a whole query must be the only one of its name.
    pub(super) fn once(&mut self, place: &Place<'_>, query: Option<&str>) -> Result<()> {
        if self.seen.insert(query.map(str::to_owned)) {
            return Ok(());
        }
        let found = match query {
            Some(query) => format!("the query {} a second time", quoted(query)),
            None => "a second query without a name".into(),
        };
        Err(place.fault(found, "each query once").into())
    }
}

/// Checks that the columns of one query have an entry for each of its labels, and that there are some.
pub(super) fn same_length(place: &Place<'_>, labels: usize, columns: [(&str, usize); 2]) -> Result<()> {
    if labels == 0 {
        return Err(place.member("labels").fault("no outcome", "at least 1 outcome").into());
    }
    for (name, length) in columns {
        if length != labels {
            let error = place.member(name).fault(format!("length {length}"), format!("{labels}, one per label"));
            return Err(error.into());
        }
    }
    Ok(())
}
