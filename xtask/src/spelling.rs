//! `cargo xtask spelling`: American spelling and typing errors, by codespell.

use crate::command::{self, Outcome};
use crate::venv::Environment;

const ENVIRONMENT: Environment = Environment::new("target/spelling/python");
const REQUIREMENTS: &str = "codespell==2.4.3\n";
/// Names and deliberate mistakes of tests: the false positive rate, a crate's `ser`, an accountant that is misspelled,
/// an author, what other libraries call their functions, and two types.
const IGNORED: &str = "fpr,worstcase,ser,gausian,mattern,caf,randomise,ue,atleast,atmost";
/// What is written by hand.
const PATHS: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "DESIGN.md",
    "SECURITY.md",
    "Cargo.toml",
    "action.yml",
    "release.toml",
    // Of a hidden folder nothing is read unless it is named.
    ".github/ISSUE_TEMPLATE",
    ".github/pull_request_template.md",
    ".github/workflows",
    "benches",
    "cli",
    "docs",
    "examples",
    "fft",
    "fuzz/src",
    "packaging",
    "paper",
    "python",
    "src",
    "tests",
    "train",
    "validation",
    "xtask",
];
/// What is not among it: recordings, tables, results of earlier days, and what builds and tests leave.
const SKIPPED: &str = "*/results/*,*/data/*,*/reference/*,*/target/*,*/__pycache__/*,*.so,*.lock";

/// Checks what is written by hand; installs codespell first.
pub fn run() -> Outcome {
    ENVIRONMENT.require(REQUIREMENTS)?;
    let mut codespell = command::program(ENVIRONMENT.program("codespell"));
    codespell.args(["--builtin", "clear,en-GB_to_en-US", "--ignore-words-list", IGNORED, "--skip", SKIPPED]);
    command::run_visibly(codespell.args(PATHS))
}
