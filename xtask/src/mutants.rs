//! `cargo xtask validate mutants`: mutation testing of the statistical rooms by `validation/mutants`.

use crate::command::{Outcome, run_visibly};
use crate::tools::MUTANTS;
use crate::venv::Environment;

/// The experiment's name.
pub const NAME: &str = "mutants";

const ENVIRONMENT: Environment = Environment::new("target/mutants/python");

/// Installs what it needs and passes the arguments on.
pub fn run(arguments: &[String]) -> Outcome {
    ENVIRONMENT.require_file("validation/mutants/requirements.txt")?;
    MUTANTS.require()?;
    let mut python = ENVIRONMENT.python();
    run_visibly(python.env("PYTHONDONTWRITEBYTECODE", "1").arg("validation/mutants/mutants.py").args(arguments))
}
