//! The Python package: its wheel, and its tests in a virtual environment of their own.

use crate::command::{self, Outcome, cargo, run_quietly, run_visibly};
use crate::venv::Environment;
use std::path::PathBuf;
use std::process::Command;

/// Where the environment is, and the wheels.
const ENVIRONMENT: Environment = Environment::new("target/python");
const WHEELS: &str = "target/wheels";
/// What builds a wheel, as in `python/pyproject.toml`.
const BUILDER: &str = "maturin>=1.7,<2";

/// Builds the wheel of this machine.
pub fn wheel() -> Outcome {
    println!("{}", built_wheel()?.display());
    Ok(())
}

/// Builds the wheel of this machine, and says where it is.
pub fn built_wheel() -> Result<PathBuf, String> {
    environment()?;
    run_visibly(build().args(["--profile", "dist"]))?;
    newest("whl")
}

/// Packs the source of the Python package, and says where it is.
pub fn built_source() -> Result<PathBuf, String> {
    environment()?;
    let mut pack = command::program(ENVIRONMENT.program("maturin"));
    run_visibly(pack.args(["sdist", "--manifest-path", "python/Cargo.toml", "--out"]).arg(WHEELS))?;
    newest("gz")
}

/// Installs the wheel with what its tests need, checks the types, and runs the tests and the tutorials.
pub fn test() -> Outcome {
    environment()?;
    // The profile and the features of the tests, which have compiled all but the module itself.
    run_visibly(build().args(["--features", "as-tested"]))?;
    let wheel = newest("whl")?;
    let mut with_extras = wheel.clone().into_os_string();
    with_extras.push("[test]");
    run_visibly(ENVIRONMENT.pip().arg("install").arg("--quiet").arg(with_extras))?;
    // The same version again: what pip has is not what was built.
    run_visibly(ENVIRONMENT.pip().args(["install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))?;
    // A cluster engine that has no wheel for every machine; the test of it is skipped where it does not install.
    if let Err(failure) = run_quietly(ENVIRONMENT.pip().args(["install", "--quiet", "--only-binary=:all:", "ray"])) {
        println!("{failure}; Ray does not install here, and its test is skipped");
    }
    run_quietly(&mut cargo(["build", "--workspace", "--bin", "leakbound"]))?;
    let folder = command::root().join("python");
    run_visibly(ENVIRONMENT.python().args(["-m", "mypy", "--strict", "src/leakbound"]).current_dir(&folder))?;
    let command = command::root().join("target/debug/leakbound");
    run_visibly(
        ENVIRONMENT.python().args(["-m", "pytest", "-q"]).current_dir(&folder).env("LEAKBOUND_COMMAND", command),
    )
}

/// The Python that has the package once its tests ran.
pub fn interpreter() -> PathBuf {
    ENVIRONMENT.program("python")
}

/// What builds the wheel.
fn build() -> Command {
    let maturin = ENVIRONMENT.program("maturin");
    let mut command = command::program(maturin);
    command::with_state_of_builds(&mut command);
    command.args(["build", "--manifest-path", "python/Cargo.toml", "--target-dir", "target", "--out", WHEELS]);
    command
}

/// Makes the environment if there is none.
fn environment() -> Outcome {
    ENVIRONMENT.require(&format!("pip\n{BUILDER}")).map_err(|failure| {
        format!("{failure}; the package needs Python 3.10 or newer with `venv`, and a package index")
    })
}

/// The package of this ending that was built last.
fn newest(ending: &str) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(command::root().join(WHEELS)).map_err(|error| format!("{WHEELS}: {error}"))?;
    let wheels = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|kind| kind == ending));
    let newest = wheels.max_by_key(|entry| entry.metadata().and_then(|metadata| metadata.modified()).ok());
    newest.map(|entry| entry.path()).ok_or_else(|| format!("{WHEELS}: no .{ending} was built"))
}
