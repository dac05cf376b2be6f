//! The command as its user sees it: text, JSON, CSV, files, exit statuses.

mod documents;
mod exact_mechanism;
mod files;
mod texts;

use crate::desk::{json, stdout};
use serde_json::Value;

const COUNTS: &str = "validation/data/counts.csv";
const PROMPT: &str = "validation/data/prompt_votes.npz";
const FASHION: &str = "validation/data/fashion_votes.npz";

/// The fields of every line of a CSV, the header first.
fn csv(words: &str) -> Vec<Vec<String>> {
    let text = stdout(&format!("{words} --format csv"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
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
