//! Arguments as clap parses them, and what is said about those that cannot be used.

use super::command_line::CommandLine;
use super::interruption::Signal;
use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue};
use clap::parser::ValueSource;
use leakbound::error::{Error, ErrorKind, bounded, echo, one_line};
use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write};

/// The data or the system failed.
const FAILED: u8 = 1;
/// A value on the command line cannot be used.
const USAGE: u8 = 2;

/// Reads the arguments of a process, of which the first is its name.
pub(super) fn parse<C: CommandLine>(arguments: impl IntoIterator<Item = OsString>) -> Result<C, clap::Error> {
    C::grouped().try_get_matches_from(arguments).and_then(|matches| read(&matches)).map_err(short)
}

/// The error with no more of each word of the user than a message repeats, and with a suggestion only where it helps:
/// clap takes `--output` for similar to `--group`.
fn short(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let far = |(given, near): (&str, &str)| strsim::osa_distance(given, near) > 1 + given.len() / 4;
    if text(ContextKind::InvalidArg).zip(text(ContextKind::SuggestedArg)).is_some_and(far) {
        error.remove(ContextKind::SuggestedArg);
    }
    let texts: Vec<(ContextKind, ContextValue)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(echo(text)))),
            ContextValue::Strings(texts) => {
                Some((kind, ContextValue::Strings(texts.iter().map(|text| echo(text)).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, text) in texts {
        error.insert(kind, text);
    }
    error
}

/// Reads the arguments after `leakbound` with the parser of such a command line.
pub(super) fn read_with<C: CommandLine>(parser: &mut clap::Command, arguments: &[OsString]) -> Result<C, clap::Error> {
    let all = std::iter::once(OsString::from("leakbound")).chain(arguments.iter().cloned());
    parser.try_get_matches_from_mut(all).and_then(|matches| read(&matches)).map_err(short)
}

/// A seed given by the user overrules a scenario's; the default seed does not.
fn read<C: CommandLine>(matches: &ArgMatches) -> Result<C, clap::Error> {
    let mut line = C::from_arg_matches(matches)?;
    let common = line.common_mut();
    common.command = command_name(matches);
    common.seed_given = innermost(matches).value_source("seed") == Some(ValueSource::CommandLine);
    Ok(line)
}

/// The matches of the command itself, to which options of every command are handed down.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| innermost(inner))
}

/// The names of the command and its subcommands, such as `audit counts`.
fn command_name(matches: &ArgMatches) -> String {
    let names = std::iter::successors(matches.subcommand(), |(_, inner)| inner.subcommand()).map(|(name, _)| name);
    names.collect::<Vec<_>>().join(" ")
}

/// The exit status of an error, which is printed: that of the signal where one ended the work.
pub(super) fn reject(error: &Error, signal: Option<Signal>) -> u8 {
    complain(&error.to_string());
    match signal {
        Some(signal) if error.kind() == ErrorKind::Interrupted => signal.status(),
        _ if is_usage(error) => USAGE,
        _ => FAILED,
    }
}

/// One line on stderr about an answer that must not be relied on.
pub(super) fn fail(line: &str) -> u8 {
    complain(line);
    FAILED
}

/// Files are rejected as input errors; what else lies outside a domain was written on the command line.
pub(super) fn is_usage(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Domain | ErrorKind::Syntax | ErrorKind::Length | ErrorKind::Rejected => true,
        ErrorKind::NoConvergence | ErrorKind::Unavailable | ErrorKind::Contradiction => false,
        ErrorKind::Interrupted | ErrorKind::Input | ErrorKind::Io => false,
    }
}

/// One line on stderr; nothing is left to report a closed stderr to.
fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "error: {}", one_line(text));
}

/// One line on stderr about work that goes on.
pub(super) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "warning: {}", one_line(text));
}

/// Help, version and wrong options as clap prints them; a bad value as one line.
pub(super) fn explain(error: &clap::Error) -> u8 {
    if let Some(line) = bad_value(error) {
        complain(&line);
    } else if let Err(source) = error.print().and_then(|()| io::stdout().flush())
        // A reader that has seen enough is no error, and nothing is left to report a closed stderr to.
        && !error.use_stderr()
        && source.kind() != io::ErrorKind::BrokenPipe
    {
        return reject(&Error::Io { path: "stdout".into(), action: "write", source }, None);
    }
    u8::try_from(error.exit_code()).unwrap_or(USAGE)
}

/// What is wrong with the words, as one line.
pub(super) fn sentence(error: &clap::Error) -> String {
    bad_value(error).unwrap_or_else(|| {
        let text = error.render().to_string();
        // The first paragraph; usage and advice for a terminal come after it.
        let paragraph = text.split("\n\n").next().unwrap_or_default();
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        one_line(words.join(" ").trim_start_matches("error: "))
    })
}

/// The line about a value that cannot be used, if that is the error.
fn bad_value(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let reason = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (clap::error::ErrorKind::ValueValidation, _) => error.source()?.to_string(),
        (clap::error::ErrorKind::InvalidValue, Some(ContextValue::Strings(_))) if value.is_empty() => {
            return Some(format!("a value is required for '{option}' but none was supplied"));
        }
        (clap::error::ErrorKind::InvalidValue, Some(ContextValue::Strings(names))) => {
            format!("expected {}", names.join(", "))
        }
        _ => return None,
    };
    Some(format!("invalid value '{}' for '{option}': {}", echo(value), bounded(&reason)))
}
