//! The other libraries that `leakbound verify` can ask through `validation/adapters`, in a virtual environment of their
//! own.

use crate::command::{self, Outcome};
use crate::venv::Environment;

/// The experiment that needs them.
const EXPERIMENT: &str = "verify-others";
/// As in `validation/adapters/README.md`.
const PACKAGES: [&str; 2] = ["dp-accounting==0.6.0", "autodp==0.2.3.1"];

/// Installs them in `target/adapters` when the experiment is run by name and they are not there yet.
///
/// Without Python or a package index nothing fails: the experiment says that none is installed.
pub fn install_for(arguments: &[String]) -> Outcome {
    if !arguments.iter().any(|argument| argument == EXPERIMENT) {
        return Ok(());
    }
    if let Err(failure) = Environment::new("target/adapters").require(&PACKAGES.join("\n")) {
        // Half an environment would be taken for a whole one by the experiment.
        let _ = std::fs::remove_dir_all(command::root().join("target/adapters"));
        eprintln!("warning: the adapters are not installed: {failure}");
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
        assert!(PACKAGES.iter().all(|package| text.contains(package)));
    }
}
