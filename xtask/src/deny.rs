//! `cargo xtask deny`: licenses, sources and known vulnerabilities of all that comes into the dependency tree, by
//! cargo-deny with the rules of `deny.toml`.

use crate::command::{self, Outcome, run_visibly};
use crate::tools::DENY;
use std::path::Path;
use std::process::Command;

/// What needs nothing but the packages that are here.
const WITHOUT_NETWORK: [&str; 3] = ["licenses", "bans", "sources"];

/// All checks, vulnerabilities with the database of RustSec as of now; installs cargo-deny first if need be.
pub fn run() -> Outcome {
    DENY.require()?;
    let program = DENY.program().ok_or("cargo-deny was installed and is not there")?;
    each(&program, &WITHOUT_NETWORK)?;
    each(&program, &["advisories"])
}

/// The checks that need no network, where cargo-deny is installed: building it takes longer than other steps of the
/// gate.
pub fn run_if_installed() -> Outcome {
    match DENY.program() {
        Some(program) => each(&program, &WITHOUT_NETWORK),
        None => {
            println!("skipped: cargo-deny is not installed (hint: `cargo xtask deny`)");
            Ok(())
        }
    }
}

fn each(program: &Path, checks: &[&str]) -> Outcome {
    let mut deny = Command::new(program);
    run_visibly(deny.current_dir(command::root()).args(["--workspace", "--config", "deny.toml", "check"]).args(checks))
}
