//! `leakbound membership`: what it prints, and what it says of recordings that it cannot use.

use crate::arrays::{Arrays, npy};
use crate::desk::Desk;
use crate::json::{number, rows, texts};
use ndarray::{Array1, Array2, Array3, Array4, array};
use serde_json::Value;
use std::fs;

/// Which of twelve samples sixteen models were trained on.
pub fn keep() -> Array2<bool> {
    Array2::from_shape_fn((16, 12), |(m, s)| (m + s) % 2 == 0)
}

/// Members are 3 more confident in their label, in noise of about 1.
pub fn logits() -> Array4<f32> {
    Array4::from_shape_fn((16, 12, 2, 3), |(m, s, v, c)| {
        let noise = ((m * 31 + s * 17 + v * 7 + c * 5) % 13) as f32 / 4.0;
        let own = if c == s % 3 { 1.0 } else { 0.0 };
        noise + own * if keep()[[m, s]] { 4.0 } else { 1.0 }
    })
}

pub fn labels() -> Array1<i64> {
    Array1::from_shape_fn(12, |s| (s % 3) as i64)
}

/// Writes answers of these names, with the labels and the truth.
pub fn record(desk: &Desk, name: &str, answers: &Arrays<'_>) {
    desk.compressed(name, &[answers, &[("labels", &labels()), ("keep", &keep())]].concat());
}

/// A folder with these answers in `s.npz`.
pub fn recorded() -> Desk {
    let desk = Desk::new();
    record(&desk, "s.npz", &[("logits", &logits())]);
    desk
}

/// The attacks of the rows at the level of the population.
pub fn compared(document: &Value) -> Vec<&str> {
    let levels = rows(&document["levels"]).iter().filter(|row| row["level"] == "population");
    levels.map(|row| row["attack"].as_str().unwrap()).collect()
}

/// Sixteen models, each left out in its turn: the side that a victim is left out of is the smaller one.
#[test]
fn few_models_left_out_one_by_one_are_warned_of() {
    let desk = recorded();
    for (options, warned) in [("", true), ("--variant carlini-2022", false), ("--victims 0,1,2", false)] {
        let document = desk.json(&format!("membership lira s.npz --resamples 0 {options}"));
        let found = rows(&document["warnings"]).iter().find(|warning| warning["code"] == "few-models");
        assert_eq!(found.is_some(), warned, "{options}");
        if let Some(found) = found {
            assert!(found["message"].as_str().unwrap().contains("about 0.49, not 0.5"), "{found}");
        }
    }
}

#[test]
fn every_attack_is_measured() {
    let desk = recorded();
    for (attack, schema) in [
        ("lira", "lira"),
        ("lira --variant carlini-2022 --variance pooled", "lira"),
        ("lira --mode offline --score hinge", "lira"),
        ("lira --views multivariate", "lira"),
        ("label-only", "label-only"),
        ("threshold", "threshold"),
        ("threshold --score modified-entropy", "threshold"),
        ("rmia", "rmia"),
        ("risk --bins 4", "risk"),
        ("attacker", "attacker"),
    ] {
        let (name, options) = attack.split_once(' ').unwrap_or((attack, ""));
        let document = desk.json(&format!("membership {name} s.npz {options} --resamples 100"));
        assert_eq!(document["schema"], format!("leakbound.membership-{schema}/1"));
        assert_eq!(document["inputs"][0]["name"], "s.npz");
        let auc = number(&document["levels"][0]["auc"]);
        println!("{attack}: AUC {auc}");
        // Correct answers say little about these confident models.
        assert!(auc > if attack == "label-only" { 0.1 } else { 0.6 }, "{attack}: {auc}");
    }
}

#[test]
fn victims_levels_and_classes_are_chosen() {
    let desk = recorded();
    let document =
        desk.json("membership lira s.npz --victims 0,3 --level population --per-class --resamples 0 --fpr 0.1");
    let levels = texts(&document["levels"], "level");
    assert_eq!(levels.len(), 4, "{levels:?}");
    assert_eq!(document["levels"][0]["members"], 12);
    assert_eq!(document["options"]["victims"], serde_json::json!([0, 3]));
    let sample = desk.json("membership lira s.npz --level sample --resamples 0");
    assert_eq!(rows(&sample["levels"]).len(), 2);
}

#[test]
fn every_form_of_a_recording_gives_the_same_scores() {
    let desk = recorded();
    fs::create_dir(desk.path("folder")).unwrap();
    desk.file("folder/logits.npy", npy(&logits()));
    desk.file("folder/labels.npy", npy(&labels()));
    desk.file("folder/keep.npy", npy(&keep()));
    let expected = desk.json("membership lira s.npz --resamples 0");
    for form in ["folder", "s*.npz", "--logits folder/logits.npy --labels folder/labels.npy --keep folder/keep.npy"] {
        let found = desk.json(&format!("membership lira {form} --resamples 0"));
        assert_eq!((&found["levels"], &found["roc"]), (&expected["levels"], &expected["roc"]), "{form}");
    }
}

#[test]
fn recordings_that_cannot_be_used_are_one_line() {
    let desk = recorded();
    let scores = |name: &str, scores: Array3<f32>, keep: Array2<bool>| {
        desk.compressed(name, &[("scores", &scores), ("keep", &keep)]);
    };
    scores("always.npz", Array3::zeros((4, 2, 1)), Array2::from_elem((4, 2), true));
    scores(
        "nan.npz",
        Array3::from_elem((4, 2, 1), f32::NAN),
        array![[true, false], [false, true], [true, true], [false, false]],
    );
    scores("single.npz", Array3::zeros((1, 2, 1)), array![[true, false]]);
    let whole = fs::read(desk.path("s.npz")).unwrap();
    desk.file("cut.npz", &whole[..whole.len() / 2]);
    desk.file("one.npy", b"\x93NUMPY");
    fs::create_dir(desk.path("empty")).unwrap();
    let rows = r"
        lira none.npz => 1: none.npz: cannot read: No such file or directory (os error 2)
        lira none*.npz => 1: none*.npz: whole file: found a pattern that no file fits, expected a pattern of at least 1 file
        lira always.npz => 1: always.npz: array `keep`: found only samples that every model was trained on or none, expected samples that some models were trained on and others were not
        lira nan.npz => 1: nan.npz: array `scores`, index [0, 0, 0]: found `NaN`, expected a number of magnitude up to 1e100
        lira single.npz => 1: single.npz: array `scores`: found a single model, expected at least 2 models: the others are what a victim is compared with; hint: of one model, audit the scores: that of each sample, and whether it was trained on it
        lira cut.npz => 1: cut.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
        lira one.npy => 1: one.npy: whole file: found a single array (.npy), expected shadow models: .npz, .csv, or a folder of arrays; hint: name its folder, or each array: `logits`, `labels` and `keep`
        lira empty => 1: empty: whole folder: found files none, expected `keep.npy` and `logits.npy`, `scores.npy` or `embeddings.npy`, or folders `experiment_I_of_N`
        lira s.npz --victims 16 => 2: victim = 16 is not in the models that were recorded, each once
        lira s.npz --variant leakpro => 2: LiRA: variant leakpro has one view of a sample, not 2
        lira s.npz always.npz => 1: always.npz: array `scores`: found scores, expected logits as in the files before it
        lira nan.npz --score hinge => 2: choice of a score: scores are recorded already; it is for recorded logits
        attacker always.npz => 1: always.npz: array `keep`: found only samples that every model was trained on or none, expected samples that some models were trained on and others were not
        rmia s.npz --gamma 0 => 2: gamma of RMIA = 0 is not in [1, inf)
        label-only s.npz --strength -1 => 2: strength C of a logistic regression = -1 is not in (0, inf)
        lira s.npz --keep s.npz => 2: --labels and --keep: they go with --logits or --scores; other recordings hold them
    ";
    desk.rejects("membership", rows);
}
