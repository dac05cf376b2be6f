//! `leakbound torch pate-fm`, from images to what is audited in its recording.

use crate::cli_torch::{IMAGES, leakbound};
use crate::json::codes;
use leakbound::record::ArrayFile;
use ndarray::{Array0, Array1, Array2, Array3};

/// Few teachers of few steps.
const SMALL: &str = "--device cpu --hidden 16 --teachers 6 --threshold 3 --threshold-noise gaussian:1 --noise \
                     gaussian:0.5 --labels 60 --queries 300 --canaries 300 --teacher-steps 30 --steps 40 --batch 16 \
                     --unlabeled-ratio 2 --confidence 0.8 --average 0.9 --learning-rate 0.05 --flip --shift 1 --seed 3";

fn train(options: &str) -> (serde_json::Value, String) {
    let (status, stdout, stderr) =
        leakbound(&format!("torch pate-fm --data {IMAGES} {SMALL} --quiet --format json {options}"));
    assert_eq!(status, 0, "{stderr}");
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

/// The same file on one and on two threads, and after a training that was resumed; then what the audit makes of it.
#[test]
fn a_recorded_student_is_audited() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let [first, second, third, kept] = ["first.npz", "second.npz", "third.npz", "votes.checkpoint"].map(place);
    let (document, _) = train(&format!("--recording {first} --threads 1"));
    assert_eq!(document["schema"], "leakbound.torch-pate-fm/1");
    assert_eq!(codes(&document), ["data-dependent-epsilon"]);
    train(&format!("--recording {second} --threads 2 --checkpoint {kept}"));
    let whole = std::fs::read(&first).unwrap();
    assert!(whole == std::fs::read(&second).unwrap());
    // As if the process had been killed while it wrote the answers of the last network, or of teachers.
    let all = std::fs::read(&kept).unwrap();
    for length in [all.len() - 40, all.len() / 3] {
        std::fs::write(&kept, &all[..length]).unwrap();
        train(&format!("--recording {third} --checkpoint {kept} --resume"));
        assert!(whole == std::fs::read(&third).unwrap() && all.len() == std::fs::read(&kept).unwrap().len());
    }

    let mut arrays = ArrayFile::open(&first).unwrap();
    let (votes, given): (Array2<u8>, Array1<i32>) =
        (arrays.array("votes").unwrap(), arrays.array("given_label").unwrap());
    assert_eq!((votes.dim(), given.iter().filter(|&&label| label >= 0).count()), ((300, 6), 60));
    let facts = document["facts"].as_array().unwrap();
    let fact = |name: &str| facts.iter().find(|fact| fact["name"] == name).unwrap()["value"].as_f64().unwrap();
    let epsilon: Array0<f64> = arrays.array("epsilon").unwrap();
    assert_eq!(fact("epsilon"), epsilon[()]);
    assert!(fact("data-dependent-epsilon") < epsilon[()] && fact("labels") == 60.0);
    // A valid guarantee is refuted for one seed in twenty.
    let (status, stdout, stderr) =
        leakbound(&format!("label-dp memorization {first} --delta 1e-5 --claim-epsilon {} --quiet", epsilon[()]));
    assert_eq!(status, 0, "{stdout} {stderr}");
}

/// Several runs have an axis of their own; the first is the one that is trained alone with the same seed.
#[test]
fn runs_have_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let [one, two] = ["one.npz", "two.npz"].map(place);
    let options = "--labels-per-class 5 --answers 100 --threshold-form max";
    let options = format!("{} {options}", "--steps 20 --teacher-steps 20");
    let replaced = |recording: &str, runs: u32| {
        let small = SMALL.replace("--labels 60 ", "").replace("--teacher-steps 30 --steps 40 ", "");
        let (status, stdout, stderr) = leakbound(&format!(
            "torch pate-fm --data {IMAGES} {small} {options} --runs {runs} --recording {recording} --quiet --format json"
        ));
        assert_eq!(status, 0, "{stderr}");
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let document = replaced(&two, 2);
    assert_eq!(codes(&document)[..2], ["data-dependent-epsilon", "runs-add-up"]);
    replaced(&one, 1);
    let [mut one, mut two] = [one, two].map(|path| ArrayFile::open(path).unwrap());
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
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("student.npz");
    let rejected = |options: &str| {
        let recording = recording.display();
        leakbound(&format!("torch pate-fm --data {IMAGES} --recording {recording} --device cpu --quiet {options}"))
    };
    for (options, message) in [
        ("--teachers 2001", "error: PATE-FM: 2001 teachers of 2000 training images\n"),
        ("--queries 2001", "error: PATE-FM: 2001 queries of 2000 training images\n"),
        ("--canaries 2001", "error: PATE-FM: 2001 canaries of 2000 training images\n"),
        ("--labels 1001", "error: PATE-FM: 1001 labels, but 1000 answers at most; allow more answers and queries\n"),
        (
            "--labels-per-class 10 --answers 99",
            "error: PATE-FM: 100 labels, but 99 answers at most; allow more answers and queries\n",
        ),
        ("--shift 28", "error: augmentation: a shift of 28 pixels leaves nothing of an image of 28 x 28\n"),
        ("--noise laplace:3", "error: --noise: Confident-GNMax has Gaussian noise, not laplace:3\n"),
    ] {
        assert_eq!(rejected(options), (2, String::new(), message.into()), "{options}");
    }
    for options in [
        "--labels 10 --labels-per-class 3",
        "--answers 10",
        "--confidence 1.5",
        "--unlabeled-weight -1",
        "--average 1",
        "--runs 0",
        "--delta 2",
        "--threshold nan",
        "--resume",
    ] {
        let (status, _, stderr) = rejected(options);
        assert!(status == 2 && stderr.starts_with("error: "), "{options}: {stderr}");
    }
    assert!(!recording.exists());
}
