//! The command `leakbound`, for a terminal and for programs that run its commands in their own process.
//!
//! [`main`] is the whole program: stdout is data, everything else goes to stderr. [`answer`] runs one command for
//! another program, with files in memory and a progress callback: the same parser, the same work, the same JSON to
//! the last digit.

use crate::cmd::Cli;
use crate::command_line::{CommandLine, Program};
use crate::threads::Alone;
use leakbound::study::Verdict;
use std::ffi::OsString;
use std::process::ExitCode;

mod answer;
mod args;
mod cmd;
mod command_line;
mod embedded;
mod interruption;
mod options;
mod output;
mod rejection;
mod session;
mod signals;
mod threads;
mod usage;

pub use self::answer::{Answer, Commands, Request, answer};
pub use self::interruption::Interruption;
pub use self::rejection::Rejection;
pub use self::session::{Ask, BlackBoxCall, Forms, Progress};

/// A claim was refuted.
const REFUTED: u8 = 3;

/// Parses the arguments of the process, runs the command and prints: the program `leakbound`.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(run_program(std::env::args_os()))
}

/// The whole program with these arguments, of which the first is its name, in a process that does nothing else: its exit
/// status.
#[must_use]
pub fn run_program(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli: Cli = match usage::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::explain(&error),
    };
    signals::make_limits_errors();
    // One line for a damaged file, not the report of a panic before it.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !leakbound::record::is_panic_expected() {
            print(panic);
        }
    }));
    // What prints a text computes nothing.
    if cli.has_document() {
        match threads::start(cli.common.threads, Alone::Works) {
            Ok(fewer) => _ = fewer.map(|fewer| usage::warn(&fewer.sentence())),
            Err(error) => return usage::reject(&error, None),
        }
    }
    match cli.run() {
        Ok(Verdict::Passed) => 0,
        Ok(Verdict::Refuted) => REFUTED,
        Ok(Verdict::Broken(line)) => usage::fail(&line),
        Err(error) => usage::reject(&error, cli.common.session.terminal().signal()),
    }
}
