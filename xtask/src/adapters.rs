//! Python packages that experiments run other people's programs with, in virtual environments of their own.

use crate::command::{self, Outcome};
use crate::venv::Environment;

/// An environment, and the experiment that needs it.
struct Needed {
    experiment: &'static str,
    folder: &'static str,
    /// One package per line.
    packages: &'static str,
}

const ALL: [Needed; 3] = [
    Needed {
        experiment: "verify-others",
        folder: "target/adapters",
        // As in `validation/adapters/README.md`.
        packages: "dp-accounting==0.6.0\nautodp==0.2.3.1\nopendp==0.16.0",
    },
    Needed {
        experiment: "libraries",
        folder: "target/libraries",
        packages: include_str!("../../validation/libraries/current.txt"),
    },
    Needed {
        experiment: "libraries",
        folder: "target/libraries-old",
        packages: include_str!("../../validation/libraries/old.txt"),
    },
];

/// Installs what the experiments that are run by name need and is not there yet.
///
/// Without Python or a package index nothing fails: the experiment says what is not installed.
pub fn install_for(arguments: &[String]) -> Outcome {
    for needed in ALL.iter().filter(|needed| arguments.iter().any(|argument| argument == needed.experiment)) {
        if let Err(failure) = Environment::new(needed.folder).require(needed.packages) {
            // Half an environment would be taken for a whole one by the experiment.
            let _ = std::fs::remove_dir_all(command::root().join(needed.folder));
            eprintln!("warning: {} is not installed: {failure}", needed.folder);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The README names the versions that are installed.
    #[test]
    fn the_readme_has_the_same_versions() {
        let text = std::fs::read_to_string(command::root().join("validation/adapters/README.md")).unwrap();
        let adapters = ALL.iter().find(|needed| needed.folder == "target/adapters").unwrap();
        assert!(adapters.packages.lines().all(|package| text.contains(package)));
    }
}
