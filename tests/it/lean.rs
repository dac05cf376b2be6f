//! The library without features is small: somebody who only computes builds no reader of files.

use std::collections::BTreeSet;
use std::process::Command;

/// Packages that a dependent without default features builds, those of tools of the build included.
const MOST: usize = 60;

#[test]
fn without_features_the_library_needs_few_packages() {
    let options = ["--offline", "--package", "leakbound", "--no-default-features", "--edges", "normal,build"];
    let mut tree = Command::new(env!("CARGO"));
    tree.arg("tree").args(options).args(["--prefix", "none"]).current_dir(crate::ROOT);
    let answer = tree.output().unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let listed = String::from_utf8(answer.stdout).unwrap();
    let packages: BTreeSet<_> = listed.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    assert!(packages.len() <= MOST, "{} packages: {packages:#?}", packages.len());
    for package in ["leakbound-study", "leakbound-record", "parquet", "serde_json"] {
        assert!(!packages.iter().any(|line| line.starts_with(package)), "{package}");
    }
}
