//! `leakbound calibrate`.

use crate::desk::{Desk, json, rows_of, stdout};
use crate::json::{number, rows};

/// What `account` proves of the calibrated mechanism is the goal: the two share no search.
#[test]
fn account_agrees_with_the_scale() {
    let goal = "--times 1000 --epsilon 2 --delta 1e-5";
    let document = json(&format!("calibrate --mechanism subsampled-gaussian:sigma=?,rate=0.01 {goal}"));
    assert_eq!((&document["schema"], &document["bound"]), (&"leakbound.calibrate/1".into(), &"privacy-losses".into()));
    let (scale, too_little) = (number(&document["scale"]), number(&document["too_little"]));
    assert!(too_little < scale && too_little > 0.998 * scale, "{too_little} {scale}");
    let at = rows(&document["profile"]).iter().find(|row| row["delta"] == 1e-5).unwrap();
    assert!(number(&at["epsilon"]) <= 2.0 && number(&at["epsilon"]) > 1.998, "{at}");
    let desk = Desk::new();
    let mechanism = document["mechanism"].as_str().unwrap();
    desk.file("steps.toml", format!("[[release]]\nmechanism = \"{mechanism}\"\ntimes = 1000\n"));
    let composed = desk.json("account steps.toml --composition pld");
    let epsilon = &composed["losses"]["epsilon"];
    assert!(number(&epsilon["lower"]) <= 2.0 && number(&epsilon["upper"]) > 1.998, "{epsilon}");
}

/// Φ(Φ⁻¹(f) + 1/σ) = t, 2Φ(1/(2σ)) - 1 = a, and t/(t + f) with prior 1/2.
#[test]
fn goals_about_attackers_have_the_noise_of_the_best_test() {
    for (goal, sigma) in [
        ("--tpr 0.0923657 --fpr 0.01", 1.0),
        ("--advantage 0.3829249", 1.0),
        ("--posterior 0.902308 --fpr 0.01", 1.0),
        ("--mu 0.5", 2.0),
    ] {
        let document = json(&format!("calibrate --mechanism gaussian:sigma=? {goal}"));
        let attack = rows(&document["attacks"]).iter().find(|row| row["fpr"] == 0.01).unwrap();
        let tpr = number(&attack["tpr"]);
        assert!((number(&document["scale"]) - sigma).abs() < 4e-4 * sigma, "{goal}: {}", document["scale"]);
        assert!((tpr - 0.09236).abs() < 1e-4 || sigma > 1.0);
    }
}

#[test]
fn the_text_says_what_holds_and_what_does_not() {
    let text = stdout("calibrate --mechanism gaussian:sigma=? --epsilon 1 --delta 1e-6");
    insta::assert_snapshot!(text);
    let csv = stdout("calibrate --mechanism gaussian:sigma=? --mu 1 --format csv");
    assert!(csv.starts_with("kind,at,value\nscale,sigma,1.0000") && csv.contains("\ntoo-little,sigma,0.999"), "{csv}");
}

#[test]
fn bad_requests_are_one_line() {
    let desk = Desk::root();
    // The parser lists the goals.
    let ran = desk.run("calibrate --mechanism gaussian:sigma=?");
    assert!(ran.status == 2 && ran.stderr.contains("--advantage <SHARE>"), "{}", ran.stderr);
    let ran = desk.run("calibrate --mechanism gaussian:sigma=? --epsilon 1 --mu 1");
    assert!(ran.status == 2 && ran.stderr.contains("cannot be used with"), "{}", ran.stderr);
    desk.rejects("calibrate --mechanism", &rows_of("cli_calibrate", "bad_requests_are_one_line"));
}
