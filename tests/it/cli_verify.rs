//! `leakbound verify` as its user sees it.

use crate::desk::{Desk, Words};
use crate::json::{number, row, rows};
use serde_json::Value;
use std::time::{Duration, Instant};

/// What `leakbound verify` prints in the root of the repository, ending with this status.
fn printed(status: i32, words: &(impl Words + ?Sized)) -> String {
    Desk::root().run(&[&["verify"], &words.words()[..]].concat()).printed(status)
}

fn json(status: i32, words: &(impl Words + ?Sized)) -> Value {
    Desk::root().answer(status, &[&["verify"], &words.words()[..]].concat())
}

/// The line of a rejected run.
fn rejected(status: i32, words: &(impl Words + ?Sized)) -> String {
    Desk::root().rejected(status, &[&["verify"], &words.words()[..]].concat())
}

/// The command that shows a counterexample again refutes again.
fn shows_it_again(command: &Value) {
    let words = shell_words::split(command.as_str().unwrap()).unwrap();
    assert_eq!(words[0], "leakbound");
    Desk::root().run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>()).printed(3);
}

#[test]
fn a_wrong_accountant_ends_with_three_and_its_commands_repeat_it() {
    let document = json(3, "--accountant broken:gnmax-half --cases 300");
    assert_eq!(document["schema"], "leakbound.verify/1");
    assert_eq!(document["refuted"], true);
    let row = &document["properties"][0];
    assert_eq!((&row["property"], &row["verdict"]), (&"rdp-covers-exact".into(), &"refuted".into()));
    let found = &row["counterexample"];
    let violation = |name: &str| number(&found["violation"][name]);
    assert!(violation("limit") > violation("claim") && number(&found["margin"]) > 100.0 * violation("error"));
    assert!(rows(&found["case"]["histogram"]).len() <= 3);
    rows(&found["reproduce"]).iter().for_each(shows_it_again);
}

#[test]
fn a_right_accountant_ends_with_zero_and_the_seed_repeats_the_run() {
    let words = "--accountant gnmax-data-dependent --cases 150 --seed 3";
    let with = |more: &str| {
        let mut document = json(0, &format!("{words} {more}"));
        document["options"]["threads"] = Value::Null;
        document
    };
    let document = with("");
    assert_eq!(document, with("--threads 3"));
    assert_ne!(document["properties"], json(0, &words.replace("--seed 3", "--seed 4"))["properties"]);
    let text = printed(0, words);
    assert!(text.contains("not-refuted: no case was found; that is not a proof"), "{text}");
    let csv = printed(0, &format!("{words} --format csv"));
    assert!(csv.starts_with("accountant,property,kind,verdict,cases,"), "{csv}");
}

#[test]
fn simulation_refutes_with_a_stated_probability_of_error() {
    let words = "--accountant broken:threshold-forgotten --cases 300 --simulate 6e4 --seed 1";
    let document = json(3, &format!("{words} --failure-probability 1e-6"));
    let row = &document["properties"][0];
    assert_eq!(row["property"], "rdp-covers-simulated");
    assert!(row["counterexample"]["violation"]["words"].as_str().unwrap().contains("wrong with probability"));
}

/// A script as the command of an accountant.
#[cfg(unix)]
fn script(text: &str) -> String {
    shell_words::join(["sh", "-c", text])
}

#[cfg(unix)]
#[test]
fn what_a_program_does_wrong_is_a_finding_with_a_command_that_repeats_it() {
    let loops = |answer: &str| format!("while read x; do printf '{answer}\\n'; done");
    let cases = [
        ("crash", "echo boom >&2; exit 7".to_owned(), "exit status: 7); stderr: boom"),
        ("time-out", "exec sleep 100".to_owned(), "no answer in 0.4 s"),
        ("not-a-number", loops("{\"value\": NaN}"), "the claim is NaN"),
        ("malformed", loops("hello"), "`hello` is not an answer"),
        ("malformed", loops("{\"value\": \"much\"}"), "expected a number or"),
        ("unasked", loops("{\"value\": 1}\\n{\"value\": 2}"), "a line that no request called for"),
        ("too-long", "head -c 100000 /dev/zero | tr '\\0' x; echo; sleep 9".to_owned(), "more than 65536 bytes"),
    ];
    for (kind, text, message) in cases {
        let command = script(&text);
        let start = Instant::now();
        let timeouts = ["--start-timeout", "0.4", "--answer-timeout", "0.4"];
        let patient = ["--start-timeout", "60"];
        let limits = if kind == "time-out" { &timeouts[..] } else { &patient[..] };
        let arguments = [&["--program", &command, "--property", "rdp-covers-exact", "--cases", "20"], limits].concat();
        let document = json(3, &arguments);
        let found = &document["properties"][0]["counterexample"];
        assert_eq!(found["fault"]["kind"], kind, "{text}: {found}");
        assert!(found["fault"]["message"].as_str().unwrap().contains(message), "{text}: {found}");
        shows_it_again(&found["reproduce"][0]);
        assert!(start.elapsed() < Duration::from_secs(30), "{text}: {:?}", start.elapsed());
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_promises_nothing_or_declines_is_not_refuted() {
    let infinite = script("while read x; do echo '{\"value\": \"inf\"}'; done");
    let arguments = ["--program", &infinite, "--property", "rdp-covers-exact,epsilon-covers-exact", "--cases", "20"];
    assert_eq!(json(0, &arguments)["refuted"], false);
    let declining = script("while read x; do echo '{\"error\": \"not today\"}'; done");
    let document = json(0, &["--program", &declining, "--cases", "5"]);
    assert_eq!(document["properties"][0]["verdict"], "not-tested");
    assert_eq!(document["warnings"][0]["code"], "nothing-tested");
    assert!(document["warnings"][0]["message"].as_str().unwrap().ends_with("not today"));
    let zero = script("while read x; do echo '{\"value\": 0}'; done");
    let document = json(3, &["--program", &zero, "--mechanism", "gnmax,lnmax", "--cases", "50"]);
    assert_eq!(document["properties"][1]["verdict"], "refuted");
}

/// A shell metacharacter is a letter: no shell reads the command.
#[cfg(unix)]
#[test]
fn a_command_is_not_read_by_a_shell() {
    let desk = Desk::new();
    desk.is_rejected_as(1, &["verify", "--program", "true; touch made"], "true;: cannot run: ");
    assert!(!desk.path("made").exists());
}

#[test]
fn rejections_are_one_line() {
    let lines = [
        rejected(2, "--accountant gnmax"),
        rejected(2, &["--program", ""]),
        rejected(1, "--program no-such-program-anywhere"),
        rejected(2, "--accountant laplace --property rdp"),
        rejected(2, "--accountant laplace --cases 0"),
        rejected(2, "--accountant laplace --case {}"),
        rejected(2, "--program true --mechanism pate"),
    ];
    lines.iter().for_each(|line| println!("{line}"));
    assert!(lines[0].contains("unknown accountant `gnmax`; known: "), "{}", lines[0]);
    assert!(lines[3].contains("unknown property `rdp`; known: rdp-covers-exact, "), "{}", lines[3]);
    for words in ["verify", "verify --accountant laplace --program true"] {
        assert_eq!(Desk::root().run(words).status, 2, "{words}");
    }
    let names = printed(0, "--accountant list");
    assert!(names.lines().any(|name| name == "broken:data-dependent-ihr"));
}

/// The example of ten lines, where there is a Python to run it.
#[test]
fn the_python_example_is_right() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        println!("no python3 here");
        return;
    }
    let command = "python3 examples/accountant.py";
    let document = json(0, &["--program", command, "--mechanism", "gnmax", "--cases", "100"]);
    assert_eq!(document["properties"][0]["verdict"], "not-refuted");
    assert_eq!(document["properties"][0]["cases"], 100);
}

/// GNSS is a mechanism of its own: the proved bound stands, the published one falls at one pair of datasets.
#[test]
fn a_release_with_smooth_sensitivity_is_tested_on_pairs_of_datasets() {
    let right = json(0, "--accountant gnss --cases 200");
    let tested = row(&right["properties"], "property", "rdp-covers-exact");
    assert!(tested["cases"].as_u64().unwrap() > 150, "{tested}");
    let wrong = json(3, "--accountant broken:gnss-as-published --property rdp-covers-exact");
    let found = &wrong["properties"][0]["counterexample"];
    assert_eq!((&found["case"]["mechanism"], &found["case"]["histogram"]), (&"gnss".into(), &serde_json::json!([0])));
    let violation = &found["violation"];
    assert!(number(&violation["limit"]) > number(&violation["claim"]), "{found}");
    let case = r#"{"mechanism":"gnss","sigma":5,"beta":0.02,"step":0.98,"width":1,"neighbor_width":0.9,"histogram":[0],"order":20}"#;
    let line = rejected(2, &["--accountant", "gnss", "--case", case]);
    assert!(line.contains("widths 1 and 0.9 differ by a factor of more than e^0.02"), "{line}");
    let help = printed(0, "--help");
    assert!(help.contains("neighbor_width") && help.contains("rdp_order"), "{help}");
}
