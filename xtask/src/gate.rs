//! `cargo xtask test`: every check a change must pass, cheapest first.

use crate::command::{Outcome, cargo, run_quietly, run_visibly};
use crate::{deny, libtorch, links, python, python_api, readme, site, spelling};
use std::time::{Duration, Instant};

/// A named check.
type Step = (&'static str, fn() -> Outcome);

/// Tests of the command that depend on libtorch: those that train, and those that go through all commands.
const WITH_LIBTORCH: [&str; 4] = ["cli_torch", "with_libtorch", "every_help", "every_command"];

const STEPS: [Step; 15] = [
    ("format", || run_visibly(&mut cargo(["fmt", "--all", "--check"]))),
    ("spelling", spelling::run),
    ("dependencies", deny::run_if_installed),
    // `leakbound-train` links to it.
    ("libtorch", libtorch::run),
    ("lints", || {
        run_visibly(&mut cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]))
    }),
    ("documentation", || {
        let mut doc = cargo(["doc", "--workspace", "--no-deps", "--all-features"]);
        run_visibly(doc.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("library alone", || {
        ["", "attacks"].into_iter().try_for_each(|features| {
            let check = ["check", "--package", "leakbound", "--no-default-features", "--features", features];
            run_visibly(&mut cargo(check))
        })
    }),
    // The command as most people have it, without libtorch: with it, each run takes half a second longer to start, and
    // these tests take two to three times as long.
    ("tests", || links::run_with_tests(&mut cargo(["test", "--workspace"]))),
    ("Python", python::test),
    ("with libtorch", || {
        let mut tests = cargo(["test", "--workspace", "--all-features", "--test", "it", "--"]);
        run_visibly(tests.args(WITH_LIBTORCH))
    }),
    // The step before built the command.
    ("Python API", python_api::check),
    ("site", site::build),
    // That they run is what is asked: the profile of the tests says as much. The whole workspace is named, as for the
    // tests, because other features of third-party packages would have the library built once more.
    ("bench smoke", || {
        let benches = ["bench", "--profile", "dev", "--workspace", "--all-features", "--bench", "*", "--", "--test"];
        run_quietly(&mut cargo(benches))
    }),
    // They have the package that was installed above.
    ("examples", || site::examples(&[])),
    ("README", readme::run),
];

/// Runs the steps up to the first failure and prints how long each took.
pub fn run_steps(steps: &[Step]) -> (Outcome, String) {
    let mut rows = Vec::new();
    for (name, step) in steps {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = step();
        rows.push((*name, start.elapsed(), outcome.is_ok()));
        if outcome.is_err() {
            return (outcome, table(&rows, steps.len()));
        }
    }
    (Ok(()), table(&rows, steps.len()))
}

/// Runs all steps.
pub fn run() -> Outcome {
    let (outcome, table) = run_steps(&STEPS);
    println!("\n{table}");
    outcome
}

fn table(rows: &[(&str, Duration, bool)], planned: usize) -> String {
    let mut lines = vec![format!("{:<14} {:>8}  verdict", "step", "seconds")];
    for (name, time, passed) in rows {
        lines.push(format!("{name:<14} {:>8.1}  {}", time.as_secs_f64(), if *passed { "passed" } else { "FAILED" }));
    }
    if rows.len() < planned {
        lines.push(format!("{} further steps not run", planned - rows.len()));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that exist only with libtorch run in one step, which selects them by name.
    #[test]
    fn every_test_of_libtorch_is_selected() {
        let selected = |name: &str| WITH_LIBTORCH.iter().any(|part| name.contains(part));
        let mut modules = 0;
        for file in std::fs::read_dir(crate::command::root().join("tests/it")).unwrap().flatten() {
            let path = file.path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for item in text.split("#[cfg(feature = \"torch\")]").skip(1) {
                let (attributes, lines): (Vec<_>, Vec<_>) = item
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty())
                    .take(5)
                    .partition(|line| line.starts_with("#["));
                let name = lines.first().copied().unwrap_or_default();
                let module = name.strip_prefix("mod ").is_some_and(selected);
                modules += usize::from(module);
                // A helper of tests is no test.
                let helper = name.contains("fn ") && !attributes.contains(&"#[test]");
                assert!(module || helper || selected(&path.to_string_lossy()), "{}: {name}", path.display());
            }
        }
        assert!(modules >= 9, "{modules}");
    }

    #[test]
    fn the_first_failure_ends_the_run_and_is_named() {
        let steps: [Step; 3] = [("a", || Ok(())), ("b", || Err("`false`: exit status: 1".into())), ("c", || Ok(()))];
        let (outcome, table) = run_steps(&steps);
        assert_eq!(outcome, Err("`false`: exit status: 1".into()));
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines[1], "a                   0.0  passed");
        assert_eq!(lines[2], "b                   0.0  FAILED");
        assert_eq!(lines[3], "1 further steps not run");
    }
}
