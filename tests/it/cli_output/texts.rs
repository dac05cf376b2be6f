//! Results as text, and values in their order.

use super::{CONFUSION, COUNTS, EXACT, FASHION, VOTES, json, stdout};
use crate::desk::Desk;
use crate::json::{curve, number, numbers, rows};

#[test]
fn exact_text() {
    insta::assert_snapshot!(stdout(EXACT));
}

#[test]
fn exact_text_of_the_worst_neighbor() {
    insta::assert_snapshot!(stdout(
        "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10 --epsilons 0.1,1"
    ));
}

#[test]
fn exact_text_with_laplace_noise() {
    insta::assert_snapshot!(stdout(
        "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise laplace:2 --orders 2,10 --epsilons 0.1,1"
    ));
}

#[test]
fn long_histograms_are_shortened_in_text_only() {
    let histogram = (0..10_000).map(|class| (class % 97).to_string()).collect::<Vec<_>>().join(",");
    let arguments = format!("exact --histogram {histogram} --neighbor {histogram} --noise gaussian:20 --orders 2");
    let text = stdout(&arguments);
    assert!(text.lines().all(|line| line.chars().count() < 200), "{}", &text[..500]);
    assert!(text.contains("... (10000 classes)") && text.contains("(9960 more classes in the JSON document)"));
    assert_eq!(rows(&json(&arguments)["outcomes"]).len(), 10_000);
}

#[test]
fn numbers_far_from_1_are_short() {
    let text = stdout("exact --histogram 5,3 --neighbor 4,4 --noise laplace:1e300 --orders 1e250");
    assert!(text.contains("laplace:1e300") && text.contains(" 1e250 "), "{text}");
}

/// The change that is worst at the first order is not the one that is worst at order 10 or at ε.
#[test]
fn claims_are_tested_on_every_neighbor_searched() {
    let worst = "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10";
    let document = json(worst);
    let [forward, reverse] = ["forward", "reverse"].map(|direction| number(&document["divergences"][1][direction]));
    let largest = forward.max(reverse);
    for (value, status) in [(largest * (1.0 - 1e-9), 3), (largest * (1.0 + 1e-9), 0)] {
        Desk::root().run(&format!("{worst} --claim-rdp 10:{value}")).printed(status);
    }
    // A claim at an order that is not among --orders is searched as well.
    Desk::root().run(&format!("{worst} --claim-rdp 64:1.7")).printed(3);
}

#[test]
fn confusion_text() {
    insta::assert_snapshot!(stdout(CONFUSION));
}

#[test]
fn counts_text() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS}")));
}

#[test]
fn counts_text_with_a_pilot() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1 --failure-per query")));
}

#[test]
fn prompt_votes_text() {
    insta::assert_snapshot!(stdout(VOTES));
}

#[test]
fn pate_votes_text() {
    insta::assert_snapshot!(stdout(&format!(
        "audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5 --failure-per query"
    )));
}

#[test]
fn lower_exact_and_upper_values_are_in_order() {
    for arguments in
        [VOTES, &format!("audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5")]
    {
        let document = json(arguments);
        for query in rows(&document["queries"]) {
            for exact in rows(&query["exact"]) {
                let order = &exact["order"];
                let upper = |name: &str| {
                    let row = rows(&query["upper"]).iter().find(|row| row["name"] == name && &row["order"] == order);
                    number(&row.unwrap()["rdp"])
                };
                let (dependent, independent) = (upper("gnmax-data-dependent"), upper("gnmax-data-independent"));
                assert!(number(&exact["forward"]) <= dependent && dependent <= independent, "{query}");
                assert!(number(&exact["reverse"]) <= independent, "{query}");
                // These runs are of fixed seeds: here no bound happens to be wrong.
                for lower in rows(&query["lower"]).iter().filter(|lower| &lower["order"] == order) {
                    let direction = lower["direction"].as_str().unwrap();
                    assert!(number(&lower["rdp_lower"]) <= number(&exact[direction]), "{lower} {exact}");
                }
            }
        }
        let values = |name: &str| numbers(&curve(&document, name, "forward")["values"]);
        let names = ["lower-sum", "exact-sum", "gnmax-data-dependent", "gnmax-data-independent"];
        for pair in names.windows(2) {
            let (below, above) = (values(pair[0]), values(pair[1]));
            assert!(below.iter().zip(&above).all(|(below, above)| below <= above), "{pair:?}");
        }
    }
    let exact = json(EXACT);
    for (divergence, accountant) in rows(&exact["divergences"]).iter().zip(rows(&exact["accountants"])) {
        assert!(number(&divergence["forward"]) <= number(&accountant["rdp"]));
    }
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let counts = |more: &str| {
        let document = json(&format!("{VOTES} {more}"));
        rows(&document["queries"]).iter().map(|query| query["counts"].to_string()).collect::<Vec<_>>()
    };
    let once = counts("--threads 1");
    assert_eq!(once, counts("--threads 2"));
    assert_eq!(once, counts("--seed 0"));
    assert_ne!(once, counts("--seed 1"));
    // A query keeps its samples in other company.
    let alone = json(&VOTES.replace("0,1,2", "2"));
    assert_eq!(alone["queries"][0]["counts"].to_string(), once[2]);
    let pilot = |seed: u64| stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1 --format csv --seed {seed}"));
    assert_eq!(pilot(5), pilot(5));
    assert_ne!(pilot(5), pilot(6));
}
