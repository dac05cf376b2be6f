//! `cargo xtask validate additions`: a toy of each kind is added to a copy of the repository, counted, built and run.

use crate::command::{Outcome, announce, output, program, root, run_visibly};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The experiment's name.
pub const NAME: &str = "additions";

/// A patch of `validation/additions`, the command that runs what it adds, and what that prints of it.
const TOYS: [(&str, &[&str], &str); 4] = [
    ("mechanism", &["exact", "--mechanism", "toy:flip=0.25"], "toy:flip=0.25"),
    ("attack", &["membership", "compare", "validation/data/fashion_lira_original.npz", "--attacks", "toy"], "toy"),
    (
        "method",
        &["audit", "confusion", "--tp", "90", "--fn", "10", "--fp", "10", "--tn", "90", "--methods", "toy"],
        "toy",
    ),
    ("command", &["toy", "--epsilon", "1"], "randomized-response"),
];

/// Adds all of them, builds once, and runs each.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(argument) = arguments.first() {
        return Err(format!("validate additions takes no `{argument}`"));
    }
    let folder = root().join("target/additions");
    let copy = folder.join("copy");
    copy_to(&copy)?;
    for (name, ..) in TOYS {
        let patch = root().join(format!("validation/additions/{name}.patch"));
        // As if outside of a repository: of the one around the copy git would look for the paths in its root.
        let mut git = Command::new("git");
        git.current_dir(&copy).env("GIT_CEILING_DIRECTORIES", &folder);
        let files = output(git.args(["apply", "--apply", "--numstat"]).arg(&patch))?;
        print!("{name}, lines added and removed:\n{files}");
        if files.lines().count() != 2 {
            return Err(format!("{name}: it is to be one new file, and lines of another one"));
        }
    }
    let mut cargo = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&copy).env("CARGO_TARGET_DIR", folder.join("build"));
    run_visibly(cargo.args(["build", "--package", "leakbound-cli", "--bin", "leakbound"]))?;
    for (name, arguments, shown) in TOYS {
        let mut leakbound = Command::new(folder.join("build/debug/leakbound"));
        leakbound.current_dir(&copy).args(arguments);
        announce(&leakbound);
        let printed = output(&mut leakbound)?;
        print!("{printed}");
        if !printed.contains(shown) {
            return Err(format!("{name}: nothing of `{shown}` is printed"));
        }
    }
    Ok(())
}

/// A new copy of what git knows of the repository.
fn copy_to(copy: &Path) -> Outcome {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    if copy.exists() {
        fs::remove_dir_all(copy).map_err(|error| failed(copy, error))?;
    }
    let listed = output(program("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]))?;
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root().join(name), copy.join(name));
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        // What is deleted is listed until that is committed.
        if from.exists() {
            fs::copy(&from, &to).map_err(|error| failed(&from, error))?;
        }
    }
    Ok(())
}
