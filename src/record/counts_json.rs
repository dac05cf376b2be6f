//! Counts as JSON, by rows or by columns.

use super::json::Count;
use super::json_table::json_table;

json_table!(
    Count as u64,
    [count, count_neighbor] "an object with `outcome`, `count`, `count_neighbor`",
    [counts, counts_neighbor] "an object with `labels`, `counts`, `counts_neighbor`",
    "`queries`, or one query's `labels`, `counts` and `counts_neighbor`"
);

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn message(text: &str) -> String {
        read_json(Path::new("t.json"), text).err().map_or_else(|| "accepted".into(), |error| error.to_string())
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
