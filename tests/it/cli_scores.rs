//! The command on scores of canaries, wrong labels and properties.

use assert_cmd::Command;
use ndarray::{Array1, Array2, Array4};
use ndarray_npy::{NpzWriter, WriteNpyExt};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn leakbound() -> Command {
    let mut command = Command::cargo_bin("leakbound").unwrap();
    command.env("NO_COLOR", "1").env_remove("COLUMNS");
    command
}

/// stdout and the exit status.
fn run(arguments: &[&str]) -> (String, i32) {
    let output = leakbound().args(arguments).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), output.status.code().unwrap())
}

/// The one line on stderr and the exit status.
fn fails(arguments: &[&str]) -> (String, i32) {
    let output = leakbound().args(arguments).output().unwrap();
    assert!(output.stdout.is_empty());
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(line.lines().count(), 1, "{line}");
    (line.trim_end().to_owned(), output.status.code().unwrap())
}

fn json(arguments: &[&str]) -> Value {
    let (text, _) = run(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }

    fn array(&self, name: &str, values: &[f64]) -> String {
        let mut bytes = Vec::new();
        Array1::from(values.to_vec()).write_npy(&mut bytes).unwrap();
        self.write(name, bytes)
    }
}

/// 300 members at 0, 1, ..., others 150 lower.
fn grid() -> (Vec<f64>, Vec<f64>) {
    ((0..300).map(f64::from).collect(), (-150..150).map(f64::from).collect())
}

fn table() -> String {
    let (members, others) = grid();
    let rows =
        members.iter().map(|score| format!("{score},1\n")).chain(others.iter().map(|score| format!("{score},0\n")));
    "score,member\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn both_forms_of_files_give_the_same_bounds() {
    let folder = Folder::new();
    let (members, others) = grid();
    let (csv, members, others) =
        (folder.write("s.csv", table()), folder.array("in.npy", &members), folder.array("out.npy", &others));
    for selection in ["split", "multi-split", "uniform"] {
        let of_table = json(&["audit", "scores", &csv, "--selection", selection, "--epsilons", "0.5"]);
        let of_arrays = json(&[
            "audit",
            "scores",
            "--members",
            &members,
            "--non-members",
            &others,
            "--selection",
            selection,
            "--epsilons",
            "0.5",
        ]);
        for key in ["epsilon", "mu", "epsilon_of_mu", "delta", "rates", "members", "non_members"] {
            assert_eq!(of_table[key], of_arrays[key], "{selection} {key}");
        }
        assert_eq!(of_table["schema"], "leakbound.audit-scores/1");
        assert_eq!(of_arrays["inputs"].as_array().unwrap().len(), 2);
        for row in of_table["epsilon"].as_array().unwrap() {
            assert_eq!((&row["validity"], &row["selection"]), (&"finite-sample".into(), &selection.into()));
            assert_eq!(row["failure_probability"], 0.05);
        }
        assert!(of_table["mu"][0]["lower"].as_f64().unwrap() > 0.5);
        assert_eq!(of_table["epsilon_of_mu"][0]["validity"], "heuristic");
    }
}

#[test]
fn a_declared_threshold_is_a_confusion_matrix() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let scores = json(&["audit", "scores", &csv, "--threshold", "100", "--delta", "0"]);
    let confusion = json(&[
        "audit",
        "confusion",
        "--tp",
        "200",
        "--fn",
        "100",
        "--fp",
        "50",
        "--tn",
        "250",
        "--delta",
        "0",
        "--methods",
        "clopper-pearson",
        "--direction",
        "forward",
    ]);
    assert_eq!(scores["rates"][0]["true_positives"], 200);
    let epsilon = scores["epsilon"][0]["lower"].as_f64().unwrap();
    assert!((epsilon - confusion["epsilon"][0]["epsilon_lower"].as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn low_scores_may_mean_members() {
    let folder = Folder::new();
    let (members, others) = grid();
    let negated = |scores: &[f64]| scores.iter().map(|score| -score).collect::<Vec<_>>();
    let high = [folder.array("a.npy", &members), folder.array("b.npy", &others)];
    let low = [folder.array("c.npy", &negated(&members)), folder.array("d.npy", &negated(&others))];
    let plain = json(&["audit", "scores", "--members", &high[0], "--non-members", &high[1]]);
    for flag in ["--flip", "--low-is-member"] {
        let flipped = json(&["audit", "scores", "--members", &low[0], "--non-members", &low[1], flag]);
        assert_eq!(plain["epsilon"], flipped["epsilon"]);
    }
    let upside_down = json(&["audit", "scores", "--members", &low[0], "--non-members", &low[1]]);
    assert_eq!(upside_down["warnings"][0]["code"], "direction-contradicted");
    assert_eq!(upside_down["epsilon"][0]["lower"], 0.0);
}

#[test]
fn refuted_claims_end_with_status_three() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let status = |more: &[&str]| run(&[&["audit", "scores", &csv], more].concat()).1;
    assert_eq!(status(&["--claim-epsilon", "0.1"]), 3);
    assert_eq!(status(&["--claim-mu", "0.1"]), 3);
    assert_eq!(status(&["--claim-epsilon", "20", "--claim-mu", "20"]), 0);
    assert_eq!(status(&["--one-run", "--claim-epsilon", "0.01", "--delta", "0", "--guesses", "100,100"]), 3);
    let (line, code) = fails(&["audit", "scores", &csv, "--selection", "naive", "--claim-epsilon", "0.1"]);
    assert!(code == 2 && line.contains("guarantees nothing"), "{line}");
}

#[test]
fn naive_selection_shows_what_it_does_to_noise() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let (text, status) = run(&["audit", "scores", &csv, "--selection", "naive"]);
    assert!(status == 0 && text.contains("heuristic") && !text.contains("finite-sample"), "{text}");
    let document = json(&["audit", "scores", &csv, "--selection", "naive"]);
    let rate = document["false_claims"]["rate"].as_f64().unwrap();
    assert_eq!(document["warnings"][0]["code"], "naive-selection");
    assert!(rate > 0.0 && rate < 0.3, "{rate}");
}

#[test]
fn one_run_prints_its_guesses() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let declared = json(&["audit", "scores", &csv, "--one-run", "--guesses", "100,50"]);
    let one_run = &declared["one_run"];
    assert_eq!((&one_run["guessed_members"], &one_run["guessed_non_members"]), (&100.into(), &50.into()));
    // The highest 150 scores are members, the lowest 150 are not.
    assert_eq!((&one_run["right"], &one_run["canaries"]), (&150.into(), &600.into()));
    assert_eq!(declared["epsilon"][0]["method"], "one-run");
    for selection in ["split", "paid-for", "naive"] {
        let document = json(&["audit", "scores", &csv, "--one-run", "--guess-selection", selection]);
        assert_eq!(document["one_run"]["selection"], selection);
        let validity = if selection == "naive" { "heuristic" } else { "finite-sample" };
        assert_eq!(document["epsilon"][0]["validity"], validity);
    }
}

#[test]
fn text_table_and_page() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let page = folder.path("page.html").display().to_string();
    let (text, _) = run(&["audit", "scores", &csv, "--report", &page]);
    assert!(text.contains("300 members and 300 non-members") && text.contains("uniform-band"));
    let (rows, _) = run(&["audit", "scores", &csv, "--format", "csv"]);
    assert!(rows.starts_with(
        "quantity,method,selection,direction,delta,epsilon,threshold,lower,failure_probability,validity\n"
    ));
    assert_eq!(rows.lines().count(), 5);
    let html = std::fs::read_to_string(Path::new(&page)).unwrap();
    roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() },
    )
    .unwrap();
    assert!(html.contains("ROC curve of the attack") && html.contains("<svg"));
}

#[test]
fn bad_scores_end_with_one_line() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", "score,member\n1,1\n");
    let one = folder.write("one.csv", "score,member\n1,1\n0,0\n");
    let nan = folder.array("nan.npy", &[f64::NAN]);
    let out = folder.array("out.npy", &[0.0]);
    let cases: [(&[&str], i32, &str); 11] = [
        (&[&csv], 1, "no non-members (member = 0), expected canaries of both kinds"),
        (&["/nowhere.csv"], 1, "cannot read"),
        (&["--members", &nan, "--non-members", &out], 1, "index [0]: found `NaN`"),
        (&["--members", &csv, "--non-members", &out], 1, "a numpy array (.npy) of scores"),
        (&[&one, "--selection", "split"], 2, "cannot be split in two"),
        (&[&one, "--threshold", "nan"], 2, "threshold = NaN is not in [-inf, inf]"),
        (&[&one, "--one-run", "--guesses", "2,1"], 2, "expected 1 to 2 guesses"),
        (&[&one, "--one-run", "--guesses", "2"], 2, "`2` is not K+,K- such as 100,50"),
        (&[&one, "--one-run", "--guesses", "-1,1"], 2, "is not a whole number"),
        (&[&one, "--failure-probability", "0"], 2, "failure probability = 0 is not in (0, 1)"),
        (&[&one, "--delta", "1"], 2, "delta = 1 is not in [0, 1)"),
    ];
    for (arguments, status, expected) in cases {
        let (line, code) = fails(&[&["audit", "scores"], arguments].concat());
        assert!(code == status && line.contains(expected), "{arguments:?}: {code} {line}");
    }
    for arguments in [&["--members", &*out][..], &[&one, "--one-run", "--threshold", "1"], &[&one, "--guesses", "1,1"]]
    {
        let output = leakbound().args(["audit", "scores"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// Fixed seed; each of 14 rows would be above what is accepted with probability 1e-3 at most if it were wrong as often
/// as it may be, and they are wrong far less often.
#[test]
fn a_self_check_keeps_its_word() {
    let folder = Folder::new();
    let csv = folder.write("s.csv", table());
    let document = json(&["self-check", "audit", "scores", &csv, "--repetitions", "40", "--delta", "0"]);
    assert_eq!(document["schema"], "leakbound.self-check-scores/1");
    let checks = document["checks"].as_array().unwrap();
    assert_eq!((checks.len(), &document["members"]), (16, &300.into()));
    for check in checks {
        let naive = check["method"].as_str().unwrap().contains("naive");
        assert_eq!(check["validity"], if naive { "heuristic" } else { "finite-sample" });
        assert!(naive || check["verdict"] == "kept");
    }
    let (text, status) = run(&["self-check", "audit", "scores", &csv, "--repetitions", "5"]);
    assert!(status == 0 && text.contains("multi-split") && text.contains("one-run paid-for"));
    let (rows, _) = run(&["self-check", "audit", "scores", &csv, "--repetitions", "5", "--format", "csv"]);
    assert_eq!(rows.lines().count(), 17);
}

#[test]
fn memorized_labels() {
    let folder = Folder::new();
    let (canaries, classes) = (200, 10);
    let path = folder.path("labels.npz");
    let mut writer = NpzWriter::new(std::fs::File::create(&path).unwrap());
    let trained: Vec<i64> = (0..canaries).map(|canary| 1 + canary % 9).collect();
    let probabilities = Array2::from_shape_fn((canaries as usize, classes), |(canary, class)| {
        if class as i64 == trained[canary] { 0.82f32 } else { 0.02 }
    });
    writer.add_array("probabilities", &probabilities).unwrap();
    writer.add_array("labels_true", &Array1::<i64>::zeros(canaries as usize)).unwrap();
    writer.add_array("labels_trained", &Array1::from(trained)).unwrap();
    writer.finish().unwrap();
    let path = path.display().to_string();
    let document = json(&["label-dp", "memorization", &path, "--threshold", "0.5"]);
    assert_eq!(document["schema"], "leakbound.label-dp-memorization/1");
    let [valid, published] = [&document["epsilon"][0], &document["epsilon"][1]];
    assert_eq!((&valid["guesses"], &valid["right"]), (&200.into(), &200.into()));
    assert!((valid["epsilon_lower"].as_f64().unwrap() - 4.194).abs() < 1e-3);
    assert_eq!((&valid["validity"], &published["validity"]), (&"finite-sample".into(), &"heuristic".into()));
    assert_eq!(published["epsilon_upper"], "inf");
    assert_eq!(run(&["label-dp", "memorization", &path, "--claim-epsilon", "1"]).1, 3);
    assert_eq!(run(&["label-dp", "memorization", &path, "--claim-epsilon", "9"]).1, 0);
    let (rows, _) = run(&["label-dp", "memorization", &path, "--format", "csv"]);
    assert_eq!(rows.lines().count(), 3);
    let wrong = folder.write("l.csv", "label_true,label_trained,p_0,p_1,p_2\n0,0,1,0,0\n");
    let (line, code) = fails(&["label-dp", "memorization", &wrong]);
    assert!(code == 1 && line.contains("line 2, column label_trained: found `0`"), "{line}");
    let (line, code) = fails(&["label-dp", "memorization", &path, "--threshold", "1.5"]);
    assert!(code == 2 && line.contains("[0, 1]"), "{line}");
}

#[test]
fn properties_by_distance() {
    let folder = Folder::new();
    let write = |name: &str, student: &Array2<f64>, ensembles: &Array4<f64>| {
        let path = folder.path(name);
        let mut writer = NpzWriter::new(std::fs::File::create(&path).unwrap());
        writer.add_array("student", student).unwrap();
        writer.add_array("ensembles", ensembles).unwrap();
        writer.finish().unwrap();
        path.display().to_string()
    };
    let two = |p: f64, class: usize| if class == 0 { p } else { 1.0 - p };
    let student = Array2::from_shape_fn((20, 2), |(_, class)| two(0.7, class));
    let ensembles = Array4::from_shape_fn((3, 5, 20, 2), |(value, member, _, class)| {
        two(0.2 + 0.25 * value as f64 + 0.005 * member as f64, class)
    });
    let path = write("p.npz", &student, &ensembles);
    let document = json(&["property", "distance", &path]);
    assert_eq!((&document["schema"], &document["inferred"]), (&"leakbound.property-distance/1".into(), &2.into()));
    assert!(document["p_value"].as_f64().unwrap() < 0.01);
    assert_eq!(document["distances"].as_array().unwrap().len(), 3);
    let (text, _) = run(&["property", "distance", &path, "--permutations", "99"]);
    assert!(text.contains("Property value 2") && text.contains("inferred"));
    let single = Array4::from_elem((2, 1, 20, 2), 0.5);
    let document = json(&["property", "distance", &write("one.npz", &student, &single)]);
    assert_eq!(document["warnings"][0]["code"], "single-members");
    let (line, code) =
        fails(&["property", "distance", &write("s.npz", &student, &Array4::from_elem((2, 1, 20, 2), 0.4))]);
    assert!(code == 1 && line.contains("sum of the probabilities of a point"), "{line}");
    let (line, code) =
        fails(&["property", "distance", &write("t.npz", &student, &Array4::from_elem((2, 1, 3, 2), 0.5))]);
    assert!(code == 1 && line.contains("points and classes of `student`"), "{line}");
}
