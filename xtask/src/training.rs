//! `cargo xtask validate opacus`: audits of trainings by packages of Python, which are installed in `target` first, and
//! by the command.

use crate::command::{self, Outcome};
use crate::venv::Environment;
use crate::{data, libtorch, python};

/// The experiment.
pub const NAME: &str = "opacus";

const ENVIRONMENT: Environment = Environment::new("target/training");
const PACKAGES: &str = "torch==2.15.0\nopacus==1.6.0\njax-privacy==2.0.0\npytest\nmatplotlib\npandas\njsonschema";
/// One line for each training; those that are there are not made again.
const RUNS: &str = "target/training/runs.jsonl";
/// The same for those of the command.
const OURS: &str = "target/training/torch.jsonl";

/// Runs the tests that need the packages, then trains and audits by Opacus and by the command, and prints the tables.
/// Arguments are those of
/// `validation/training/opacus_audit.py`, such as `--seeds 1`.
pub fn run(arguments: &[String]) -> Outcome {
    ENVIRONMENT.require(PACKAGES)?;
    data::fashion_mnist(None)?;
    let images = libtorch::cache_folder()?.join("fashion-mnist");
    let wheel = python::built_wheel()?;
    command::run_visibly(ENVIRONMENT.pip().args(["install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))?;
    let tests = ["-m", "pytest", "-q", "python/tests/test_training.py", "python/tests/test_jax.py"];
    command::run_visibly(ENVIRONMENT.python().args(tests).current_dir(command::root()))?;
    let mut audits = ENVIRONMENT.python();
    audits.args(["-W", "ignore", "validation/training/opacus_audit.py", "--runs", RUNS, "--data"]).arg(&images);
    command::run_visibly(audits.args(arguments).current_dir(command::root()))?;
    let scores = RUNS.trim_end_matches(".jsonl");
    let mut others = ENVIRONMENT.python();
    others.args(["validation/training/jax_privacy_audits.py", scores, RUNS]);
    command::run_visibly(others.current_dir(command::root()))?;
    libtorch::run()?;
    let mut build = command::cargo(["build", "--release", "-p", "leakbound-cli", "--features", "torch"]);
    command::run_visibly(&mut build)?;
    let mut ours = ENVIRONMENT.python();
    ours.args(["validation/training/torch_audit.py", "target/release/leakbound"]).arg(images).args([RUNS, OURS]);
    command::run_visibly(ours.env("LD_LIBRARY_PATH", libtorch::libraries()).current_dir(command::root()))
}
