//! `leakbound torch student`, from images to what other commands make of its recording.

use crate::cli_torch::{IMAGES, leakbound};
use crate::json::codes;
use leakbound::record::ArrayFile;
use ndarray::{Array1, Array2};

/// From images to students, the same file again, and what other commands make of it.
#[test]
fn recorded_students_are_accounted_and_attacked() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let train = |recording: &str, threads: u32| {
        let (status, stdout, stderr) = leakbound(&format!(
            "torch student --data {IMAGES} --recording {recording} --device cpu --teachers 10 --hidden 16 --epochs 6 \
             --threshold 6 --threshold-noise gaussian:3 --noise gaussian:1.5 --budgets 20,50 --student-batch 16 \
             --private 100 --baselines 1 --runs 2 --seed 3 --threads {threads} --quiet --format json"
        ));
        assert_eq!(status, 0, "{stderr}");
        stdout
    };
    let [first, second] = ["first.npz", "second.npz"].map(place);
    let document: serde_json::Value = serde_json::from_str(&train(&first, 1)).unwrap();
    assert_eq!(document["schema"], "leakbound.torch-student/1");
    let rows = document["students"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(row["epsilon"].as_f64().unwrap() <= row["budget"].as_f64().unwrap(), "{row}");
    }
    assert_eq!(codes(&document), ["data-dependent-costs", "runs-add-up"]);
    train(&second, 2);
    assert!(std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap());
    // The second run again, from its votes, its noise and its order of queries: the same figures to the last digit.
    let mut arrays = ArrayFile::open(&first).unwrap();
    let order: Array2<i32> = arrays.array("query_order").unwrap();
    let seeds: Array1<u64> = arrays.array("label_seed").unwrap();
    let queries: Vec<String> = order.row(1).iter().map(ToString::to_string).collect();
    let (status, stdout, stderr) = leakbound(&format!(
        "account {first} --noise gaussian:1.5 --threshold 6 --threshold-noise gaussian:3 --no-exact --instantiation 1 \
         --queries {} --seed {} --budget 20,50 --format json",
        queries.join(","),
        seeds[1]
    ));
    assert_eq!(status, 0, "{stderr}");
    let account: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    for (account, student) in account["budgets"].as_array().unwrap().iter().zip(&rows[2..]) {
        for field in ["budget", "delta", "epsilon", "queries", "labels", "success_rate", "label_accuracy"] {
            assert_eq!(account[field], student[field], "{field}");
        }
    }
    let (status, stdout, stderr) = leakbound(&format!("membership threshold {first} --resamples 0"));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("4 of 4 models as victims, 401 samples"), "{stdout}");
    let (status, stdout, stderr) = leakbound(&format!("membership students {first} --format json"));
    assert_eq!(status, 0, "{stderr}");
    let attacked: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let budgets: Vec<_> = attacked["budgets"].as_array().unwrap().iter().map(|row| row["budget"].clone()).collect();
    // The baseline is last and has no budget.
    assert_eq!(serde_json::json!(budgets), serde_json::json!([20.0, 50.0, null]));
    assert_eq!(codes(&attacked), ["given-the-models"]);
    // Without a budget every query is made.
    let endless = place("endless.npz");
    let (status, stdout, stderr) = leakbound(&format!(
        "torch student --data {IMAGES} --recording {endless} --device cpu --teachers 10 --hidden 16 --epochs 6 \
         --threshold 6 --threshold-noise gaussian:3 --noise gaussian:1.5 --budgets 20,inf --student-batch 16 --private \
         100 --quiet --format json"
    ));
    assert_eq!(status, 0, "{stderr}");
    let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&document["students"][1]["budget"], &document["options"]["budgets"][1]),
        (&"inf".into(), &"inf".into())
    );
    assert_eq!(document["students"][1]["queries"], 401);
    assert_eq!(codes(&document), ["data-dependent-costs"]);
    let (status, stdout, stderr) = leakbound(&format!("membership students {endless}"));
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.lines().any(|line| line.trim_start().starts_with("inf ")), "{stdout}");
    let (status, _, stderr) = leakbound(&format!("membership students {IMAGES}"));
    assert!(status == 1 && stderr.contains("expected the array `private_logits`"), "{stderr}");
}

#[test]
fn students_that_cannot_be_trained_are_rejected_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("students.npz");
    let rejected = |options: &str| {
        let recording = recording.display();
        leakbound(&format!("torch student --data {IMAGES} --recording {recording} --device cpu --quiet {options}"))
    };
    for (options, message) in [
        ("--noise laplace:2", "error: --noise: Confident-GNMax has Gaussian noise, not laplace:2\n"),
        ("--teachers 3000", "error: images of a teacher = 0 is not in [1, inf)\n"),
        ("--budgets 0", "error: budget = 0 is not in (0, inf]\n"),
        ("--private 1e5", "error: students: 100000 private images of 2000 training images\n"),
        ("--public 0.999", "error: students: 500 public images and 0 to measure with, of 500\n"),
    ] {
        let (status, stdout, stderr) = rejected(options);
        assert_eq!((status, stdout.as_str(), stderr.as_str()), (2, "", message), "{options}");
    }
    for options in ["--budgets nan", "--public 1", "--runs 0", "--delta 2", "--student-decay nan", "--epochs 0"] {
        assert_eq!(rejected(options).0, 2, "{options}");
    }
    assert!(!recording.exists());
}
