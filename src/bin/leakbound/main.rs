//! The command `leakbound`: parse, run, print. Stdout is data; everything else goes to stderr.

mod args;
mod claims;
mod cmd;
mod output;

use args::{AuditCommand, Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use std::process::ExitCode;

/// A claim was refuted.
const REFUTED: u8 = 3;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match run(&cli) {
        Ok(refuted) => ExitCode::from(if refuted { REFUTED } else { 0 }),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; true when a claim was refuted.
fn run(cli: &Cli) -> leakbound::Result<bool> {
    if let Some(threads) = cli.common.threads {
        // Fails only when a pool exists already, and none does before the first command.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    match &cli.command {
        Command::Exact(options) => cmd::exact::run(&cli.common, options),
        Command::Audit(AuditCommand::Counts(options)) => cmd::audit_counts::run(&cli.common, options),
        Command::Audit(AuditCommand::Confusion(options)) => cmd::audit_confusion::run(&cli.common, options),
        Command::Audit(AuditCommand::Votes(options)) => cmd::audit_votes::run(&cli.common, options),
        Command::Completions { shell } => cmd::generate::completions(*shell),
        Command::Man => cmd::generate::man(),
    }
}

/// Help and version as clap prints them; a bad value as one line.
fn usage(error: &clap::Error) -> ExitCode {
    if error.kind() == ErrorKind::ValueValidation {
        let text = error.to_string();
        eprintln!("{}", text.lines().next().unwrap_or_default());
    } else {
        // Nothing is left to report a failing terminal to.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
