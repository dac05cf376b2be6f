//! Counts as JSON, by rows or by columns.

use super::fault::fault;
use super::json::{Bounded, Count, Name, parse};
use super::place::Place;
use super::rows::{QueryNames, reject, same_length};
use super::table::Table;
use crate::error::Result;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `outcome`, `count`, `count_neighbor`")]
struct Row {
    query: Option<Name>,
    outcome: Name,
    count: Count,
    count_neighbor: Count,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `labels`, `counts`, `counts_neighbor`")]
struct Query {
    query: Option<Name>,
    labels: Bounded<Name>,
    counts: Bounded<Count>,
    counts_neighbor: Bounded<Count>,
}

/// The outermost object; unknown members are let through, since documents carry a schema, a seed, options.
#[derive(Deserialize)]
#[serde(expecting = "an object or an array of objects")]
struct Document {
    queries: Option<Bounded<Query>>,
    query: Option<Name>,
    labels: Option<Bounded<Name>>,
    counts: Option<Bounded<Count>>,
    counts_neighbor: Option<Bounded<Count>>,
}

/// Reads either form.
pub(super) fn read(file: &Path, text: &str) -> Result<Table<u64>> {
    let mut table = Table::new();
    if text.trim_start().starts_with('[') {
        let Bounded(rows) = parse::<Bounded<Row>>(file, text)?;
        let mut shape = QueryNames::default();
        for (index, row) in rows.into_iter().enumerate() {
            let query = row.query.map(|Name(query)| query);
            let place = Place { file, name: format!("row {index} (counted from 0)") };
            shape.check(&place, query.as_deref())?;
            let values = [row.count.0, row.count_neighbor.0];
            let inserted = table.insert(query.as_deref(), &row.outcome.0, values);
            inserted.map_err(|misfit| reject(&place, &row.outcome.0, misfit))?;
        }
        return Ok(table);
    }
    let document: Document = parse(file, text)?;
    let queries = match document {
        Document { queries: Some(Bounded(queries)), labels: None, counts: None, counts_neighbor: None, .. } => queries,
        Document {
            queries: None,
            query,
            labels: Some(labels),
            counts: Some(counts),
            counts_neighbor: Some(neighbor),
        } => {
            vec![Query { query, labels, counts, counts_neighbor: neighbor }]
        }
        _ => {
            let error = fault(
                file,
                "outermost object",
                "another set of members",
                "`queries`, or one query's `labels`, `counts` and `counts_neighbor`",
            );
            return Err(error.into());
        }
    };
    let mut shape = QueryNames::default();
    for (index, query) in queries.into_iter().enumerate() {
        let place = Place { file, name: format!("queries[{index}]") };
        let name = query.query.map(|Name(name)| name);
        shape.check(&place, name.as_deref())?;
        shape.once(&place, name.as_deref())?;
        let (labels, counts, neighbor) = (query.labels.0, query.counts.0, query.counts_neighbor.0);
        same_length(&place, labels.len(), [("counts", counts.len()), ("counts_neighbor", neighbor.len())])?;
        for (index, (label, (count, neighbor))) in labels.iter().zip(counts.iter().zip(&neighbor)).enumerate() {
            let inserted = table.insert(name.as_deref(), &label.0, [count.0, neighbor.0]);
            inserted.map_err(|misfit| reject(&place.member(&format!("labels[{index}]")), &label.0, misfit))?;
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        read(Path::new("t.json"), text).err().map_or_else(|| "accepted".into(), |error| error.to_string())
    }

    #[test]
    fn the_form_must_be_one_of_the_known_ones() {
        insta::assert_snapshot!(
            [
                message(r#"{"queries": [], "labels": []}"#),
                message(r#"{"labels": ["a"], "counts": [1]}"#),
                message(r#"{"labels": ["a"], "counts": [1, 2], "counts_neighbor": [1]}"#),
                message(r#"{"labels": [], "counts": [], "counts_neighbor": []}"#),
                message(r#"{"labels": ["a", "a"], "counts": [1, 2], "counts_neighbor": [1, 2]}"#),
                message(r#"{"queries": [{"query": 1, "labels": ["a"], "counts": [1], "counts_neighbor": [1]}, {"labels": ["a"], "counts": [1], "counts_neighbor": [1]}]}"#),
                message(r#"{"queries": [{"query": 1, "labels": ["a"], "counts": [1], "counts_neighbor": [1]}, {"query": "1", "labels": ["b"], "counts": [1], "counts_neighbor": [1]}]}"#),
                message(r#"[{"outcome": "a", "count": 1, "count_neighbor": 1, "weight": 2}]"#),
                message(r#"[{"outcome": "a", "count": 1}]"#),
                message(r#"[{"outcome": "a", "count": 1, "count": 1}]"#),
                message(r#"[{"outcome": "a", "count": 1, "count_neighbor": 1}, {"outcome": "a", "count": 1, "count_neighbor": 1}]"#),
                message(r#"[7]"#),
                message("{}"),
            ]
            .join("\n"),
            @r"
            t.json: outermost object: found another set of members, expected `queries`, or one query's `labels`, `counts` and `counts_neighbor`
            t.json: outermost object: found another set of members, expected `queries`, or one query's `labels`, `counts` and `counts_neighbor`
            t.json: queries[0].counts: found length 2, expected 1, one per label
            t.json: queries[0].labels: found no outcome, expected at least 1 outcome
            t.json: queries[0].labels[1]: found `a` a second time, expected each outcome once per query
            t.json: queries[1]: found no query, expected a query as in the entries before
            t.json: queries[1]: found the query `1` a second time, expected each query once
            t.json: line 1, character 59: found unknown field `weight`, expected one of `query`, `outcome`, `count`, `count_neighbor`
            t.json: line 1, character 29: found an object without it, expected the field `count_neighbor`
            t.json: line 1, character 37: found duplicate field `count`, expected each field once
            t.json: row 1 (counted from 0): found `a` a second time, expected each outcome once per query
            t.json: line 1, character 2: found integer `7`, expected an object with `outcome`, `count`, `count_neighbor`
            t.json: outermost object: found another set of members, expected `queries`, or one query's `labels`, `counts` and `counts_neighbor`
            "
        );
    }
}
