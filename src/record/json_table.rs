//! Tables of outcomes as JSON: a list of rows, or queries with their columns.

use super::json::Name;
use super::place::Place;
use super::rows::{QueryNames, reject, same_length};
use super::table::Table;
use crate::error::Result;
use std::path::Path;

/// A function `read_json` for tables with these two values of an outcome in a row, which are lists of these names in a
/// query; with descriptions of a row and a query, and of what the outermost object may have instead of queries.
macro_rules! json_table {
    (
        $value:ident as $number:ty, [$first:ident, $second:ident] $row:literal,
        [$firsts:ident, $seconds:ident] $columns:literal, $members:literal
    ) => {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields, expecting = $row)]
        struct Row {
            query: Option<$crate::record::json::Name>,
            outcome: $crate::record::json::Name,
            $first: $value,
            $second: $value,
        }

        /// One query.
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields, expecting = $columns)]
        pub(super) struct Query {
            pub(super) query: Option<$crate::record::json::Name>,
            pub(super) labels: $crate::record::json::Bounded<$crate::record::json::Name>,
            pub(super) $firsts: $crate::record::json::Bounded<$value>,
            pub(super) $seconds: $crate::record::json::Bounded<$value>,
        }

        /// The outermost object; unknown members are ignored, since documents carry a schema, a seed, options.
        #[derive(serde::Deserialize)]
        #[serde(expecting = "an object or an array of objects")]
        struct Document {
            queries: Option<$crate::record::json::Bounded<Query>>,
            query: Option<$crate::record::json::Name>,
            labels: Option<$crate::record::json::Bounded<$crate::record::json::Name>>,
            $firsts: Option<$crate::record::json::Bounded<$value>>,
            $seconds: Option<$crate::record::json::Bounded<$value>>,
        }

        /// Reads either form.
        pub(super) fn read_json(
            file: &std::path::Path,
            text: &str,
        ) -> $crate::Result<$crate::record::table::Table<$number>> {
            use $crate::record::{fault::fault, json::Bounded, json::parse, json_table};
            if text.trim_start().starts_with('[') {
                let Bounded(rows) = parse::<Bounded<Row>>(file, text)?;
                let row = |row: Row| (row.query, row.outcome, [row.$first.0, row.$second.0]);
                return json_table::of_rows(file, rows.into_iter().map(row));
            }
            let queries = match parse::<Document>(file, text)? {
                Document { queries: Some(Bounded(queries)), labels: None, $firsts: None, $seconds: None, .. } => {
                    queries
                }
                Document {
                    queries: None,
                    query,
                    labels: Some(labels),
                    $firsts: Some(first),
                    $seconds: Some(second),
                } => {
                    vec![Query { query, labels, $firsts: first, $seconds: second }]
                }
                _ => return Err(fault(file, "outermost object", "another set of members", $members).into()),
            };
            let numbers = |Bounded(values): Bounded<$value>| values.into_iter().map(|value| value.0).collect();
            let columns = |query: Query| (query.query, query.labels.0, [query.$firsts, query.$seconds].map(numbers));
            let names = [stringify!($firsts), stringify!($seconds)];
            json_table::of_queries(file, names, queries.into_iter().map(columns))
        }
    };
}
pub(super) use json_table;

/// A table of rows.
pub(super) fn of_rows<T: Copy + Default>(
    file: &Path,
    rows: impl Iterator<Item = (Option<Name>, Name, [T; 2])>,
) -> Result<Table<T>> {
    let (mut table, mut names) = (Table::new(), QueryNames::default());
    for (index, (query, Name(outcome), values)) in rows.enumerate() {
        let query = query.map(|Name(query)| query);
        let place = Place { file, name: format!("row {index} (counted from 0)") };
        names.check(&place, query.as_deref())?;
        table.insert(query.as_deref(), &outcome, values).map_err(|misfit| reject(&place, &outcome, misfit))?;
    }
    Ok(table)
}

/// A table of queries with lists of these names.
pub(super) fn of_queries<T: Copy + Default>(
    file: &Path,
    columns: [&str; 2],
    queries: impl Iterator<Item = (Option<Name>, Vec<Name>, [Vec<T>; 2])>,
) -> Result<Table<T>> {
    let (mut table, mut names) = (Table::new(), QueryNames::default());
    for (index, (query, labels, [first, second])) in queries.enumerate() {
        let place = Place { file, name: format!("queries[{index}]") };
        let query = query.map(|Name(query)| query);
        names.check(&place, query.as_deref())?;
        names.once(&place, query.as_deref())?;
        same_length(&place, labels.len(), [(columns[0], first.len()), (columns[1], second.len())])?;
        for (index, (Name(label), (first, second))) in labels.iter().zip(first.into_iter().zip(second)).enumerate() {
            let inserted = table.insert(query.as_deref(), label, [first, second]);
            inserted.map_err(|misfit| reject(&place.member(&format!("labels[{index}]")), label, misfit))?;
        }
    }
    Ok(table)
}
