//! `leakbound self-check audit counts` as its user sees it.

use crate::desk::{Desk, says};
use crate::json::{number, rows};
use serde_json::Value;

/// Stdout of `leakbound self-check audit counts` on the counts of the repository.
fn stdout(words: &str) -> String {
    Desk::root().stdout(&format!("self-check audit counts {words}"))
}

const COUNTS: &str = "validation/data/counts.csv --methods two-cut-corner,clopper-pearson --orders 2,8 --delta 1e-5 \
                      --repetitions 60 --seed 3";

#[test]
fn the_text_has_a_table_for_each_case() {
    let text = stdout(&format!("{COUNTS} --pilot-fraction 0.1"));
    println!("{text}");
    assert!(text.starts_with("Self-check on validation/data/counts.csv ("), "{text}");
    says(&text, &["Null: ", "Known: ", "two-cut-corner", "clopper-pearson", "finite-sample", "kept"]);
    says(&text, &["mean bound/truth"]);
}

#[test]
fn the_json_has_every_figure_and_does_not_depend_on_threads() {
    for sets in ["", "--pilot-fraction 0.1"] {
        let json = |threads: &str| {
            let mut document =
                Desk::root().json(&format!("self-check audit counts {COUNTS} {sets} --threads {threads}"));
            document["options"]["threads"] = Value::Null;
            document
        };
        let document = json("1");
        assert_eq!(document, json("3"));
        assert_eq!(document["schema"], "leakbound.self-check/1");
        assert_eq!((&document["seed"], &document["options"]["repetitions"]), (&3.into(), &60.into()));
        assert_eq!(document["queries"][0]["pilot"].is_null(), sets.is_empty());
        let checks = rows(&document["checks"]);
        assert_eq!(checks.len() % 4, 0);
        for check in checks {
            assert_eq!((&check["repetitions"], &check["failure_probability"]), (&60.into(), &0.05.into()));
            assert_eq!((&check["verdict"], &check["validity"]), (&"kept".into(), &"finite-sample".into()));
            let known = check["case"] == "known";
            let tightness = rows(&check["tightness"]);
            assert_eq!(tightness.len(), if check["method"] == "two-cut-corner" { 4 } else { 2 });
            for row in tightness {
                assert_eq!(number(&row["truth"]) > 0.0, known, "{row}");
                assert_eq!(row["mean_share"].as_f64().is_some_and(|share| (0.0..1.0).contains(&share)), known, "{row}");
            }
        }
    }
}

#[test]
fn the_csv_has_a_row_for_each_bound() {
    let text = stdout(&format!("{COUNTS} --format csv"));
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "query,case,method,validity,failure_probability,repetitions,wrong_audits,accepted_share,verdict,quantity,\
         direction,order,delta,truth,mean_bound,mean_share,wrong"
    );
    assert!(lines.all(|line| line.split(',').count() == 17));
}

#[test]
fn what_it_cannot_do_is_rejected() {
    let rows = r"
        no-such-file.csv => 1: …no-such-file.csv…
        validation/data/counts.csv --repetitions 0 => 2: invalid value '0' for '--repetitions <R>': `0` is not a whole number in [1, 1e9]
        validation/data/counts.csv --repetitions 1e10 => 2: invalid value '1e10' for '--repetitions <R>': `1e10` is not a whole number in [1, 1e9]
        validation/data/counts.csv --claim-epsilon 1 => 2: self-check: it tests the methods and no claims; an audit of counts tests them
    ";
    Desk::root().rejects("self-check audit counts", rows);
}
