//! Virtual environments of Python in `target`: made once, and again when what they hold is to change.

use crate::command::{self, Outcome};
use std::path::PathBuf;
use std::process::Command;

/// A virtual environment.
pub struct Environment {
    /// Where it is, from the repository's root.
    folder: &'static str,
}

impl Environment {
    pub const fn new(folder: &'static str) -> Self {
        Self { folder }
    }

    /// A program of the environment, such as `python`.
    pub fn program(&self, name: &str) -> PathBuf {
        command::root().join(self.folder).join("bin").join(name)
    }

    /// Its Python, which sees no packages from elsewhere.
    pub fn python(&self) -> Command {
        let mut python = command::program(self.program("python"));
        python.env_remove("PYTHONPATH").env("PYTHONNOUSERSITE", "1");
        python
    }

    /// Its pip.
    pub fn pip(&self) -> Command {
        let mut pip = self.python();
        pip.args(["-m", "pip"]);
        pip
    }

    /// Makes the environment with these packages, one per line as in a file of requirements, unless it has them.
    pub fn require(&self, requirements: &str) -> Outcome {
        let folder = command::root().join(self.folder);
        // Written last: half an environment has none, and is completed.
        let seal = folder.join("requirements.txt");
        if std::fs::read_to_string(&seal).is_ok_and(|installed| installed == requirements) {
            return Ok(());
        }
        let write = |name: &str| {
            let path = folder.join(name);
            std::fs::write(&path, requirements).map_err(|error| format!("{}: {error}", path.display()))
        };
        command::run_visibly(command::program("python3").args(["-m", "venv", self.folder]))?;
        write("requirements.new")?;
        let list = format!("{}/requirements.new", self.folder);
        command::run_visibly(self.pip().args(["install", "--quiet", "--requirement", &list]))?;
        write("requirements.txt")
    }

    /// The same for the packages of a file of the repository.
    pub fn require_file(&self, requirements: &str) -> Outcome {
        self.require(&command::text(requirements)?)
    }
}
