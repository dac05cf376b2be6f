//! `cargo xtask site`: the documentation as a site; `cargo xtask examples`: what its pages show is what is printed.

use crate::command::{self, Outcome, cargo, run_quietly, run_visibly};
use crate::venv::Environment;
use crate::{libtorch, python};
use std::process::Command;

/// Where the environment is.
const ENVIRONMENT: Environment = Environment::new("target/site-env");
/// The program that the tests build, and the pages of rustdoc.
const PROGRAM: &str = "target/debug/leakbound";
const RUSTDOC: &str = "target/doc";

/// Builds the command, then the site in target/site; checks its links.
pub fn run() -> Outcome {
    libtorch::run()?;
    // With all features, as the tests build it, so that it is not built twice.
    run_quietly(&mut cargo(["build", "--workspace", "--all-features", "--bin", "leakbound"]))?;
    build()
}

/// The site, by the command that is there.
pub fn build() -> Outcome {
    let mut build = tool("docs/tools/build_site.py")?;
    build.args(["--command", PROGRAM, "--pages", "target/site-pages", "--site", "target/site"]);
    if command::root().join(RUSTDOC).join("leakbound/index.html").is_file() {
        build.args(["--rust", RUSTDOC]);
    }
    run_visibly(&mut build)
}

/// Draws the figures again and runs the blocks of the pages, by the command and the Python package that are there.
///
/// With `--update` figures and pages are written where they differ; pages may be named.
pub fn examples(arguments: &[String]) -> Outcome {
    let package = python::interpreter();
    if !package.is_file() {
        return Err(format!("{}: no such file; `cargo xtask python` makes it", package.display()));
    }
    let update = arguments.iter().any(|argument| argument == "--update");
    let mut draw = tool("docs/tools/draw_figures.py")?;
    draw.args(["--command", PROGRAM]);
    if !update {
        draw.arg("--check");
    }
    run_visibly(&mut draw)?;
    let mut check = tool("docs/tools/check_examples.py")?;
    run_visibly(check.args(["--command", PROGRAM, "--python"]).arg(package).args(arguments))
}

/// One of the programs that make the site.
fn tool(name: &str) -> Result<Command, String> {
    ENVIRONMENT.require_file("docs/requirements.txt")?;
    let mut python = ENVIRONMENT.python();
    python.arg(name).env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(python)
}
