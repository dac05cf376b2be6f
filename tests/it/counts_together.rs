//! What `leakbound audit counts` says beside the bounds per query: μ, δ, the trade-off band, a given distribution, and
//! all queries together.

use assert_cmd::Command;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const QUERIES: usize = 8;

/// P and Q of a query.
fn distributions(query: usize) -> [[f64; 3]; 2] {
    let x = 0.02 * query as f64;
    [[0.5 + x, 0.3, 0.2 - x], [0.48 + x, 0.31, 0.21 - x]]
}

/// A folder with counts at the frequencies of the distributions, and with the distributions.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let (mut counts, mut distribution) =
        ("query,outcome,count,count_neighbor\n".to_owned(), "query,outcome,p,q\n".to_owned());
    for query in 0..QUERIES {
        let [p, q] = distributions(query);
        for outcome in 0..3 {
            let [x, y] = [p, q].map(|distribution| (20_000.0 * distribution[outcome]).round());
            writeln!(counts, "q{query},{outcome},{x},{y}").unwrap();
            writeln!(distribution, "q{query},{outcome},{},{}", p[outcome], q[outcome]).unwrap();
        }
    }
    fs::write(folder.path().join("counts.csv"), counts).unwrap();
    fs::write(folder.path().join("distribution.csv"), distribution).unwrap();
    folder
}

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leakbound"));
    command.current_dir(folder).env_remove("NO_COLOR").args(arguments.split_whitespace());
    command.output().unwrap()
}

fn json(arguments: &str) -> Value {
    let output = run(folder().path(), &format!("audit counts counts.csv --format json {arguments}"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn curve(document: &Value, name: &str, direction: &str) -> Vec<f64> {
    let curves = document["composed"]["curves"].as_array().unwrap();
    let found = curves.iter().find(|curve| curve["name"] == name && curve["direction"] == direction);
    let found = found.unwrap_or_else(|| panic!("no {name}"));
    found["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

/// σ of a Gaussian trade-off is not needed: μ and δ of a test are those of its rates, and the bounds are below them.
#[test]
fn further_bounds_are_below_what_the_distributions_allow() {
    let document = json("--distribution distribution.csv --orders 2 --epsilons 0,0.01 --trade-off --failure-per query");
    let rows = document["trade_off"].as_array().unwrap();
    assert_eq!(rows.len(), QUERIES);
    let mut positive = 0;
    for (query, row) in rows.iter().enumerate() {
        let [p, q] = distributions(query);
        let delta: f64 = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).sum();
        let at_zero = &row["delta"][0];
        assert_eq!((&at_zero["direction"], &at_zero["epsilon"]), (&"forward".into(), &0.0.into()));
        let found = at_zero["delta_lower"].as_f64().unwrap();
        assert!((0.0..delta).contains(&found), "{found} {delta}");
        positive += i32::from(row["mu_lower"].as_f64().unwrap() > 0.0);
        for point in row["points"].as_array().unwrap() {
            let outcomes = point["outcomes"].as_array().unwrap();
            for (limits, distribution) in [("p", p), ("q", q)] {
                let inside: f64 =
                    outcomes.iter().map(|label| distribution[label.as_str().unwrap().parse::<usize>().unwrap()]).sum();
                let ends = [0, 1].map(|end| point[limits][end].as_f64().unwrap());
                assert!(ends[0] < inside && inside < ends[1], "{ends:?} {inside}");
            }
        }
    }
    assert!(positive >= 5, "μ of {positive} queries");
}

/// Independent queries add: the joint bound is above the sum of single ones and below the sum of the divergences.
#[test]
fn independent_queries_are_bounded_together() {
    let document = json("--distribution distribution.csv --orders 2,8 --composition independent");
    for direction in ["forward", "reverse"] {
        let [sum, joint, exact] =
            ["lower-sum", "lower-joint", "exact-sum"].map(|name| curve(&document, name, direction));
        let orders: Vec<f64> =
            document["composed"]["orders"].as_array().unwrap().iter().map(|order| order.as_f64().unwrap()).collect();
        for a in [2.0, 8.0] {
            let at = orders.iter().position(|order| *order == a).unwrap();
            assert!(sum[at] > 0.0 && joint[at] > 2.0 * sum[at] && joint[at] < exact[at], "{a} {direction}");
        }
    }
    assert_eq!(document["composed"]["meaning"], "bound");
}

/// Dependent queries do not: their sum only illustrates, the largest query is a bound.
#[test]
fn dependent_queries_are_bounded_by_the_largest() {
    let document = json("--distribution distribution.csv --orders 2 --composition shared-teachers");
    assert_eq!(document["composed"]["meaning"], "illustrative");
    let (sum, largest) = (curve(&document, "lower-sum", "forward"), curve(&document, "lower-largest-query", "forward"));
    assert!(sum.iter().zip(&largest).all(|(sum, largest)| largest <= sum));
    assert!(json("--distribution distribution.csv --orders 2")["composed"].is_null());
}

#[test]
fn one_query_has_nothing_to_compose() {
    let folder = folder();
    fs::write(folder.path().join("one.csv"), "outcome,count,count_neighbor\na,5,6\nb,7,8\n").unwrap();
    let output = run(folder.path(), "audit counts one.csv --composition independent");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: composition: independent needs several queries, in a column `query`; the file has one\n"
    );
}

/// The page has the curve of the distribution, the composed curves, the band and the forecast.
#[test]
fn the_page_shows_all_of_it() {
    let folder = folder();
    let output = run(
        folder.path(),
        "audit counts counts.csv --distribution distribution.csv --orders 2,8 --composition independent --epsilons 0.01 --report page.html",
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for words in [
        "of the given distribution",
        "All queries together",
        "Trade-off band",
        "Samples per world that would",
        "Why these",
    ] {
        assert!(page.contains(words), "{words}");
    }
}
