//! `leakbound torch pate-fm`, from images to what is audited in its recording.

use crate::cli_torch::IMAGES;
use crate::desk::{Desk, pairs, rows_of};
use crate::json::{codes, number, row};
use leakbound::record::ArrayFile;
use ndarray::{Array0, Array1, Array2, Array3};
use serde_json::Value;

/// Few teachers of few steps.
const SMALL: &str = "--device cpu --hidden 16 --teachers 6 --threshold 3 --threshold-noise gaussian:1 --noise \
                     gaussian:0.5 --labels 60 --queries 300 --canaries 300 --teacher-steps 30 --steps 40 --batch 16 \
                     --unlabeled-ratio 2 --confidence 0.8 --average 0.9 --learning-rate 0.05 --flip --shift 1 --seed 3";

fn train(desk: &Desk, options: &str) -> Value {
    desk.done_json(&format!("torch pate-fm --data {IMAGES} {SMALL} --quiet {options}"))
}

/// The same file on one and on two threads, and after a training that was resumed; then what the audit makes of it.
#[test]
fn a_recorded_student_is_audited() {
    let desk = Desk::new();
    let document = train(&desk, "--recording first.npz --threads 1");
    assert_eq!(document["schema"], "leakbound.torch-pate-fm/1");
    assert_eq!(codes(&document), ["data-dependent-epsilon"]);
    train(&desk, "--recording second.npz --threads 2 --checkpoint kept");
    desk.are_the_same(["first.npz", "second.npz"]);
    // As if the process had been killed while it wrote the answers of the last network, or of teachers.
    let all = std::fs::read(desk.path("kept")).unwrap();
    for length in [all.len() - 40, all.len() / 3] {
        desk.file("kept", &all[..length]);
        train(&desk, "--recording third.npz --checkpoint kept --resume");
        desk.are_the_same(["first.npz", "third.npz"]);
        assert_eq!(all.len(), std::fs::read(desk.path("kept")).unwrap().len());
    }

    let mut arrays = ArrayFile::open(desk.path("first.npz")).unwrap();
    let (votes, given): (Array2<u8>, Array1<i32>) =
        (arrays.array("votes").unwrap(), arrays.array("given_label").unwrap());
    assert_eq!((votes.dim(), given.iter().filter(|&&label| label >= 0).count()), ((300, 6), 60));
    let fact = |name: &str| number(&row(&document["facts"], "name", name)["value"]);
    let epsilon: Array0<f64> = arrays.array("epsilon").unwrap();
    assert_eq!(fact("epsilon"), epsilon[()]);
    assert!(fact("data-dependent-epsilon") < epsilon[()] && fact("labels") == 60.0);
    // A valid guarantee is refuted for one seed in twenty.
    desk.done(&format!("label-dp memorization first.npz --delta 1e-5 --claim-epsilon {} --quiet", epsilon[()]));
}

/// Several runs have an axis of their own; the first is the one that is trained alone with the same seed.
#[test]
fn runs_have_an_axis() {
    let desk = Desk::new();
    let options = "--steps 20 --teacher-steps 20 --labels-per-class 5 --answers 100 --threshold-form max";
    let replaced = |recording: &str, runs: u32| {
        let small = SMALL.replace("--labels 60 ", "").replace("--teacher-steps 30 --steps 40 ", "");
        desk.done_json(&format!(
            "torch pate-fm --data {IMAGES} {small} {options} --runs {runs} --recording {recording} --quiet"
        ))
    };
    let document = replaced("two.npz", 2);
    assert_eq!(codes(&document)[..2], ["data-dependent-epsilon", "runs-add-up"]);
    replaced("one.npz", 1);
    let [mut one, mut two] = ["one.npz", "two.npz"].map(|name| ArrayFile::open(desk.path(name)).unwrap());
    let (logits, canaries): (Array3<f32>, Array2<i32>) =
        (two.array("logits").unwrap(), two.array("canary_index").unwrap());
    assert_eq!((logits.dim(), canaries.dim()), ((2, 300, 10), (2, 300)));
    let alone: Array1<i32> = one.array("canary_index").unwrap();
    assert!(canaries.row(0) == alone && canaries.row(1) != alone);
    let (given, used): (Array2<i32>, Array2<bool>) =
        (two.array("given_label").unwrap(), two.array("label_used").unwrap());
    for (given, used) in given.outer_iter().zip(used.outer_iter()) {
        assert!(given.iter().filter(|&&label| label >= 0).count() <= 100);
        let learned = |class: i32| given.iter().zip(used).filter(|&(&label, &used)| used && label == class).count();
        assert!((0..10).all(|class| learned(class) <= 5));
    }
}

#[test]
fn students_that_cannot_be_trained_are_rejected_in_one_line() {
    let desk = Desk::new();
    let rejected = |options: &str| {
        desk.run(&format!("torch pate-fm --data {IMAGES} --recording student.npz --device cpu --quiet {options}"))
    };
    for (options, message) in
        pairs(&rows_of("cli_torch_pate_fm", "students_that_cannot_be_trained_are_rejected_in_one_line"))
    {
        assert_eq!(rejected(options).line(2), message, "{options}");
    }
    for options in rows_of("cli_torch_pate_fm", "students_that_cannot_be_trained_are_rejected_in_one_line 2").lines() {
        let ran = rejected(options);
        assert!(ran.status == 2 && ran.stderr.starts_with("error: "), "{ran:?}");
    }
    assert!(!desk.path("student.npz").exists());
}
