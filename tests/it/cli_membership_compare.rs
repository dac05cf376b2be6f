//! `leakbound membership compare`: several attacks on one recording, as text, JSON, CSV and one page.

use assert_cmd::Command;
use ndarray::{Array1, Array2, Array3, Array4};
use ndarray_npy::NpzWriter;
use serde_json::Value;
use std::fs::{self, File};
use std::path::PathBuf;
use tempfile::TempDir;

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

struct Desk {
    folder: TempDir,
}

impl Desk {
    /// A folder with logits `s.npz` and scores `scores.npz`.
    fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.arrays("s.npz", |writer| {
            writer.add_array("logits", &logits()).unwrap();
            writer.add_array("labels", &Array1::from_shape_fn(12, |s| (s % 3) as i64)).unwrap();
            writer.add_array("keep", &keep()).unwrap();
        });
        desk.arrays("scores.npz", |writer| {
            let scores = Array3::from_shape_fn((16, 12, 1), |(m, s, _)| logits()[[m, s, 0, s % 3]]);
            writer.add_array("scores", &scores).unwrap();
            writer.add_array("keep", &keep()).unwrap();
        });
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arrays(&self, name: &str, add: impl FnOnce(&mut NpzWriter<File>)) {
        let mut writer = NpzWriter::new_compressed(File::create(self.path(name)).unwrap());
        add(&mut writer);
        writer.finish().unwrap();
    }

    fn run(&self, arguments: &str) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_leakbound"))
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .args(["membership", "compare"])
            .args(arguments.split_whitespace())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    fn done(&self, arguments: &str) -> String {
        let (status, stdout, stderr) = self.run(arguments);
        assert_eq!(status, 0, "{arguments}: {stderr}");
        stdout
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{arguments} --format json"))).unwrap()
    }

    fn rejected(&self, arguments: &str) -> String {
        let (status, stdout, stderr) = self.run(&format!("{arguments} --output result"));
        assert!(stdout.is_empty() && !self.path("result").exists(), "{arguments}: {stdout}");
        format!("{status}: {}", stderr.trim_end())
    }
}

fn keep() -> Array2<bool> {
    Array2::from_shape_fn((16, 12), |(m, s)| (m + s) % 2 == 0)
}

/// Members are 3 more confident in their label, in noise of about 1.
fn logits() -> Array4<f32> {
    Array4::from_shape_fn((16, 12, 2, 3), |(m, s, v, c)| {
        let noise = ((m * 31 + s * 17 + v * 7 + c * 5) % 13) as f32 / 4.0;
        let own = if c == s % 3 { 1.0 } else { 0.0 };
        noise + own * if keep()[[m, s]] { 4.0 } else { 1.0 }
    })
}

/// The attacks of the rows at the level of the population.
fn compared(document: &Value) -> Vec<&str> {
    let levels = document["levels"].as_array().unwrap().iter().filter(|row| row["level"] == "population");
    levels.map(|row| row["attack"].as_str().unwrap()).collect()
}

fn codes(document: &Value) -> Vec<&str> {
    document["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

#[test]
fn all_attacks_run_on_logits() {
    let desk = Desk::new();
    let document = desk.json("s.npz --resamples 100");
    assert_eq!(document["schema"], "leakbound.membership-compare/1");
    assert_eq!(compared(&document), ALL);
    assert!(!codes(&document).contains(&"attack-left-out"));
    for curves in ["roc", "sample_level", "canaries"] {
        assert_eq!(document[curves].as_array().unwrap().len(), ALL.len(), "{curves}");
    }
    let csv = desk.done("s.npz --resamples 100 --format csv");
    // Header; three levels at three FPRs for each attack.
    assert_eq!(csv.lines().count(), 1 + ALL.len() * 3 * 3, "{csv}");
    let text = desk.done("s.npz --resamples 100");
    assert!(text.starts_with("Membership inference, 11 attacks: 16 of 16 models as victims, 12 samples, 2 views"));
    let rows = text.lines().skip(5).take(ALL.len()).map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ALL, "{text}");
}

/// Each attack shows what its own command shows.
#[test]
fn every_attack_is_that_of_its_own_command() {
    let desk = Desk::new();
    let together = desk.json("s.npz --resamples 0");
    for (name, alone) in [
        ("lira", "lira s.npz"),
        ("lira-pooled", "lira s.npz --variance pooled"),
        ("lira-offline", "lira s.npz --mode offline"),
        ("rmia", "rmia s.npz"),
        ("rmia-offline", "rmia s.npz --mode offline"),
        ("risk", "risk s.npz"),
        ("label-only", "label-only s.npz"),
        ("threshold", "threshold s.npz"),
        ("top-confidence", "threshold s.npz --score top-confidence"),
        ("entropy", "threshold s.npz --score entropy"),
        ("attacker", "attacker s.npz"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_leakbound"))
            .current_dir(desk.folder.path())
            .arg("membership")
            .args(alone.split_whitespace())
            .args(["--resamples", "0", "--format", "json"])
            .output()
            .unwrap();
        let alone: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = together["levels"].as_array().unwrap().iter().filter(|row| row["attack"] == name);
        let mut rows: Vec<Value> = rows.cloned().collect();
        let mut expected = alone["levels"].as_array().unwrap().clone();
        rows.iter_mut().chain(&mut expected).for_each(|row| row["attack"] = "any".into());
        assert_eq!(rows, expected, "{name}");
    }
}

#[test]
fn attacks_are_chosen_and_ordered() {
    let desk = Desk::new();
    let document = desk.json("s.npz --attacks threshold,lira,threshold --resamples 0");
    assert_eq!(compared(&document), ["threshold", "lira"]);
    let one = desk.done("s.npz --attacks lira --resamples 0");
    assert!(one.contains("1 attack:") && one.contains("Attack by level"), "{one}");
    // Held-out victims are the same for attacks that need no other models.
    let held_out = desk.json("s.npz --attacks lira,threshold,attacker --victims 3,0 --resamples 0");
    let members: Vec<u64> = held_out["levels"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["level"] == "population")
        .map(|row| row["members"].as_u64().unwrap())
        .collect();
    assert_eq!(members, [12, 12, 12]);
}

#[test]
fn what_a_recording_cannot_feed_is_left_out_with_its_reason() {
    let desk = Desk::new();
    let document = desk.json("scores.npz --resamples 0");
    assert_eq!(compared(&document), ["lira", "lira-pooled", "lira-offline", "risk", "threshold"]);
    let reasons: Vec<&str> = document["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|warning| warning["code"] == "attack-left-out")
        .map(|warning| warning["message"].as_str().unwrap())
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @"
    rmia is left out: confidence of a shadow model = 4 is not in [0, 1]
    rmia-offline is left out: confidence of a shadow model = 4 is not in [0, 1]
    label-only is left out: it looks at right and wrong answers, and scores are recorded
    top-confidence is left out: it looks at all confidences, and scores are recorded
    entropy is left out: it looks at all confidences, and scores are recorded
    attacker is left out: it looks at all confidences, and scores are recorded
    ");
    // Warnings that several attacks share come once: here two, at FPR 0.1 % and at 1 %.
    let few = document["warnings"].as_array().unwrap().iter().filter(|warning| warning["code"] == "few-non-members");
    assert_eq!(few.count(), 2);
}

#[test]
fn nothing_to_compare_is_one_line() {
    let desk = Desk::new();
    desk.arrays("nan.npz", |writer| {
        writer.add_array("logits", &Array4::from_elem((16, 12, 2, 3), f32::NAN)).unwrap();
        writer.add_array("labels", &Array1::<i64>::zeros(12)).unwrap();
        writer.add_array("keep", &keep()).unwrap();
    });
    insta::assert_snapshot!(
        [
            desk.rejected("scores.npz --attacks label-only,attacker"),
            desk.rejected("nan.npz"),
            desk.rejected("s.npz --victims 16"),
            desk.rejected("s.npz --attacks lira,shokri"),
            desk.rejected("none.npz"),
        ]
        .join("\n"),
        @"
        2: error: label-only attack: it looks at right and wrong answers, and scores are recorded
        1: error: nan.npz: array `logits`, index [0, 0, 0, 0]: found `NaN`, expected a finite number
        2: error: victim = 16 is not in the models that were recorded, each once
        2: error: invalid value 'shokri' for '--attacks <NAME,...>': expected lira, lira-pooled, lira-offline, rmia, rmia-offline, risk, label-only, threshold, top-confidence, entropy, attacker
        1: error: none.npz: cannot read: No such file or directory (os error 2)
        "
    );
}

#[test]
fn one_page_shows_all_attacks() {
    let desk = Desk::new();
    fs::create_dir(desk.path("figures")).unwrap();
    desk.done("s.npz --resamples 100 --report page.html --figures figures");
    let page = fs::read_to_string(desk.path("page.html")).unwrap();
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
    let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
    assert!(!page.contains("NaN") && !page.contains("<script"));
    let text = |node: roxmltree::Node<'_, '_>| {
        node.descendants().filter(|node| node.is_text()).filter_map(|node| node.text()).collect::<Vec<_>>().join(" ")
    };
    let figures: Vec<String> = document.descendants().filter(|node| node.has_tag_name("figure")).map(text).collect();
    // ROC, samples, and the histograms of one attack.
    assert_eq!(figures.len(), 5);
    for figure in &figures[..2] {
        assert!(ALL.iter().all(|attack| figure.contains(attack)), "{figure}");
    }
    let titles: Vec<String> = document.descendants().filter(|node| node.has_tag_name("h3")).map(text).collect();
    assert_eq!(titles[0], "Attacks compared", "{titles:?}");
    let rows = document.descendants().find(|node| node.has_tag_name("tbody")).unwrap();
    assert_eq!(rows.children().filter(|node| node.has_tag_name("tr")).count(), ALL.len());
    assert!(fs::read_dir(desk.path("figures")).unwrap().count() == 5);
}
