//! Arguments as clap parses them, and what is said about those that cannot be used.

use super::command_line::CommandLine;
use super::interruption::Signal;
use super::rejection::Rejection;
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
    let far = |(given, near): (&str, &str)| strsim::osa_distance(given, near) > 1 + given.len() / 4;
    if text_of(&error, ContextKind::InvalidArg).zip(text_of(&error, ContextKind::SuggestedArg)).is_some_and(far) {
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

/// A seed given by the user overrides a scenario's; the default seed does not.
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

/// One line on stderr about work that continues.
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

/// What is wrong with the options of a program that called, by the names of its parameters.
pub(super) fn in_parameters_of(error: &clap::Error) -> Rejection {
    use clap::error::ErrorKind as Kind;
    let names = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => vec![parameter_name(text)],
        Some(ContextValue::Strings(texts)) => texts.iter().map(|text| parameter_name(text)).collect(),
        _ => Vec::new(),
    };
    let invalid = names(ContextKind::InvalidArg);
    let sentence = match (error.kind(), bad_value_reason(error)) {
        (_, Some(reason)) => {
            let value = echo(text_of(error, ContextKind::InvalidValue).unwrap_or_default());
            if reason.contains(&value) { reason } else { format!("found `{value}`: {reason}") }
        }
        (Kind::MissingRequiredArgument, None) => "found no value, expected one".into(),
        (Kind::ArgumentConflict, None) => {
            let others: Vec<String> = names(ContextKind::PriorArg).iter().map(|name| format!("`{name}`")).collect();
            return Rejection::Usage {
                parameter: None,
                sentence: format!("`{}` cannot be used with {}", invalid.join("`, `"), others.join(" and ")),
            };
        }
        _ => return in_parameters(&sentence(error)),
    };
    let parameter = (!invalid.is_empty()).then(|| invalid.join(", "));
    Rejection::Usage { parameter, sentence: spelled(&sentence) }
}

/// A sentence of the command, which may begin with the option that it is about, for a program that called.
pub(super) fn in_parameters(sentence: &str) -> Rejection {
    let (head, rest) = sentence.split_once(": ").unwrap_or_default();
    let option = head.trim_matches('`');
    if option.starts_with("--") && !option.contains(' ') {
        return Rejection::Usage { parameter: Some(parameter_name(option)), sentence: spelled(rest) };
    }
    Rejection::Usage { parameter: None, sentence: spelled(sentence) }
}

/// `--threshold-noise <NOISE>` as the parameter `threshold_noise`.
fn parameter_name(option: &str) -> String {
    let name = option.split([' ', '=']).next().unwrap_or_default();
    name.trim_matches(['-', '<', '>', '[', ']', '.', '\'']).to_lowercase().replace('-', "_")
}

/// A text with the names of parameters in place of those of options: `--claim-rdp` becomes `claim_rdp` in backquotes.
fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("--") {
        let end = after.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(after.len());
        let (name, more) = after.split_at(end);
        // Not a dash between words, and not a part of a name.
        let begins = !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '-');
        let quote = if before.ends_with('`') { "" } else { "`" };
        out.push_str(before);
        match begins && name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            true => out.push_str(&format!("{quote}{}{quote}", name.replace('-', "_"))),
            false => out.push_str(&format!("--{name}")),
        }
        rest = more;
    }
    out + rest
}

/// The line about a value that cannot be used, if that is the error.
fn bad_value(error: &clap::Error) -> Option<String> {
    let (option, value) = (text_of(error, ContextKind::InvalidArg)?, text_of(error, ContextKind::InvalidValue)?);
    let reason = bad_value_reason(error)?;
    Some(match value.is_empty() && error.kind() == clap::error::ErrorKind::InvalidValue {
        true => format!("a value is required for '{option}' but none was supplied"),
        false => format!("invalid value '{}' for '{option}': {reason}", echo(value)),
    })
}

/// Why a value cannot be used, if that is the error.
fn bad_value_reason(error: &clap::Error) -> Option<String> {
    text_of(error, ContextKind::InvalidValue)?;
    let reason = match (error.kind(), error.get(ContextKind::ValidValue)) {
        (clap::error::ErrorKind::ValueValidation, _) => error.source()?.to_string(),
        (clap::error::ErrorKind::InvalidValue, Some(ContextValue::Strings(names))) => {
            format!("expected {}", names.join(", "))
        }
        _ => return None,
    };
    Some(bounded(&reason).to_string())
}

fn text_of(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_spelled_as_parameters() {
        assert_eq!(parameter_name("--threshold-noise <NOISE>"), "threshold_noise");
        assert_eq!(parameter_name("<FILE>"), "file");
        assert_eq!(
            spelled("give --pilot-fraction, or `--bins` -- not a--b"),
            "give `pilot_fraction`, or `bins` -- not a--b"
        );
        let Rejection::Usage { parameter, sentence } = in_parameters("--noise: none is given; see --mechanism") else {
            panic!("a usage error")
        };
        assert_eq!((parameter.as_deref(), &*sentence), (Some("noise"), "none is given; see `mechanism`"));
    }
}
