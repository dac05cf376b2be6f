//! Audits of one training run, planned and concluded by the command.

use crate::arrays::npy;
use crate::desk::{Desk, rows_of};
use crate::json::number;
use crate::report_pages::checked;
use ndarray::Array1;
use serde_json::Value;

const PLAN: &str = "canaries plan --canaries 400 --mechanism subsampled-gaussian:sigma=1,rate=0.1 --times 20 \
                    --repetitions 20 --seed 5";

/// A folder with a plan in `plan.json`, and its coins.
fn planned(more: &str) -> (Desk, Vec<bool>) {
    let desk = Desk::new();
    desk.stdout(&format!("{PLAN} {more} --format json --output plan.json"));
    let plan: Value = serde_json::from_str(&desk.text("plan.json")).unwrap();
    let coins = plan["plan"]["coins"].as_str().unwrap().bytes().map(|digit| digit == b'1').collect();
    (desk, coins)
}

/// Scores that show every canary, but for every tenth.
fn scores(coins: &[bool]) -> Vec<f64> {
    let shown = |(index, &coin): (usize, &bool)| {
        let side = if coin { 1.0 } else { -1.0 };
        if index % 10 == 3 { -side } else { side * (1.0 + index as f64) }
    };
    coins.iter().enumerate().map(shown).collect()
}

#[test]
fn a_plan_is_made_and_concluded() {
    let (desk, coins) = planned("");
    let plan: Value = serde_json::from_str(&desk.text("plan.json")).unwrap();
    assert_eq!((&plan["schema"], &plan["seed"]), (&"leakbound.canary-plan/1".into(), &5.into()));
    assert_eq!(plan["members"], coins.iter().filter(|&&coin| coin).count());
    let (claimed, forecast) = (number(&plan["claimed_epsilon"]), &plan["forecast"]["epsilon"]);
    assert!(claimed > 1.0 && number(&forecast["high"]) < claimed, "{plan}");
    assert_eq!(plan["plan"]["guesses"], "nested");
    assert!(plan["forecast"]["mu"].is_null());
    // The CSV form is for the training loop.
    let table = desk.stdout(&format!("{PLAN} --format csv"));
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!((rows[0], rows.len()), ("canary,member", 401));
    assert!(rows[1..].iter().zip(&coins).all(|(row, &coin)| row.ends_with(if coin { ",1" } else { ",0" })));

    // Both forms of scores, and scores of the opposite sign with a plan that says so.
    let scores = scores(&coins);
    desk.stdout(&format!("{PLAN} --flip --format json --output flipped.json"));
    desk.file("scores.npy", npy(&Array1::from(scores.clone())));
    desk.file("negated.npy", npy(&Array1::from(scores.iter().map(|score| -score).collect::<Vec<_>>())));
    let rows = scores.iter().enumerate().rev().map(|(canary, score)| format!("{canary},{score}\n"));
    desk.file("scores.csv", "canary,score\n".to_owned() + &rows.collect::<String>());
    let [array, table, flipped] = ["plan.json scores.npy", "plan.json scores.csv", "flipped.json negated.npy"]
        .map(|files| desk.answer(3, &format!("canaries audit {files} --repetitions 20")));
    for key in ["epsilon", "mu", "one_run", "claims", "forecast"] {
        assert_eq!((&array[key], &array[key]), (&table[key], &flipped[key]), "{key}");
    }
    assert!(array["plan_sha256"] == table["plan_sha256"] && array["plan_sha256"] != flipped["plan_sha256"]);
    assert_eq!(array["plan_sha256"], plan["plan"]["sha256"]);
    assert_eq!(array["forecast"], plan["forecast"]);
    assert_eq!(array["claims"][0]["refuted"], true);
    assert!(number(&array["epsilon"][0]["lower"]) > claimed);
    let page = desk.path("page.html");
    desk.run(&format!("canaries audit plan.json scores.npy --repetitions 20 --report {}", page.display())).printed(3);
    checked(&desk.text("page.html"), |page| {
        assert!(page.descendants().any(|node| node.text().is_some_and(|text| text.contains("Forecast"))));
    });
}

/// Two attacks, of which the first shows nothing: the best of those that were planned is a bound, and of more is none.
#[test]
fn several_attacks_are_planned_and_share_the_failure_probability() {
    let (desk, coins) = planned("--attacks 2");
    desk.file("shown.npy", npy(&Array1::from(scores(&coins))));
    desk.file("hidden.npy", npy(&Array1::from(vec![0.0; 400])));
    let answer = desk.answer(3, "canaries audit plan.json hidden.npy shown.npy --repetitions 20");
    assert_eq!(answer["attacks"][0]["scores"], "hidden.npy");
    assert_eq!(answer["attacks"][0]["epsilon"], 0.0);
    assert_eq!(answer["attacks"][1]["epsilon"], answer["epsilon"][0]["lower"]);
    assert_eq!(answer["claims"][0]["failure_probability"], 0.05);
    assert_eq!(answer["inputs"].as_array().unwrap().len(), 3);
    let text = desk.run("canaries audit plan.json hidden.npy shown.npy --repetitions 20").printed(3);
    assert!(text.contains("hidden.npy") && text.contains("2, each with a failure probability of 0.025"), "{text}");
    let line = desk.rejected(2, "canaries audit plan.json hidden.npy shown.npy shown.npy");
    assert!(line.contains("3 sets of scores, expected 1 to 2, as planned"), "{line}");
    desk.is_rejected(2, "canaries plan --canaries 400 --attacks 0", "--attacks");
}

/// A claim of μ needs a bound of μ, and nested guesses have none.
#[test]
fn a_claim_of_mu_is_planned_with_declared_guesses() {
    let desk = Desk::new();
    let plan = "canaries plan --canaries 400 --claim-mu 1 --repetitions 20 --seed 5 --format json --output";
    desk.stdout(&format!("{plan} plan.json"));
    let answer: Value = serde_json::from_str(&desk.text("plan.json")).unwrap();
    assert!(answer["plan"]["guesses"]["declared"].is_array() && answer["forecast"]["mu"].is_object());
    let coins = answer["plan"]["coins"].as_str().unwrap().bytes().map(|digit| f64::from(digit - b'0'));
    desk.file("scores.npy", npy(&coins.collect::<Array1<f64>>()));
    let answer = desk.answer(3, "canaries audit plan.json scores.npy --repetitions 20");
    assert_eq!((answer["claims"].as_array().unwrap().len(), answer["mu"].as_array().unwrap().len()), (2, 1));
    // Nested guesses test the ε that the claim comes to.
    desk.stdout(&format!("{plan} nested.json --guess-selection nested"));
    let answer = desk.answer(3, "canaries audit nested.json scores.npy --repetitions 20");
    assert_eq!((answer["claims"].as_array().unwrap().len(), answer["mu"].as_array().unwrap().len()), (1, 0));
}

#[test]
fn coins_without_a_seed_are_drawn_by_the_system() {
    let desk = Desk::new();
    let [one, other] = [0; 2].map(|_| desk.json("canaries plan --canaries 200")["plan"]["coins"].clone());
    assert_ne!(one, other);
}

#[test]
fn bad_plans_and_scores_are_one_line() {
    let (desk, coins) = planned("");
    desk.file("short.npy", npy(&Array1::from(vec![1.0; 399])));
    desk.file("unknown.csv", "canary,score\n0,1\n400,2\n");
    desk.file("missing.csv", "canary,score\n0,1\n");
    let mut changed: Value = serde_json::from_str(&desk.text("plan.json")).unwrap();
    changed["plan"]["delta"] = 1e-6.into();
    desk.file("changed.json", changed.to_string());
    desk.file("scores.npy", npy(&Array1::from(scores(&coins))));
    desk.rejects("canaries", &rows_of("cli_canaries", "bad_plans_and_scores_are_one_line"));
}
