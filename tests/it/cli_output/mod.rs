//! The command as its user sees it: text, JSON, CSV, files, exit statuses.

mod confusion;
mod counts;
mod documents;
mod exact;
mod files;
mod votes;

use assert_cmd::Command;
use serde_json::Value;
use std::process::Output;

const COUNTS: &str = "validation/data/counts.csv";
const PROMPT: &str = "validation/data/prompt_votes.npz";
const FASHION: &str = "validation/data/fashion_votes.npz";

/// Runs `leakbound` with words separated by blanks, in the root of the repository.
fn run(arguments: &str) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leakbound"));
    command.current_dir(crate::ROOT).env_remove("NO_COLOR").args(arguments.split_whitespace());
    command
}

/// Stdout of a run that ends with 0 and says nothing else.
fn stdout(arguments: &str) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&stdout(&format!("{arguments} --format json"))).unwrap()
}

/// The fields of every line of a CSV, the header first.
fn csv(arguments: &str) -> Vec<Vec<String>> {
    let text = stdout(&format!("{arguments} --format csv"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        value => value.as_f64().unwrap_or_else(|| panic!("{value} is no number")),
    }
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// Every row has every one of these members.
fn have(rows: &[Value], names: &[&str]) {
    assert!(!rows.is_empty(), "no rows with {names:?}");
    for row in rows {
        for name in names {
            assert!(row.get(name).is_some_and(|value| !value.is_null()), "{name} is missing in {row}");
        }
    }
}

/// The examples on which the forms are compared.
const EXACT: &str =
    "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --orders 2,10 --epsilons 0.1,1";
const VOTES: &str = "audit votes validation/data/prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 1e5 --queries 0,1,2 --orders 2,8";
const CONFUSION: &str = "audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5";
