//! `cargo xtask compare`: the Python programs of `benches/baselines` beside ours, in an environment of their own.

use crate::command::{Outcome, cargo, run_visibly};
use crate::venv::Environment;

const ENVIRONMENT: Environment = Environment::new("target/baselines");

/// Builds what is compared and runs it; a Python of one's own is taken as it is.
pub fn run(arguments: &[String]) -> Outcome {
    let mut compare = cargo(["run", "--profile", "dist", "-p", "leakbound-validation", "--bin", "compare", "--"]);
    if !arguments.iter().any(|argument| argument == "--python") {
        ENVIRONMENT.require_file("benches/baselines/requirements.txt")?;
        compare.arg("--python").arg(ENVIRONMENT.program("python"));
    }
    run_visibly(&mut cargo(["build", "--profile", "dist"]))?;
    run_visibly(compare.args(arguments))
}
