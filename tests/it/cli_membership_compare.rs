//! `leakbound membership compare`: several attacks on one recording, as text, JSON, CSV and one page.

use crate::cli_membership::{compared, keep, logits, recorded};
use crate::desk::{Desk, names, pairs, rows_of};
use crate::json::{codes, rows};
use crate::report_pages::{checked, text_of};
use ndarray::{Array1, Array3, Array4};
use serde_json::Value;
use std::fs;

const ALL: [&str; 11] = [
    "lira",
    "lira-pooled",
    "lira-offline",
    "rmia",
    "rmia-offline",
    "risk",
    "label-only",
    "threshold",
    "top-confidence",
    "entropy",
    "attacker",
];

/// A folder with logits `s.npz` and scores `scores.npz`.
fn desk() -> Desk {
    let desk = recorded();
    let scores = Array3::from_shape_fn((16, 12, 1), |(m, s, _)| logits()[[m, s, 0, s % 3]]);
    desk.compressed("scores.npz", &[("scores", &scores), ("keep", &keep())]);
    desk
}

#[test]
fn all_attacks_run_on_logits() {
    let desk = desk();
    let document = desk.json("membership compare s.npz --resamples 100");
    assert_eq!(document["schema"], "leakbound.membership-compare/1");
    assert_eq!(compared(&document), ALL);
    assert!(!codes(&document).contains(&"attack-left-out"));
    for curves in ["roc", "sample_level", "canaries"] {
        assert_eq!(rows(&document[curves]).len(), ALL.len(), "{curves}");
    }
    let csv = desk.stdout("membership compare s.npz --resamples 100 --format csv");
    // Header; three levels at three FPRs for each attack.
    assert_eq!(csv.lines().count(), 1 + ALL.len() * 3 * 3, "{csv}");
    let text = desk.stdout("membership compare s.npz --resamples 100");
    assert!(text.starts_with("Membership inference, 11 attacks: 16 of 16 models as victims, 12 samples, 2 views"));
    let rows = text.lines().skip(5).take(ALL.len()).map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ALL, "{text}");
}

/// Each attack shows what its own command shows.
#[test]
fn every_attack_is_that_of_its_own_command() {
    let desk = desk();
    // Each with a failure probability of its own, as alone.
    let together = desk.json("membership compare s.npz --resamples 0 --failure-per query");
    for (name, alone) in pairs(&rows_of("cli_membership_compare", "every_attack_is_that_of_its_own_command")) {
        let alone = desk.json(&format!("membership {alone} --resamples 0"));
        let found = rows(&together["levels"]).iter().filter(|row| row["attack"] == name);
        let mut found: Vec<Value> = found.cloned().collect();
        let mut expected = rows(&alone["levels"]).to_vec();
        found.iter_mut().chain(&mut expected).for_each(|row| row["attack"] = "any".into());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn attacks_are_chosen_and_ordered() {
    let desk = desk();
    let document = desk.json("membership compare s.npz --attacks threshold,lira,threshold --resamples 0");
    assert_eq!(compared(&document), ["threshold", "lira"]);
    let one = desk.stdout("membership compare s.npz --attacks lira --resamples 0");
    assert!(one.contains("1 attack:") && one.contains("Attack by level"), "{one}");
    // Held-out victims are the same for attacks that need no other models.
    let held_out = desk.json("membership compare s.npz --attacks lira,threshold,attacker --victims 3,0 --resamples 0");
    let levels = rows(&held_out["levels"]).iter().filter(|row| row["level"] == "population");
    let members: Vec<u64> = levels.map(|row| row["members"].as_u64().unwrap()).collect();
    assert_eq!(members, [12, 12, 12]);
}

#[test]
fn what_a_recording_cannot_feed_is_left_out_with_its_reason() {
    let desk = desk();
    let document = desk.json("membership compare scores.npz --resamples 0");
    assert_eq!(compared(&document), ["lira", "lira-pooled", "lira-offline", "risk", "threshold"]);
    let left_out = rows(&document["warnings"]).iter().filter(|warning| warning["code"] == "attack-left-out");
    let reasons: Vec<&str> = left_out.map(|warning| warning["message"].as_str().unwrap()).collect();
    insta::assert_snapshot!(reasons.join("\n"));
    // Warnings that several attacks share come once: here two, at FPR 0.1 % and at 1 %.
    assert_eq!(codes(&document).into_iter().filter(|&code| code == "few-non-members").count(), 2);
}

#[test]
fn nothing_to_compare_is_one_line() {
    let desk = desk();
    let (logits, labels) = (Array4::from_elem((16, 12, 2, 3), f32::NAN), Array1::<i64>::zeros(12));
    desk.compressed("nan.npz", &[("logits", &logits), ("labels", &labels), ("keep", &keep())]);
    desk.rejects("membership compare", &rows_of("cli_membership_compare", "nothing_to_compare_is_one_line"));
}

#[test]
fn one_page_shows_all_attacks() {
    let desk = desk();
    fs::create_dir(desk.path("figures")).unwrap();
    desk.stdout("membership compare s.npz --resamples 100 --report page.html --figures figures");
    let page = desk.text("page.html");
    assert!(!page.contains("NaN"));
    checked(&page, |root| {
        let all = |name: &str| -> Vec<String> {
            root.descendants().filter(|node| node.has_tag_name(name)).map(text_of).collect()
        };
        let figures = all("figure");
        // ROC, samples, and the histograms of one attack.
        assert_eq!(figures.len(), 5);
        for figure in &figures[..2] {
            assert!(ALL.iter().all(|attack| figure.contains(attack)), "{figure}");
        }
        assert_eq!(all("h3")[0], "Attacks compared", "{:?}", all("h3"));
        let rows = root.descendants().find(|node| node.has_tag_name("tbody")).unwrap();
        assert_eq!(rows.children().filter(|node| node.has_tag_name("tr")).count(), ALL.len());
    });
    assert_eq!(names(&desk.path("figures")).len(), 5);
}
