//! `leakbound calibrate`.

use crate::desk::{Desk, json, stdout};
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
    insta::assert_snapshot!(text, @"
    Least noise for ε ≤ 1 at δ = 1e-6

      sigma          4.22468
      smaller noise  4.22467 misses the goal for certain
      mechanism      gaussian:sigma=4.22468
      bounded by     closed form of Gaussian noise

    What it guarantees: ε at each δ
          δ   ε at most
      ───────────────────
      0.001    0.554748
       1e-4    0.727195
       1e-5    0.872470
       1e-6     1.00000
       1e-8     1.22006
      1e-10     1.40908

    What it guarantees: true-positive rate of any attacker
        FPR   TPR at most
      ─────────────────────
       1e-5    2.81044e-5
       1e-4    2.48552e-4
      0.001    0.00216184
       0.01     0.0183249
       0.05     0.0795434
        0.1      0.148047
        0.2      0.272617
        0.5      0.593557
        0.9      0.935525

    Largest advantage, TPR - FPR: at most 0.0942114
    ");
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
    let rows = r"
        'gaussian:sigma=2' --epsilon 1 => 2: …leaves no scale of noise open; write a ? for it…
        'subsampled-gaussian:sigma=1,rate=?' --epsilon 1 => 2: …rate is no scale of noise; sigma is…
        'gauss:sigma=?' --epsilon 1 => 2: …`gauss` is none…
        'gaussian:sigma=?' --epsilon 1 --times 0 => 2: …not a whole number in [1, 2^53]…
        'gaussian:sigma=?' --epsilon 1 --delta 1 => 2: …delta = 1 is not in [0, 1)…
        'gaussian:sigma=?' --epsilon 1 --delta 0 => 2: …is not met by any noise, however much…
        'gaussian:sigma=?' --tpr 0.01 --fpr 0.02 => 2: …is not between the false-positive rate = 0.02 and 1…
        'gaussian:sigma=?' --mu 0 => 2: …mu = 0 is not in (0, inf)…
        'subsampled-gaussian:sigma=?,rate=0.01' --advantage 0.5 => 2: …holds even with sigma…
        'lnmax:sigma=?' --epsilon 1 => 2: …lnmax:sigma=? needs a histogram…
    ";
    desk.rejects("calibrate --mechanism", rows);
}
