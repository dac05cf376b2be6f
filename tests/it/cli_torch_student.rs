//! `leakbound torch student`, from images to what other commands make of its recording.

use crate::cli_torch::IMAGES;
use crate::desk::{Desk, pairs, rows_of};
use crate::json::{codes, number, rows};
use leakbound::record::ArrayFile;
use ndarray::{Array1, Array2};

/// From images to students, the same file again, and what other commands make of it.
#[test]
fn recorded_students_are_accounted_and_attacked() {
    let desk = Desk::new();
    let train = |recording: &str, options: &str| {
        desk.done_json(&format!(
            "torch student --data {IMAGES} --recording {recording} --device cpu --teachers 10 --hidden 16 --epochs 6 \
             --threshold 6 --threshold-noise gaussian:3 --noise gaussian:1.5 --student-batch 16 --private 100 --quiet \
             {options}"
        ))
    };
    let repeated = "--budgets 20,50 --baselines 1 --runs 2 --seed 3 --threads";
    let document = train("first.npz", &format!("{repeated} 1"));
    assert_eq!(document["schema"], "leakbound.torch-student/1");
    let students = rows(&document["students"]);
    assert_eq!(students.len(), 4);
    for row in students {
        assert!(number(&row["epsilon"]) <= number(&row["budget"]), "{row}");
    }
    assert_eq!(codes(&document), ["data-dependent-costs", "runs-add-up"]);
    train("second.npz", &format!("{repeated} 2"));
    desk.are_the_same(["first.npz", "second.npz"]);
    // The second run again, from its votes, its noise and its order of queries: the same figures to the last digit.
    let mut arrays = ArrayFile::open(desk.path("first.npz")).unwrap();
    let order: Array2<i32> = arrays.array("query_order").unwrap();
    let seeds: Array1<u64> = arrays.array("label_seed").unwrap();
    let queries: Vec<String> = order.row(1).iter().map(ToString::to_string).collect();
    let account = desk.done_json(&format!(
        "account first.npz --noise gaussian:1.5 --threshold 6 --threshold-noise gaussian:3 --no-exact --instantiation 1 \
         --queries {} --seed {} --budget 20,50",
        queries.join(","),
        seeds[1]
    ));
    for (account, student) in rows(&account["budgets"]).iter().zip(&students[2..]) {
        for field in ["budget", "delta", "epsilon", "queries", "labels", "success_rate", "label_accuracy"] {
            assert_eq!(account[field], student[field], "{field}");
        }
    }
    let stdout = desk.done("membership threshold first.npz --resamples 0");
    assert!(stdout.contains("4 of 4 models as victims, 401 samples"), "{stdout}");
    let attacked = desk.done_json("membership students first.npz");
    let budgets: Vec<_> = rows(&attacked["budgets"]).iter().map(|row| row["budget"].clone()).collect();
    // The baseline is last and has no budget.
    assert_eq!(serde_json::json!(budgets), serde_json::json!([20.0, 50.0, null]));
    assert_eq!(codes(&attacked), ["given-the-models"]);
    // Without a budget every query is made.
    let document = train("endless.npz", "--budgets 20,inf");
    assert_eq!(document["students"][1]["budget"], "inf");
    assert_eq!(document["options"]["budgets"][1], "inf");
    assert_eq!(document["students"][1]["queries"], 401);
    assert_eq!(codes(&document), ["data-dependent-costs"]);
    let stdout = desk.done("membership students endless.npz");
    assert!(stdout.lines().any(|line| line.trim_start().starts_with("inf ")), "{stdout}");
    desk.ends(1, &format!("membership students {IMAGES}"), "expected the array `private_logits`");
}

#[test]
fn students_that_cannot_be_trained_are_rejected_in_one_line() {
    let desk = Desk::new();
    let rejected = |options: &str| {
        desk.run(&format!("torch student --data {IMAGES} --recording students.npz --device cpu --quiet {options}"))
    };
    for (options, message) in
        pairs(&rows_of("cli_torch_student", "students_that_cannot_be_trained_are_rejected_in_one_line"))
    {
        assert_eq!(rejected(options).line(2), message, "{options}");
    }
    for options in ["--budgets nan", "--public 1", "--runs 0", "--delta 2", "--student-decay nan", "--epochs 0"] {
        assert_eq!(rejected(options).status, 2, "{options}");
    }
    assert!(!desk.path("students.npz").exists());
}
