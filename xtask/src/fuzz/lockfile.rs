//! The fuzz package is a workspace of its own with a lock file of its own: the versions that are fuzzed are those that
//! are tested.

use crate::command::{self, Outcome};
use std::collections::{BTreeMap, BTreeSet};

const WORKSPACE: &str = "Cargo.lock";
const FUZZ: &str = "fuzz/Cargo.lock";

/// Brings fuzz/Cargo.lock in step with the workspace's if it is not; it is tracked by git, so the change is to be
/// committed.
pub fn share() -> Outcome {
    let (workspace, fuzz) = (read(WORKSPACE)?, read(FUZZ).unwrap_or_default());
    if fuzz.is_empty() || !differences(&workspace, &fuzz).is_empty() {
        println!("{FUZZ} starts again from {WORKSPACE}");
        // Cargo keeps what it finds, removes what the fuzz package does not use, and adds what it alone uses.
        let text = workspace + &alone(&read(WORKSPACE)?, &fuzz);
        std::fs::write(command::root().join(FUZZ), text).map_err(|error| format!("{FUZZ}: {error}"))?;
    }
    Ok(())
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(command::root().join(path)).map_err(|error| format!("{path}: {error}"))
}

/// Name and version of each package, with its lines.
fn packages(lock: &str) -> BTreeMap<(String, String), &str> {
    let quoted = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let blocks = lock.split("[[package]]\n").skip(1);
    blocks.filter_map(|block| Some(((quoted(block, "name")?, quoted(block, "version")?), block))).collect()
}

/// Packages of both files that the fuzz package has in a version the workspace does not have.
fn differences(workspace: &str, fuzz: &str) -> Vec<String> {
    let (workspace, fuzz) = (packages(workspace), packages(fuzz));
    let names: BTreeSet<&String> = workspace.keys().map(|(name, _)| name).collect();
    let other = fuzz.keys().filter(|package| names.contains(&package.0) && !workspace.contains_key(package));
    other.map(|(name, version)| format!("{name} {version}")).collect()
}

/// What the fuzz package alone uses keeps its versions.
fn alone(workspace: &str, fuzz: &str) -> String {
    let workspace = packages(workspace);
    let names: BTreeSet<&String> = workspace.keys().map(|(name, _)| name).collect();
    let fuzz = packages(fuzz);
    let alone = fuzz.iter().filter(|((name, _), _)| !names.contains(name));
    alone.map(|(_, block)| format!("\n[[package]]\n{}\n", block.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_that_are_fuzzed_are_those_that_are_tested() {
        let differences = differences(&read(WORKSPACE).unwrap(), &read(FUZZ).unwrap());
        let hint = "run `cargo xtask fuzz --seconds 1` and commit fuzz/Cargo.lock";
        assert!(differences.is_empty(), "only fuzz/Cargo.lock has {}: {hint}", differences.join(", "));
    }

    #[test]
    fn other_versions_are_differences_and_other_packages_are_not() {
        let package =
            |name: &str, version: &str| format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        let workspace =
            format!("version = 4\n{}{}{}", package("a", "1.0.0"), package("a", "2.0.0"), package("b", "1.0.0"));
        let fuzz = format!("version = 4\n{}{}{}", package("a", "2.0.0"), package("b", "1.1.0"), package("c", "1.0.0"));
        assert_eq!(differences(&workspace, &fuzz), ["b 1.1.0"]);
        assert_eq!(alone(&workspace, &fuzz), package("c", "1.0.0"));
    }
}
