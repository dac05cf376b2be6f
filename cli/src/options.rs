//! The options of a command as an object, as documents and study files have them, and as arguments.
//!
//! The parser's definition is the one schema: it defines which options there are, which of them take several values, and
//! what they are if not given. Values are checked where the arguments are parsed, once for all three forms.

use super::args::Common;
use super::command_line::CommandLine;
use super::usage;
use clap::builder::ArgAction;
use clap::{Arg, Args};
use leakbound::bound::Claimed;
use leakbound::error::echo;
use leakbound::quantity::Order;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::ffi::OsString;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// Whose word the options are.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// A document's, with null or an empty list for what was not given.
    Document,
    /// Somebody's, in a file: whatever stands there is meant. Paths are relative to its folder, if given.
    File(Option<&'a Path>),
}

/// Why options are not arguments of a command.
#[derive(Debug)]
pub(super) enum Unusable {
    /// The command is unknown, or only the first word of one.
    Command(String),
    /// The command does not have the option.
    Unknown(String),
    /// The option is there twice, in two spellings.
    Twice(String),
    /// The value is of another kind.
    Value { option: String, value: String, expected: &'static str },
}

impl fmt::Display for Unusable {
    /// What was found, as one phrase.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(phrase) => formatter.write_str(phrase),
            Self::Unknown(option) => write!(formatter, "the option `{}`, which it does not have", echo(option)),
            Self::Twice(option) => write!(formatter, "the option `{}` a second time", echo(option)),
            Self::Value { option, value, expected } => {
                write!(formatter, "`{} = {}`, which is not {expected}", echo(option), echo(value))
            }
        }
    }
}

/// The arguments of a command.
pub(super) struct Words {
    pub(super) words: Vec<OsString>,
    /// The files and folders among them, with the names of their options in the parser.
    pub(super) paths: Vec<(String, PathBuf)>,
}

/// The parser of a command line, with the options that all commands share.
#[derive(Debug)]
pub(super) struct Schema<C>(clap::Command, PhantomData<C>);

impl<C: CommandLine> Schema<C> {
    pub(super) fn new() -> Self {
        let mut command = C::command();
        command.build();
        Self(command, PhantomData)
    }

    /// The arguments of `leakbound COMMAND` for these options: names with hyphens or underscores, lists for options
    /// with several values, `true` for flags. `false` and defaults are left out, because some options exclude each other
    /// even with their default values; but for the seed, since one that is given overrides a scenario's.
    ///
    /// # Errors
    /// What cannot be used.
    pub(super) fn arguments(
        &self,
        command: &str,
        options: &Map<String, Value>,
        origin: Origin<'_>,
    ) -> Result<Words, Unusable> {
        let found = self.command(command).map_err(Unusable::Command)?;
        let mut words: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        let mut positional: Vec<(Option<usize>, Vec<String>)> = Vec::new();
        let (mut paths, mut seen): (Vec<(String, PathBuf)>, Vec<&clap::Id>) = (Vec::new(), Vec::new());
        for (name, value) in options {
            let long = name.replace('_', "-");
            let named = |argument: &&Arg| argument.get_id() == name.as_str() || argument.get_long() == Some(&long);
            let argument = found.get_arguments().filter(|argument| is_option(argument)).find(named);
            let argument = argument.ok_or_else(|| Unusable::Unknown(name.clone()))?;
            if seen.contains(&argument.get_id()) {
                return Err(Unusable::Twice(name.clone()));
            }
            seen.push(argument.get_id());
            let values = values(argument, value, origin).map_err(|expected| Unusable::Value {
                option: name.clone(),
                value: value.to_string(),
                expected,
            })?;
            let values: Vec<String> = match origin {
                Origin::File(Some(folder)) if is_path(argument) => {
                    values.iter().map(|path| within(folder, path)).collect()
                }
                _ => values,
            };
            if is_path(argument) {
                paths.extend(values.iter().map(|path| (argument.get_id().to_string(), PathBuf::from(path))));
            }
            if argument.is_positional() {
                positional.push((argument.get_index(), values));
            } else if takes_value(argument) {
                let name = argument.get_long().unwrap_or(&long);
                words.extend(values.into_iter().map(|value| format!("--{name}={value}").into()));
            } else if !values.is_empty() {
                words.push(format!("--{long}").into());
            }
        }
        positional.sort_by_key(|(index, _)| *index);
        // A file may be called `-` or begin with a hyphen.
        words.push("--".into());
        words.extend(positional.into_iter().flat_map(|(_, values)| values).map(OsString::from));
        Ok(Words { words, paths })
    }

    /// Reads the arguments of a command that has a document.
    ///
    /// # Errors
    /// What is wrong with them, as one phrase.
    pub(super) fn parsed(&mut self, arguments: &[OsString]) -> Result<C, String> {
        let line = self.read(arguments).map_err(|error| usage::sentence(&error))?;
        if line.has_document() { Ok(line) } else { Err("a command that prints a text and has no document".into()) }
    }

    /// Reads the arguments of a command.
    ///
    /// # Errors
    /// The parser's.
    pub(super) fn read(&mut self, arguments: &[OsString]) -> Result<C, clap::Error> {
        usage::read_with(&mut self.0, arguments)
    }

    fn command(&self, name: &str) -> Result<&clap::Command, String> {
        let mut found = &self.0;
        for part in name.split_whitespace() {
            found = found
                .find_subcommand(part)
                .ok_or_else(|| format!("the command `{name}`, which is not one of {}", subcommands(found)))?;
        }
        if found.has_subcommands() {
            return Err(format!("the command `{name}`, which must be followed by one of {}", subcommands(found)));
        }
        Ok(found)
    }
}

/// The options that every command has, but the seed: they say where the result goes, and how it is made.
pub(super) fn shared_options() -> Vec<String> {
    let shared = Common::augment_args(clap::Command::new("shared"));
    let names = shared.get_arguments().map(|argument| argument.get_id().to_string());
    names.filter(|name| name != "seed").collect()
}

fn subcommands(command: &clap::Command) -> String {
    command.get_subcommands().map(clap::Command::get_name).collect::<Vec<_>>().join(", ")
}

/// A path that is not absolute, from the folder that it is relative to; `-` is the standard input.
fn within(folder: &Path, path: &str) -> String {
    if path == "-" { path.to_owned() } else { folder.join(path).to_string_lossy().into_owned() }
}

fn is_path(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<PathBuf>()
}

fn takes_value(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Whether it is an option of the command, and not a request for help.
fn is_option(argument: &Arg) -> bool {
    takes_value(argument) || matches!(argument.get_action(), ArgAction::SetTrue)
}

/// Whether its value may be a list or table of JSON, which the help shows by its placeholder.
fn takes_json(argument: &Arg) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.contains("JSON") || name.contains("[...]"))
}

/// The texts that the parser reads, one for each time that the option is given; none where it is left out.
fn values(argument: &Arg, value: &Value, origin: Origin<'_>) -> Result<Vec<String>, &'static str> {
    let is_document = matches!(origin, Origin::Document);
    if !takes_value(argument) {
        return match value {
            Value::Bool(true) => Ok(vec![String::new()]),
            Value::Bool(false) => Ok(Vec::new()),
            Value::Null if is_document => Ok(Vec::new()),
            _ => Err("true or false"),
        };
    }
    let repeated = matches!(argument.get_action(), ArgAction::Append);
    // One text for each value, or one for all of them.
    let apart = repeated && argument.get_value_delimiter().is_none();
    let pairs = argument.get_value_parser().type_id() == TypeId::of::<(Order, Claimed)>();
    let texts = match value {
        Value::Null if is_document => Vec::new(),
        Value::Array(items) if items.is_empty() && is_document && repeated => Vec::new(),
        Value::Array(_) | Value::Object(_) if takes_json(argument) => vec![value.to_string()],
        Value::Array(items) if items.is_empty() => return Err("a list with at least one value"),
        Value::Array(items) if pairs => items.iter().map(|item| joined(item, ":")).collect::<Result<_, _>>()?,
        Value::Array(items) if apart => items.iter().map(text).collect::<Result<_, _>>()?,
        Value::Array(_) if is_path(argument) && !repeated => return Err("one path, as a text"),
        Value::Object(items) if pairs && !items.is_empty() => {
            let pair = |(key, item): (&String, &Value)| Ok(format!("{key}:{}", text(item)?));
            items.iter().map(pair).collect::<Result<_, &'static str>>()?
        }
        Value::Object(_) if pairs => return Err("a table of orders and values with at least one of them"),
        Value::Number(_) if is_path(argument) => return Err("a path, as a text"),
        Value::Null | Value::Bool(_) | Value::Object(_) => return Err("a number, a text or a list"),
        Value::Array(_) | Value::String(_) | Value::Number(_) => vec![joined(value, ",")?],
    };
    if is_path(argument) && texts.iter().any(String::is_empty) {
        return Err("a path");
    }
    let default: Vec<&str> = argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    let is_default = argument.get_id() != "seed" && !default.is_empty() && same(&texts.join(","), &default.join(","));
    Ok(if is_default { Vec::new() } else { texts })
}

/// The items of a list with a separator between them; another value as it is.
fn joined(value: &Value, separator: &str) -> Result<String, &'static str> {
    let Value::Array(items) = value else { return text(value) };
    let texts = items.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    // It would become two.
    let divided = texts.iter().any(|text| text.contains(separator));
    if divided { Err("a list of values without separators in them") } else { Ok(texts.join(separator)) }
}

fn text(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err("a number or a text"),
    }
}

/// Whether two lists hold the same texts, or numbers that are equal, such as 1000000 and 1e6.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let equal = |(a, b): (&str, &str)| a == b || number(a).is_some_and(|a| number(b) == Some(a));
    a.split(',').count() == b.split(',').count() && a.split(',').zip(b.split(',')).all(equal)
}
