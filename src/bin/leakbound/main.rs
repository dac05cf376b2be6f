//! The command `leakbound`: parse, run, print. Stdout is data; everything else goes to stderr.

mod args;
mod claims;
mod cmd;
mod output;

use args::{AuditCommand, Cli, Command, LabelDpCommand, PropertyCommand, SelfCheckAudit, SelfCheckCommand};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use leakbound::Error;
use leakbound::report::one_line;
use std::error::Error as _;
use std::io::Write;
use std::process::ExitCode;

/// The data or the system failed.
const FAILED: u8 = 1;
/// A value on the command line cannot be used.
const USAGE: u8 = 2;
/// A claim was refuted.
const REFUTED: u8 = 3;

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match run(&cli) {
        Ok(refuted) => ExitCode::from(if refuted { REFUTED } else { 0 }),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(status(&error))
        }
    }
}

/// Reads the command line; a scenario's seed must be told from the seed that is there by default.
fn parse() -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches()?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.common.seed_given = innermost(&matches).value_source("seed") == Some(ValueSource::CommandLine);
    Ok(cli)
}

/// The matches of the command itself, to which options of every command are handed down.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// Runs the command; true when a claim was refuted.
fn run(cli: &Cli) -> leakbound::Result<bool> {
    if let Some(threads) = cli.common.threads {
        // Fails only when a pool exists already, and none does before the first command.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    match &cli.command {
        Command::Exact(options) => cmd::exact::run(&cli.common, options),
        Command::Account(options) => cmd::account::run(&cli.common, options),
        Command::Audit(AuditCommand::Counts(options)) => cmd::audit_counts::run(&cli.common, options),
        Command::Audit(AuditCommand::Confusion(options)) => cmd::audit_confusion::run(&cli.common, options),
        Command::Audit(AuditCommand::Scores(options)) => cmd::audit_scores::run(&cli.common, options),
        Command::Audit(AuditCommand::Votes(options)) => cmd::audit_votes::run(&cli.common, options),
        Command::Audit(AuditCommand::Stream(options)) => cmd::audit_stream::run(&cli.common, options),
        Command::Membership(command) => cmd::membership::run(&cli.common, command),
        Command::LabelDp(LabelDpCommand::Memorization(options)) => cmd::label_dp::run(&cli.common, options),
        Command::Property(PropertyCommand::Distance(options)) => cmd::property::run(&cli.common, options),
        Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Counts(options))) => {
            cmd::self_check::run(&cli.common, options)
        }
        Command::SelfCheck(SelfCheckCommand::Audit(SelfCheckAudit::Scores(options))) => {
            cmd::self_check_scores::run(&cli.common, options)
        }
        Command::Simulate(options) => cmd::simulate::run(&cli.common, options),
        Command::Merge(options) => cmd::merge::run(&cli.common, options),
        Command::Bench(options) => cmd::bench::run(&cli.common, options),
        Command::Verify(options) => cmd::verify::run(&cli.common, options),
        Command::Torch(command) => cmd::torch::run(&cli.common, command),
        Command::Completions { shell } => cmd::generate::completions(*shell),
        Command::Man => cmd::generate::man(),
    }
}

/// Files are refused as input errors; what else lies outside a domain was written on the command line.
const fn status(error: &Error) -> u8 {
    match error {
        Error::Domain { .. } | Error::Syntax { .. } | Error::Length { .. } | Error::Refused { .. } => USAGE,
        _ => FAILED,
    }
}

/// One line on stderr; nothing is left to report a closed stderr to.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "error: {}", one_line(text));
}

/// Help, version and wrong options as clap prints them; a bad value as one line.
fn usage(error: &clap::Error) -> ExitCode {
    match bad_value(error) {
        Some(line) => complain(&line),
        None => _ = error.print(),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
}

/// The line about a value that cannot be used, if that is the error.
fn bad_value(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let reason = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::ValueValidation, _) => error.source()?.to_string(),
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(_))) if value.is_empty() => {
            return Some(format!("a value is required for '{option}' but none was supplied"));
        }
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(names))) => format!("expected {}", names.join(", ")),
        _ => return None,
    };
    Some(format!("invalid value '{}' for '{option}': {}", shortened(value, 60), shortened(&reason, 200)))
}

/// At most so many characters.
fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
