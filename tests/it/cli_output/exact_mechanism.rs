//! `exact --mechanism`: exact values of every mechanism of the registry.

use super::{csv, json, stdout};
use crate::desk::Desk;
use crate::json::{number, reference, rows};
use leakbound::bound::Direction;
use leakbound::divergence::gdp_epsilon;
use leakbound::histogram::{Changes, VoteChange, VoteHistogram};
use leakbound::mechanism::{Bins, RELEASES, parse};
use leakbound::quantity::{Delta, Epsilon, Order};
use leakbound::special::{ndtr, ndtri};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const PAIR: &str = "--histogram 3,1,4,1,5 --neighbor 3,1,4,2,4";

fn list(value: &Value) -> String {
    rows(value).iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// A value of the table, which holds texts of 40 digits.
fn digits(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn near(found: &Value, truth: f64, what: &str) {
    let found = number(found);
    assert!((found - truth).abs() <= 1e-12 * truth.abs() + 1e-16, "{what}: {found} {truth}");
}

#[test]
fn selections_have_the_values_of_the_table() {
    for entry in reference::<Vec<Value>>("selection.json") {
        let (inputs, expected) = (&entry["inputs"], &entry["expected"]);
        let what = format!("{}:sigma={}", entry["kind"].as_str().unwrap(), inputs["scale"]);
        let words = format!(
            "exact --mechanism {what} --histogram {} --neighbor {} --orders 1.5,2,8,32 --epsilons 0.1,0.5,1",
            list(&inputs["histogram"]),
            list(&inputs["neighbor"])
        );
        let document = json(&words);
        assert_eq!((&document["mechanism"], &document["binned"]), (&what.into(), &false.into()));
        for (found, truth) in rows(&document["outcomes"]).iter().zip(rows(&expected["p"])) {
            near(&found["p"], digits(truth), &words);
        }
        for (found, truth) in rows(&document["divergences"]).iter().zip(rows(&expected["divergences"])) {
            near(&found["forward"], digits(&truth["forward"]), &words);
            near(&found["reverse"], digits(&truth["reverse"]), &words);
        }
        for (found, truth) in rows(&document["hockey_stick"]).iter().zip(rows(&expected["hockey_stick"])) {
            near(&found["delta_forward"], digits(&truth["forward"]), &words);
            near(&found["delta_reverse"], digits(&truth["reverse"]), &words);
        }
    }
}

#[test]
fn text_of_a_mechanism() {
    insta::assert_snapshot!(stdout(&format!(
        "exact --mechanism exponential:sigma=2 {PAIR} --orders 2,8 --deltas 1e-3,0.1"
    )));
}

#[test]
fn text_of_a_number_with_noise() {
    insta::assert_snapshot!(stdout(
        "exact --mechanism subsampled-gaussian:sigma=2,rate=0.01 --orders 2,8 --deltas 1e-5"
    ));
}

/// A theorem is beside the values only where it holds: of these neighbors one differs by one moved vote, one by two, one
/// by an added vote.
#[test]
fn theorems_are_about_neighbors_of_the_mechanism() {
    let accountants = |words: &str| rows(&json(&format!("exact --mechanism {words} --orders 2"))["accountants"]).len();
    for kind in ["exponential:sigma=2", "permute-and-flip:sigma=2"] {
        assert_eq!(accountants(&format!("{kind} {PAIR}")), 2);
        assert_eq!(accountants(&format!("{kind} --histogram 3,1 --neighbor 3,1")), 2);
        assert_eq!(accountants(&format!("{kind} --histogram 3,1,4,1,5 --neighbor 4,0,4,2,4")), 0);
        assert_eq!(accountants(&format!("{kind} --histogram 3,1,4,1,5 --neighbor 3,1,4,1,6")), 0);
        assert_eq!(accountants(&format!("{kind} --histogram 3,1,4,1,5 --worst-neighbor moved")), 2);
        assert_eq!(accountants(&format!("{kind} --histogram 3,1,4,1,5 --worst-neighbor removed")), 0);
    }
    let text = stdout("exact --mechanism exponential:sigma=2 --histogram 3,1 --worst-neighbor added --orders 2");
    assert!(text.contains("No accountant applies to these values"), "{text}");
    // A noisy argmax has theorems for any two histograms.
    assert_eq!(accountants("gnmax:sigma=2 --histogram 3,1 --neighbor 1,3"), 2);
    assert!(accountants("randomized-response:sigma=2 --histogram 1,0 --worst-neighbor moved") > 0);
    assert!(accountants("gaussian:sigma=2 --worst-neighbor added") > 0);
    assert!(accountants("gaussian:sigma=2 --histogram 1 --worst-neighbor removed") > 0);
}

#[test]
fn a_noisy_argmax_is_a_mechanism_too() {
    let votes = "--histogram 14,12,10 --worst-neighbor moved --orders 2,10 --epsilons 0.5";
    let test = "--threshold 10 --threshold-noise gaussian:3 --threshold-form per-class";
    let confident = "confident-lnmax:sigma=2,threshold=10,threshold_sigma=3,threshold_form=per-class";
    for (noise, named) in [
        ("--noise gaussian:2".to_owned(), "gnmax:sigma=2"),
        ("--noise laplace:1e300".to_owned(), "lnmax:sigma=1e300"),
        (format!("--noise laplace:2 {test}"), confident),
    ] {
        let mut documents = [noise, format!("--mechanism {named}")].map(|what| json(&format!("exact {what} {votes}")));
        assert_eq!(documents[0]["mechanism"], named);
        for document in &mut documents {
            document.as_object_mut().unwrap().remove("options");
        }
        assert_eq!(documents[0], documents[1]);
    }
}

/// Values of numbers are below the truth, and close to it; a claim that is right is not refuted.
#[test]
fn numbers_with_noise_are_bounded_from_below() {
    let delta = 1e-5;
    for sigma in [0.5, 1.0, 4.0, 30.0f64] {
        let document = json(&format!("exact --mechanism gaussian:sigma={sigma} --orders 1.5,2,64 --deltas {delta}"));
        assert_eq!((&document["histogram"], &document["neighbor"]), (&"0".into(), &"1".into()));
        assert_eq!((&document["binned"], document.get("noise")), (&true.into(), None));
        let just_below = |found: &Value, truth: f64| {
            let found = number(found);
            assert!(found <= truth * (1.0 + 1e-9) && found >= 0.98 * truth, "{sigma}: {found} {truth}");
        };
        for row in rows(&document["divergences"]) {
            let truth = number(&row["order"]) / (2.0 * sigma * sigma);
            just_below(&row["forward"], truth);
            just_below(&row["reverse"], truth);
        }
        let epsilon = gdp_epsilon(1.0 / sigma, Delta::new(delta).unwrap()).unwrap().get();
        just_below(&document["epsilon"][0]["epsilon_forward"], epsilon);
        for row in rows(&document["test_power"]) {
            just_below(&row["tpr_forward"], ndtr(ndtri(number(&row["fpr"])) + 1.0 / sigma));
        }
        let claims = |share: f64| {
            let [rdp, mu, epsilon] = [1.0 / (sigma * sigma), 1.0 / sigma, epsilon].map(|truth| truth * share);
            format!(
                "exact --mechanism gaussian:sigma={sigma} --claim-rdp 2:{rdp} --claim-mu {mu} --claim-epsilon {epsilon}"
            )
        };
        Desk::root().run(&claims(1.0 + 1e-9)).printed(0);
        let refuted = Desk::root().answer(3, &claims(0.97));
        assert!(rows(&refuted["claims"]).iter().all(|claim| claim["refuted"] == true), "{refuted}");
    }
}

/// The suprema are those over every single change, and the changes attain them.
#[test]
fn the_worst_neighbor_of_every_mechanism() {
    let histogram =
        |text: &str| VoteHistogram::new(text.split(',').map(|count| count.parse().unwrap()).collect()).unwrap();
    let order = Order::new(3.0).unwrap();
    let cases: [(&str, &str, Changes); 9] = [
        ("exponential:sigma=1.5", "5,3,3,0", VoteChange::Moved.into()),
        ("permute-and-flip:sigma=1.5", "5,3,3,0", VoteChange::Moved.into()),
        ("permute-and-flip:sigma=1.5", "5,3,3,0", VoteChange::Removed.into()),
        ("randomized-response:sigma=0.5", "0,1,0", VoteChange::Moved.into()),
        ("laplace:sigma=2", "0", VoteChange::Added.into()),
        ("subsampled-gaussian:sigma=2,rate=0.1", "1", VoteChange::Removed.into()),
        ("above-threshold:noise=laplace,threshold=3,threshold_sigma=2,sigma=4", "3,1,4,1,5", Changes::EveryCount),
        ("above-threshold:noise=gaussian,threshold=3,threshold_sigma=2,sigma=4", "3,1", VoteChange::Moved.into()),
        ("sparse-vector:noise=gaussian,threshold=2,threshold_sigma=1,sigma=2,cutoff=2", "0,3,2", Changes::EveryCount),
    ];
    for (named, data, changes) in cases {
        let words = format!(
            "exact --mechanism {named} --histogram {data} --worst-neighbor {changes} --orders 3 --epsilons 0.1"
        );
        let document = json(&words);
        let (mechanism, data) = (parse(named).unwrap(), histogram(data));
        let mut best = [0.0f64; 3];
        for change in data.changes(changes, false) {
            let neighbor = data.neighbor(change).unwrap();
            let pair = mechanism.output_pair(&data, &neighbor, Bins::at(Some(order))).unwrap();
            let profile = mechanism.output_pair(&data, &neighbor, Bins::at(None)).unwrap();
            let values = [
                pair.renyi(Direction::Forward, order),
                pair.renyi(Direction::Reverse, order),
                profile.delta(Direction::Forward, Epsilon::new(0.1).unwrap()),
            ];
            best = std::array::from_fn(|i| best[i].max(values[i]));
        }
        let (row, delta) = (&document["divergences"][0], &document["hockey_stick"][0]["delta_forward"]);
        for (found, truth) in [(&row["forward"], best[0]), (&row["reverse"], best[1]), (delta, best[2])] {
            // Values of bins are rounded down by their error.
            let found = number(found);
            assert!(found <= truth * (1.0 + 1e-12) && found >= truth * (1.0 - 1e-10), "{words}: {found} {truth}");
        }
        assert!(row["forward_change"].is_object() && document["test_power"][0]["reverse_change"].is_object());
    }
}

/// Drawn mechanisms of every kind, on drawn data: an answer without NaN and without a contradiction, or one line.
#[test]
fn every_kind_of_the_registry_has_exact_values() {
    let mut stream = ChaCha8Rng::seed_from_u64(7);
    for &kind in RELEASES {
        let mut answered = 0;
        for _ in 0..6 {
            let data = VoteHistogram::new((kind.draw_data)(&mut stream, true)).unwrap();
            let largest = data.counts().iter().copied().max().unwrap();
            let Some(mechanism) = (kind.draw)(&mut stream, largest) else { continue };
            let change = kind.data.changes()[0];
            let words = format!(
                "exact --mechanism {mechanism} --histogram {data} --worst-neighbor {change} --orders 1.5,8 --epsilons 1 \
                 --deltas 1e-5 --format json"
            );
            let ran = Desk::root().run(&words);
            assert!(!ran.stdout.contains("\"nan\""), "{words}: {ran:?}");
            if ran.status == 0 {
                answered += 1;
            } else {
                let line = ran.line(ran.status);
                println!("{words}: {line}");
                assert!(!line.contains(" is above "), "{words}: {line}");
            }
        }
        assert!(answered >= 2, "{kind}: {answered}");
    }
}

#[test]
fn further_rows_of_the_flat_table() {
    let table = csv("exact --mechanism exponential:sigma=2 --histogram 3,1 --neighbor 2,2 --orders 2 --deltas 0,0.01");
    let kinds: Vec<&str> = table.iter().map(|row| row[0].as_str()).collect();
    let before = ["kind", "probability", "probability", "renyi", "exponential-bounded-range", "epsilon", "epsilon"];
    assert_eq!(kinds, [&before[..], &["tpr"; 3]].concat());
}

/// Answers to queries: an outcome is the first above, and every answer changes.
#[test]
fn above_threshold_has_its_outcomes_and_theorems() {
    let named = "exact --mechanism above-threshold:noise=laplace,threshold=3,threshold_sigma=2,sigma=4";
    let document = json(&format!("{named} --histogram 3,1,4,1,5 --neighbor 2,2,3,2,4 --orders 8 --claim-epsilon 0.9"));
    let labels: Vec<&Value> = rows(&document["outcomes"]).iter().map(|row| &row["label"]).collect();
    assert_eq!(labels, ["0", "1", "2", "3", "4", "none"]);
    near(&document["divergences"][0]["forward"], 0.126_144_599_570_156_18, named);
    // Pure 1/2 + 2/4, by randomized response.
    let accountant = &document["accountants"][0];
    assert_eq!(accountant["name"], "sparse-vector-pure");
    assert!(number(&accountant["rdp"]) < 1.0, "{accountant}");
    let worst = json(&format!("{named} --histogram 3,1,4,1,5 --worst-neighbor shifted --orders 8"));
    assert_eq!(worst["neighbors_searched"], 242);
    let change = &worst["divergences"][0]["forward_change"];
    assert_eq!((&change["change"], rows(&change["by"]).len()), (&Value::from("shifted"), 5));
    // An answer that moves by two is no neighbor: values without theorems.
    let far = json(&format!("{named} --histogram 3,1 --neighbor 5,1 --orders 8"));
    assert!(rows(&far["accountants"]).is_empty());
    let rows = r"
        --histogram 1,1,1,1,1,1,1,1,1,1 --worst-neighbor shifted => 2: …59048 different neighbors; 1 to 50000 are searched…
        --histogram 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 --worst-neighbor shifted => 2: …too many different neighbors…
        --histogram 3,1 => 2: …needs the answers to the queries of the neighbor, or --worst-neighbor shifted…
        --worst-neighbor shifted => 2: …needs the answers to the queries, such as 3,1,4…
    ";
    Desk::root().rejects(named, rows);
    let moved = Desk::root().run(&format!("{named} --histogram 3,1,4 --worst-neighbor moved --orders 2"));
    assert_eq!(moved.status, 0, "{moved:?}");
}
