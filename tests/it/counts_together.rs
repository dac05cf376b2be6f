//! What `leakbound audit counts` says beside the bounds per query: μ, δ, the trade-off band, a given distribution, and
//! all queries together.

use crate::desk::{Desk, says};
use crate::json::{curve, number, numbers, rows};
use serde_json::Value;
use std::fmt::Write;

const QUERIES: usize = 8;

/// P and Q of a query.
fn distributions(query: usize) -> [[f64; 3]; 2] {
    let x = 0.02 * query as f64;
    [[0.5 + x, 0.3, 0.2 - x], [0.48 + x, 0.31, 0.21 - x]]
}

/// A folder with counts at the frequencies of the distributions, and with the distributions.
fn desk() -> Desk {
    let desk = Desk::new();
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
    desk.file("counts.csv", counts);
    desk.file("distribution.csv", distribution);
    desk
}

fn json(arguments: &str) -> Value {
    desk().json(&format!("audit counts counts.csv {arguments}"))
}

fn values(document: &Value, name: &str, direction: &str) -> Vec<f64> {
    numbers(&curve(document, name, direction)["values"])
}

/// σ of a Gaussian trade-off is not needed: μ and δ of a test are those of its rates, and the bounds are below them.
#[test]
fn further_bounds_are_below_what_the_distributions_allow() {
    let document = json("--distribution distribution.csv --orders 2 --epsilons 0,0.01 --trade-off --failure-per query");
    let bands = rows(&document["trade_off"]);
    assert_eq!(bands.len(), QUERIES);
    let mut positive = 0;
    for (query, row) in bands.iter().enumerate() {
        let [p, q] = distributions(query);
        let delta: f64 = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).sum();
        let at_zero = &row["delta"][0];
        assert_eq!((&at_zero["direction"], &at_zero["epsilon"]), (&"forward".into(), &0.0.into()));
        let found = number(&at_zero["delta_lower"]);
        assert!((0.0..delta).contains(&found), "{found} {delta}");
        positive += i32::from(number(&row["mu_lower"]) > 0.0);
        for point in rows(&row["points"]) {
            let outcomes = rows(&point["outcomes"]);
            for (limits, distribution) in [("p", p), ("q", q)] {
                let inside: f64 =
                    outcomes.iter().map(|label| distribution[label.as_str().unwrap().parse::<usize>().unwrap()]).sum();
                let ends = [0, 1].map(|end| number(&point[limits][end]));
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
            ["lower-sum", "lower-joint", "exact-sum"].map(|name| values(&document, name, direction));
        let orders = numbers(&document["composed"]["orders"]);
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
    let (sum, largest) =
        (values(&document, "lower-sum", "forward"), values(&document, "lower-largest-query", "forward"));
    assert!(sum.iter().zip(&largest).all(|(sum, largest)| largest <= sum));
    assert!(json("--distribution distribution.csv --orders 2")["composed"].is_null());
}

#[test]
fn one_query_has_nothing_to_compose() {
    let desk = desk();
    desk.file("one.csv", "outcome,count,count_neighbor\na,5,6\nb,7,8\n");
    let line = desk.rejected(2, "audit counts one.csv --composition independent");
    assert_eq!(line, "composition: independent needs several queries, in a column `query`; the file has one");
}

/// The page has the curve of the distribution, the composed curves, the band and the forecast.
#[test]
fn the_page_shows_all_of_it() {
    let desk = desk();
    desk.stdout(
        "audit counts counts.csv --distribution distribution.csv --orders 2,8 --composition independent --epsilons 0.01 --report page.html",
    );
    let page = desk.text("page.html");
    says(&page, &["of the given distribution", "All queries together", "Trade-off band"]);
    says(&page, &["Samples per world that would", "Why these"]);
}

/// Text has fewer digits than JSON, rounded to the safe side: a lower bound in it is never above that in the document.
#[test]
fn digits_of_a_lower_bound_are_rounded_down() {
    let desk = desk();
    let command = "audit counts counts.csv --methods all --resamples 200";
    let document = desk.json(command);
    let text = desk.stdout(command);
    let ends = rows(&document["epsilon"]).iter().map(|row| number(&row["epsilon_lower"])).filter(|end| *end > 0.0);
    let digits = |line: &str| line.split_whitespace().filter_map(|word| word.parse::<f64>().ok()).collect::<Vec<_>>();
    let shown: Vec<f64> = text.lines().flat_map(digits).collect();
    let mut found = 0;
    for end in ends {
        let near = shown.iter().filter(|value| (*value / end - 1.0).abs() < 1e-5);
        found += near.filter(|value| **value <= end).count();
        assert!(!shown.iter().any(|value| *value > end && value / end - 1.0 < 1e-5), "{end} is shown as more:\n{text}");
    }
    assert!(found > 10, "{found} of {text}");
}
