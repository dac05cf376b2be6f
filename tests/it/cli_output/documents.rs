//! JSON and CSV of all commands, and claims.

use super::{CONFUSION, COUNTS, EXACT, PROMPT, VOTES, csv, have, json, stdout};
use crate::desk::Desk;
use crate::json::{number, rows, texts};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Schema, version, options with defaults, seed, warnings, and inputs with name, size and hash.
#[test]
fn documents_say_how_they_were_made() {
    let votes = format!("{VOTES} --seed 3");
    let counts = format!("audit counts {COUNTS}");
    for (arguments, schema, inputs) in [
        (EXACT, "leakbound.exact/1", vec![]),
        (&counts, "leakbound.audit-counts/1", vec![COUNTS]),
        (CONFUSION, "leakbound.audit-confusion/1", vec![]),
        (&votes, "leakbound.audit-votes/1", vec![PROMPT]),
    ] {
        let document = json(arguments);
        assert_eq!(document["schema"], schema);
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["seed"], if schema.contains("votes") { 3 } else { 0 });
        assert_eq!(texts(&document["inputs"], "name"), inputs);
        for input in rows(&document["inputs"]) {
            let path = Path::new(crate::ROOT).join(input["name"].as_str().unwrap());
            assert_eq!(input["size"], fs::metadata(path).unwrap().len());
            let hash = input["sha256"].as_str().unwrap();
            assert!(hash.len() == 64 && hash.chars().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
        }
        let options = &document["options"];
        assert_eq!((&options["format"], &options["quiet"]), (&"json".into(), &false.into()));
        assert_eq!(number(&options["delta"]), 1e-5);
        have(
            std::slice::from_ref(options),
            if schema.contains("exact") { &["orders", "noise"] } else { &["methods", "orders"] },
        );
        for warning in rows(&document["warnings"]) {
            have(std::slice::from_ref(warning), &["code", "message", "hint"]);
        }
        rows(&document["claims"]);
    }
    let options = &json(VOTES)["options"];
    assert_eq!(options["failure_probability"], 0.05);
    assert_eq!(options["direction"], "both");
    assert_eq!(options["methods"], "auto");
    assert_eq!(options["adversary"], "pois-advq");
    assert_eq!(options["samples"], 100_000);
    let warnings = &json(&format!("audit counts {COUNTS} --methods all"))["warnings"];
    assert_eq!(warnings[0]["code"], "fixed-list");
    assert_eq!(warnings[1]["code"], "methods-skipped");
}

#[test]
fn the_documented_members_are_there() {
    let exact = json(EXACT);
    have(rows(&exact["outcomes"]), &["label", "p", "log_p", "q", "log_q"]);
    have(rows(&exact["divergences"]), &["order", "forward", "reverse"]);
    have(rows(&exact["hockey_stick"]), &["epsilon", "delta_forward", "delta_reverse"]);
    have(rows(&exact["accountants"]), &["name", "order", "rdp"]);
    let mut names = texts(&exact["accountants"], "name");
    names.dedup();
    assert_eq!(names, ["gnmax-data-dependent", "gnmax-data-independent", "gnmax-worst-case"]);

    let bound = ["query", "method", "direction", "order", "rdp_lower", "failure_probability", "validity"];
    let epsilon = ["query", "method", "direction", "delta", "epsilon_lower", "failure_probability", "validity"];
    for arguments in [CONFUSION, &format!("audit counts {COUNTS}")] {
        let counts = json(arguments);
        have(rows(&counts["bounds"]), &bound);
        have(rows(&counts["epsilon"]), &epsilon);
    }

    let votes = json(VOTES);
    have(rows(&votes["queries"]), &["query", "label", "lower", "exact", "upper"]);
    for query in rows(&votes["queries"]) {
        have(rows(&query["lower"]), &bound);
        have(rows(&query["epsilon"]), &epsilon);
        have(rows(&query["exact"]), &["order", "forward", "reverse"]);
        have(rows(&query["upper"]), &["name", "order", "rdp"]);
    }
    assert_eq!(votes["composed"]["meaning"], "bound");
    have(rows(&votes["composed"]["curves"]), &["name", "direction", "values", "meaning", "epsilon"]);
    let shared = json(&format!("{VOTES} --composition shared-teachers"));
    assert_eq!(shared["composed"]["meaning"], "illustrative");
    assert_eq!(json(&format!("{VOTES} --composition per-query"))["composed"], Value::Null);
}

#[test]
fn infinity_is_a_word_and_numbers_round_trip() {
    // Fixed votes whose neighbor differs in two classes, and orders beyond any accountant.
    let document = json("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1e-16 --orders 2,1e280");
    // Rounded up, by no more than a few units in the last place.
    let rdp = number(&document["accountants"][0]["rdp"]) / (2.0 / 1e-16 / 1e-16);
    assert!((1.0..=1.0 + 1e-15).contains(&rdp), "{rdp}");
    assert_eq!(document["accountants"][2]["rdp"], "inf");
    let table = csv("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1e-16 --orders 1e280");
    assert!(table.iter().any(|row| row[0] == "gnmax-data-dependent" && row[2] == "inf"));
    for arguments in [EXACT, VOTES, CONFUSION] {
        let text = stdout(&format!("{arguments} --format json"));
        let again = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&text).unwrap()).unwrap() + "\n";
        // The members are sorted when they are read: numbers are compared as a sorted list of texts.
        let numbers = |text: &str| {
            let mut numbers: Vec<String> = text.split([' ', ',', '\n']).map(str::to_owned).collect();
            numbers.sort();
            numbers
        };
        assert_eq!(numbers(&again), numbers(&text));
        assert!(!text.contains("NaN") && !text.contains("-0.0"), "{arguments}");
    }
}

#[test]
fn csv_is_one_table() {
    for arguments in [EXACT, VOTES, CONFUSION, &format!("audit counts {COUNTS}")] {
        let table = csv(arguments);
        assert!(table.len() > 5 && table.iter().all(|row| row.len() == table[0].len()), "{arguments}: {table:?}");
        assert_eq!(table.iter().filter(|row| **row == table[0]).count(), 1, "{arguments}");
        assert!(table[0].iter().all(|name| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')));
    }
}

#[test]
fn all_forms_hold_the_same_values() {
    let value = number(&json(EXACT)["divergences"][0]["forward"]);
    let row = csv(EXACT).into_iter().find(|row| row[0] == "renyi" && row[1] == "2").unwrap();
    assert_eq!(row[2].parse::<f64>().unwrap(), value);
    assert!(stdout(EXACT).contains(&format!("{value:.15}")), "{value}");

    let value = number(&json(CONFUSION)["epsilon"][0]["epsilon_lower"]);
    let row = csv(CONFUSION).into_iter().find(|row| row[1] == "epsilon" && row[3] == "forward").unwrap();
    assert_eq!(row[6].parse::<f64>().unwrap(), value);
    assert!(stdout(CONFUSION).contains(&format!("{value:.5}")), "{value}");

    let value = number(&json(VOTES)["queries"][0]["exact"][0]["forward"]);
    let row = csv(VOTES).into_iter().find(|row| row[0] == "0" && row[1] == "exact").unwrap();
    assert_eq!(row[6].parse::<f64>().unwrap(), value);
    assert!(stdout(VOTES).contains(&format!("{value:.2e}")), "{value}");
}

#[test]
fn claims_decide_the_status() {
    let counts = format!("audit counts {COUNTS}");
    for (arguments, claim, status) in [
        (EXACT, "--claim-epsilon 0.1", 3),
        (EXACT, "--claim-epsilon 5", 0),
        (EXACT, "--claim-rdp 2:0.2", 3),
        (EXACT, "--claim-rdp 2:0.32", 0),
        (EXACT, "--claim-mu 0.1", 3),
        (EXACT, "--claim-mu 2", 0),
        (&counts, "--claim-epsilon 0.1", 3),
        (&counts, "--claim-epsilon 5", 0),
        (&counts, "--claim-rdp 2:0.01", 3),
        (&counts, "--claim-rdp 2:0.5", 0),
        (&counts, "--claim-mu 0.01", 3),
        (&counts, "--claim-mu 5 --claim-rdp 2:5 --claim-rdp 4:5", 0),
        (&counts, "--claim-mu 5 --claim-rdp 2:5 --claim-rdp 4:0.01", 3),
        (CONFUSION, "--claim-epsilon 1", 3),
        (CONFUSION, "--claim-epsilon 2", 0),
        (VOTES, "--claim-epsilon 0.001", 3),
        (VOTES, "--claim-epsilon 1", 0),
        (VOTES, "--claim-rdp 2:1e-5", 3),
        (VOTES, "--claim-mu 0.001", 3),
        (VOTES, "--claim-mu 1", 0),
    ] {
        let claimed = format!("{arguments} {claim}");
        let text = Desk::root().run(&claimed).printed(status);
        assert_eq!(text.contains("REFUTED"), status == 3, "{text}");
        let document = Desk::root().answer(status, &claimed);
        have(rows(&document["claims"]), &["claim", "lower", "query", "refuted", "failure_probability"]);
        assert_eq!(rows(&document["claims"]).iter().any(|claim| claim["refuted"] == true), status == 3);
    }
}
