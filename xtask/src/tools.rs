//! Programs of others that some commands need, installed with cargo in `target/tools`.

use crate::command::{self, Outcome, cargo};
use std::path::PathBuf;

/// A subcommand of cargo from crates.io.
pub struct Tool {
    /// Its package, which is also the name of its program.
    name: &'static str,
    version: &'static str,
}

pub const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
pub const CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9" };
pub const MUTANTS: Tool = Tool { name: "cargo-mutants", version: "27.1.0" };

impl Tool {
    /// The program, if it is installed.
    pub fn program(&self) -> Option<PathBuf> {
        let program =
            command::root().join("target/tools/bin").join(self.name).with_extension(std::env::consts::EXE_EXTENSION);
        program.is_file().then_some(program)
    }

    /// Installs it unless it is there; that takes minutes.
    pub fn require(&self) -> Outcome {
        if self.program().is_some() {
            return Ok(());
        }
        let mut install =
            cargo(["install", "--locked", "--root", "target/tools", self.name, "--version", self.version]);
        // What is built here once is not looked for again.
        command::run_visibly(install.env("CARGO_TARGET_DIR", "target/tools/build"))?;
        let _ = std::fs::remove_dir_all(command::root().join("target/tools/build"));
        Ok(())
    }
}
