//! The command on scores of canaries, wrong labels and properties.

use crate::arrays::{Arrays, npy};
use crate::desk::{Desk, rows_of};
use crate::json::{number, rows};
use crate::report_pages::checked;
use ndarray::{Array1, Array2, Array4};

/// Writes scores of canaries as one array.
fn array(desk: &Desk, name: &str, scores: &[f64]) {
    desk.file(name, npy(&Array1::from(scores.to_vec())));
}

/// 300 members at 0, 1, ..., others 150 lower.
fn grid() -> (Vec<f64>, Vec<f64>) {
    ((0..300).map(f64::from).collect(), (-150..150).map(f64::from).collect())
}

fn table() -> String {
    let (members, others) = grid();
    let rows =
        members.iter().map(|score| format!("{score},1\n")).chain(others.iter().map(|score| format!("{score},0\n")));
    "score,member\n".to_owned() + &rows.collect::<String>()
}

/// A folder with such scores in `s.csv`.
fn scored() -> Desk {
    let desk = Desk::new();
    desk.file("s.csv", table());
    desk
}

#[test]
fn both_forms_of_files_give_the_same_bounds() {
    let desk = scored();
    let (members, others) = grid();
    array(&desk, "in.npy", &members);
    array(&desk, "out.npy", &others);
    for selection in ["split", "multi-split", "uniform"] {
        let audit = |files: &str| desk.json(&format!("audit scores {files} --selection {selection} --epsilons 0.5"));
        let (of_table, of_arrays) = (audit("s.csv"), audit("--members in.npy --non-members out.npy"));
        for key in ["epsilon", "mu", "epsilon_of_mu", "delta", "rates", "members", "non_members"] {
            assert_eq!(of_table[key], of_arrays[key], "{selection} {key}");
        }
        assert_eq!(of_table["schema"], "leakbound.audit-scores/1");
        assert_eq!(rows(&of_arrays["inputs"]).len(), 2);
        for row in rows(&of_table["epsilon"]) {
            assert_eq!((&row["validity"], &row["selection"]), (&"finite-sample".into(), &selection.into()));
            assert_eq!(row["failure_probability"], 0.05);
        }
        assert!(number(&of_table["mu"][0]["lower"]) > 0.5);
        assert_eq!(of_table["epsilon_of_mu"][0]["validity"], "heuristic");
    }
}

#[test]
fn a_declared_threshold_is_a_confusion_matrix() {
    let desk = scored();
    let scores = desk.json("audit scores s.csv --threshold 100 --delta 0");
    let confusion = desk.json(
        "audit confusion --tp 200 --fn 100 --fp 50 --tn 250 --delta 0 --methods clopper-pearson --direction forward",
    );
    assert_eq!(scores["rates"][0]["true_positives"], 200);
    let epsilon = number(&scores["epsilon"][0]["lower"]);
    assert!((epsilon - number(&confusion["epsilon"][0]["epsilon_lower"])).abs() < 1e-12);
}

#[test]
fn low_scores_may_mean_members() {
    let desk = Desk::new();
    let (members, others) = grid();
    let negated = |scores: &[f64]| scores.iter().map(|score| -score).collect::<Vec<_>>();
    array(&desk, "a.npy", &members);
    array(&desk, "b.npy", &others);
    array(&desk, "c.npy", &negated(&members));
    array(&desk, "d.npy", &negated(&others));
    let plain = desk.json("audit scores --members a.npy --non-members b.npy");
    for flag in ["--flip", "--low-is-member"] {
        let flipped = desk.json(&format!("audit scores --members c.npy --non-members d.npy {flag}"));
        assert_eq!(plain["epsilon"], flipped["epsilon"]);
    }
    let upside_down = desk.json("audit scores --members c.npy --non-members d.npy");
    assert_eq!(upside_down["warnings"][0]["code"], "direction-contradicted");
    assert_eq!(upside_down["epsilon"][0]["lower"], 0.0);
}

#[test]
fn refuted_claims_end_with_status_three() {
    let desk = scored();
    for (claims, status) in [
        ("--claim-epsilon 0.1", 3),
        ("--claim-mu 0.1", 3),
        ("--claim-epsilon 20 --claim-mu 20", 0),
        ("--one-run --claim-epsilon 0.01 --delta 0 --guesses 100,100", 3),
    ] {
        desk.run(&format!("audit scores s.csv {claims}")).printed(status);
    }
    desk.is_rejected(2, "audit scores s.csv --selection naive --claim-epsilon 0.1", "guarantees nothing");
}

#[test]
fn naive_selection_shows_what_it_does_to_noise() {
    let desk = scored();
    let text = desk.stdout("audit scores s.csv --selection naive");
    assert!(text.contains("heuristic") && !text.contains("finite-sample"), "{text}");
    let document = desk.json("audit scores s.csv --selection naive");
    let rate = number(&document["false_claims"]["rate"]);
    assert_eq!(document["warnings"][0]["code"], "naive-selection");
    assert!(rate > 0.0 && rate < 0.3, "{rate}");
}

/// Rényi bounds take half of the failure probability, so that all bounds together have what is stated.
#[test]
fn renyi_divergences_of_scores_are_bounded_beside_the_rest() {
    let desk = scored();
    let alone = desk.json("audit scores s.csv --failure-probability 0.025");
    let document = desk.json("audit scores s.csv --orders 2,8");
    assert_eq!(alone["epsilon"][0]["lower"], document["epsilon"][0]["lower"]);
    let rows = document["renyi"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    assert!(rows.iter().chain(document["epsilon"].as_array().unwrap()).all(|row| row["failure_probability"] == 0.05));
    assert!(number(&rows[0]["lower"]) > 0.0 && rows[0]["order"] == 2.0, "{}", rows[0]);
    let text = desk.stdout("audit scores s.csv --orders 2,8");
    assert!(text.contains("Rényi divergence of order 2") && text.contains("k-cut-region"), "{text}");
    assert!(desk.stdout("audit scores s.csv --orders 2 --format csv").contains("renyi,k-cut-region,split,forward,2"));
    desk.rejected(2, "audit scores s.csv --orders 1");
    assert_eq!(desk.run("audit scores s.csv --orders 2 --one-run").status, 2);
}

#[test]
fn one_run_prints_its_guesses() {
    let desk = scored();
    let declared = desk.json("audit scores s.csv --one-run --guesses 100,50");
    let one_run = &declared["one_run"];
    assert_eq!((&one_run["guessed_members"], &one_run["guessed_non_members"]), (&100.into(), &50.into()));
    // The highest 150 scores are members, the lowest 150 are not.
    assert_eq!((&one_run["right"], &one_run["canaries"]), (&150.into(), &600.into()));
    assert_eq!(declared["epsilon"][0]["method"], "one-run");
    for selection in ["split", "paid-for", "naive"] {
        let document = desk.json(&format!("audit scores s.csv --one-run --guess-selection {selection}"));
        assert_eq!(document["one_run"]["selection"], selection);
        let validity = if selection == "naive" { "heuristic" } else { "finite-sample" };
        assert_eq!(document["epsilon"][0]["validity"], validity);
    }
}

#[test]
fn text_table_and_page() {
    let desk = scored();
    let text = desk.stdout("audit scores s.csv --report page.html");
    assert!(text.contains("300 members and 300 non-members") && text.contains("uniform-band"));
    let rows = desk.stdout("audit scores s.csv --format csv");
    assert!(rows.starts_with(
        "quantity,method,selection,direction,order,delta,epsilon,threshold,lower,failure_probability,validity\n"
    ));
    assert_eq!(rows.lines().count(), 5);
    let html = desk.text("page.html");
    checked(&html, |_| ());
    assert!(html.contains("ROC curve of the attack") && html.contains("<svg"));
}

#[test]
fn bad_scores_end_with_one_line() {
    let desk = Desk::new();
    desk.file("s.csv", "score,member\n1,1\n");
    desk.file("one.csv", "score,member\n1,1\n0,0\n");
    array(&desk, "nan.npy", &[f64::NAN]);
    array(&desk, "out.npy", &[0.0]);
    desk.rejects("audit scores", &rows_of("cli_scores", "bad_scores_end_with_one_line"));
    for words in ["--members out.npy", "one.csv --one-run --threshold 1", "one.csv --guesses 1,1"] {
        assert_eq!(desk.run(&format!("audit scores {words}")).status, 2, "{words}");
    }
}

/// Fixed seed; each of 14 rows would be above what is accepted with probability 1e-3 at most if it were wrong as often
/// as it may be, and they are wrong far less often.
#[test]
fn a_self_check_keeps_its_word() {
    let desk = scored();
    let document = desk.json("self-check audit scores s.csv --repetitions 40 --delta 0");
    assert_eq!(document["schema"], "leakbound.self-check-scores/1");
    let checks = rows(&document["checks"]);
    assert_eq!((checks.len(), &document["members"]), (18, &300.into()));
    for check in checks {
        let naive = check["method"].as_str().unwrap().contains("naive");
        assert_eq!(check["validity"], if naive { "heuristic" } else { "finite-sample" });
        assert!(naive || check["verdict"] == "kept");
    }
    let text = desk.stdout("self-check audit scores s.csv --repetitions 5");
    assert!(text.contains("multi-split") && text.contains("one-run paid-for"));
    let rows = desk.stdout("self-check audit scores s.csv --repetitions 5 --format csv");
    assert_eq!(rows.lines().count(), 19);
}

#[test]
fn memorized_labels() {
    let desk = Desk::new();
    let (canaries, classes) = (200, 10);
    let trained: Vec<i64> = (0..canaries).map(|canary| 1 + canary % 9).collect();
    let probabilities = Array2::from_shape_fn((canaries as usize, classes), |(canary, class)| {
        if class as i64 == trained[canary] { 0.82f32 } else { 0.02 }
    });
    let (truth, trained) = (Array1::<i64>::zeros(canaries as usize), Array1::from(trained));
    let arrays: &Arrays<'_> =
        &[("probabilities", &probabilities), ("labels_true", &truth), ("labels_trained", &trained)];
    desk.arrays("labels.npz", arrays);
    let document = desk.json("label-dp memorization labels.npz --threshold 0.5");
    assert_eq!(document["schema"], "leakbound.label-dp-memorization/1");
    let [valid, published] = [&document["epsilon"][0], &document["epsilon"][1]];
    assert_eq!((&valid["guesses"], &valid["right"]), (&200.into(), &200.into()));
    assert!((number(&valid["epsilon_lower"]) - 4.194).abs() < 1e-3);
    assert_eq!((&valid["validity"], &published["validity"]), (&"finite-sample".into(), &"heuristic".into()));
    assert_eq!(published["epsilon_upper"], "inf");
    desk.run("label-dp memorization labels.npz --claim-epsilon 1").printed(3);
    desk.run("label-dp memorization labels.npz --claim-epsilon 9").printed(0);
    assert_eq!(desk.stdout("label-dp memorization labels.npz --format csv").lines().count(), 3);
    desk.file("l.csv", "label_true,label_trained,p_0,p_1,p_2\n0,0,1,0,0\n");
    desk.is_rejected(1, "label-dp memorization l.csv", "line 2, column label_trained: found `0`");
    desk.is_rejected(2, "label-dp memorization labels.npz --threshold 1.5", "[0, 1]");
}

#[test]
fn properties_by_distance() {
    let desk = Desk::new();
    let two = |p: f64, class: usize| if class == 0 { p } else { 1.0 - p };
    let student = Array2::from_shape_fn((20, 2), |(_, class)| two(0.7, class));
    let ensembles = Array4::from_shape_fn((3, 5, 20, 2), |(value, member, _, class)| {
        two(0.2 + 0.25 * value as f64 + 0.005 * member as f64, class)
    });
    let write = |ensembles: &Array4<f64>| {
        desk.arrays("p.npz", &[("student", &student), ("ensembles", ensembles)]);
    };
    write(&ensembles);
    let document = desk.json("property distance p.npz");
    assert_eq!((&document["schema"], &document["inferred"]), (&"leakbound.property-distance/1".into(), &2.into()));
    assert!(number(&document["p_value"]) < 0.01);
    assert_eq!(rows(&document["distances"]).len(), 3);
    let text = desk.stdout("property distance p.npz --permutations 99");
    assert!(text.contains("Property value 2") && text.contains("inferred"));
    write(&Array4::from_elem((2, 1, 20, 2), 0.5));
    assert_eq!(desk.json("property distance p.npz")["warnings"][0]["code"], "single-members");
    write(&Array4::from_elem((2, 1, 20, 2), 0.4));
    desk.is_rejected(1, "property distance p.npz", "sum of the probabilities of a point");
    write(&Array4::from_elem((2, 1, 3, 2), 0.5));
    desk.is_rejected(1, "property distance p.npz", "points and classes of `student`");
}
