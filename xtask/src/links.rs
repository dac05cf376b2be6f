//! Links in the documentation of the packages below the library, looked at while cargo compiles their examples.
//!
//! The pages of these packages are part of the library's own, where rustdoc no longer sees a link that leads nowhere;
//! and `cargo rustdoc`, one package at a time, checks everything below it again with other features. So the tests run
//! with this program for rustdoc: it makes the pages, which fails at a bad link, and then does what cargo asked.

use crate::command::{self, Outcome};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Set where cargo takes this program for rustdoc.
const AS_RUSTDOC: &str = "LEAKBOUND_XTASK_AS_RUSTDOC";
/// Options that only examples have, and the one of them without a value.
const OF_EXAMPLES: [&str; 3] = ["--test-args", "--test-run-directory", "--test-runtool"];
const EXAMPLES: &str = "--test";

/// Runs the tests, and looks at links.
pub fn run_with_tests(tests: &mut Command) -> Outcome {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    command::run_visibly(tests.env("RUSTDOC", program).env(AS_RUSTDOC, "1"))
}

/// Does the work of rustdoc, if that is what this process is for.
pub fn as_rustdoc() -> Option<ExitCode> {
    std::env::var_os(AS_RUSTDOC)?;
    let asked: Vec<OsString> = std::env::args_os().skip(1).collect();
    let succeeds = |arguments: &[OsString]| Command::new("rustdoc").args(arguments).status().is_ok_and(|s| s.success());
    let passed = pages(&asked).is_none_or(|pages| succeeds(&pages)) && succeeds(&asked);
    Some(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The arguments that make the pages of a package below the library whose examples are asked for.
fn pages(asked: &[OsString]) -> Option<Vec<OsString>> {
    let is_below =
        |argument: &OsString| Path::new(argument).ends_with("lib.rs") && Path::new(argument).starts_with("src");
    let source = asked.iter().find(|argument| is_below(argument))?.to_string_lossy().replace(['/', '\\'], "-");
    asked.iter().find(|argument| *argument == EXAMPLES)?;
    let mut pages = vec!["-D".into(), "warnings".into(), "--out-dir".into(), format!("target/links/{source}").into()];
    let mut rest = asked.iter();
    while let Some(argument) = rest.next() {
        if OF_EXAMPLES.iter().any(|option| argument == option) {
            rest.next();
        } else if argument != EXAMPLES {
            pages.push(argument.clone());
        }
    }
    Some(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_made_of_what_examples_are_asked_for() {
        let of = |line: &str| {
            let pages = pages(&line.split(' ').map(OsString::from).collect::<Vec<_>>())?;
            Some(pages.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "))
        };
        let asked = "--crate-name leakbound --test src/core/lib.rs --test-run-directory /a --extern b=c --test-args --nocapture";
        let made =
            "-D warnings --out-dir target/links/src-core-lib.rs --crate-name leakbound src/core/lib.rs --extern b=c";
        assert_eq!(of(asked).as_deref(), Some(made));
        assert_eq!(
            [of("-vV"), of("--crate-name leakbound src/core/lib.rs"), of("--test train/src/lib.rs")],
            [const { None }; 3]
        );
    }
}
