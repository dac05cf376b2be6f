//! `cargo xtask spelling`: American spelling and typing errors, by codespell.

use crate::command::{self, Outcome};
use crate::venv::Environment;

const ENVIRONMENT: Environment = Environment::new("target/spelling/python");
const REQUIREMENTS: &str = "codespell==2.4.3\n";
/// Names and deliberate mistakes of tests: the false positive rate, a crate's `ser`, an accountant that is misspelled.
const IGNORED: &str = "fpr,worstcase,ser,gausian,caf";
/// Files that nobody writes by hand, and results of earlier days.
const LEFT_OUT: [&str; 7] = [
    ":!Cargo.lock",
    ":!fuzz/Cargo.lock",
    ":!fuzz/seeds",
    ":!proptest-regressions",
    ":!validation/results",
    ":!validation/data",
    ":!validation/reference",
];

/// Checks all tracked files; installs codespell first.
pub fn run() -> Outcome {
    ENVIRONMENT.require(REQUIREMENTS)?;
    let mut list = command::program("git");
    list.args(["ls-files", "-z", "--"]).args(LEFT_OUT);
    let files = command::output(&mut list)?;
    let mut codespell = command::program(ENVIRONMENT.program("codespell"));
    codespell.args(["--builtin", "clear,en-GB_to_en-US", "--ignore-words-list", IGNORED]);
    println!("$ codespell FILE...");
    // The names of 600 files are not worth a screen.
    codespell.args(files.split('\0').filter(|file| !file.is_empty()));
    match codespell.current_dir(command::root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("codespell: words are misspelled".into()),
        Err(error) => Err(format!("codespell: {error}")),
    }
}
