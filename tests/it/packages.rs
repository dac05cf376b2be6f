//! What is built: a program that only computes builds no reader of files, and what was built for the tests is not built
//! once more for the Python package.

use std::collections::BTreeSet;
use std::process::Command;

/// Packages that a dependent without default features builds, those of tools of the build included.
const MOST: usize = 60;

/// The packages of a selection, each with its features.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--offline", "--prefix", "none", "--format", "{p} {f}"]).args(selection);
    let answer = tree.current_dir(crate::ROOT).output().unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let listed = String::from_utf8(answer.stdout).unwrap();
    listed.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn without_features_the_library_needs_few_packages() {
    let packages = packages(&["--package", "leakbound", "--no-default-features", "--edges", "normal,build"]);
    assert!(packages.len() <= MOST, "{} packages: {packages:#?}", packages.len());
    for package in ["leakbound-study", "leakbound-record", "parquet", "serde_json"] {
        assert!(!packages.iter().any(|line| line.starts_with(package)), "{package}");
    }
}

/// The feature `as-tested` of the Python package has the features that the tests have of all that it needs.
#[test]
fn the_python_package_is_built_from_what_the_tests_have_compiled() {
    let tested = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let selection = ["--package", "leakbound-python", "--features", "as-tested", "--edges", "normal,build"];
    let once_more: Vec<_> = packages(&selection).into_iter().filter(|package| !tested.contains(package)).collect();
    assert_eq!(once_more.len(), 1, "the module alone is new: {once_more:#?}");
}
