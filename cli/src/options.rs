//! The options of a command as an object, as documents and study files have them, and as arguments.
//!
//! The parser's definition is the one schema: it says which options there are, which of them take several values, and
//! what they are if not given. Values are checked where the arguments are parsed, once for all three forms.

use super::args::{Cli, Common};
use super::usage;
use clap::builder::ArgAction;
use clap::{Arg, Args, CommandFactory};
use serde_json::{Map, Value};
use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The parser of every command, with the options that all commands share.
pub(super) struct Schema(clap::Command);

impl Schema {
    pub(super) fn new() -> Self {
        let mut command = Cli::command();
        command.build();
        Self(command)
    }

    /// The arguments of `leakbound COMMAND` for these options: names with hyphens or underscores, lists for options
    /// with several values, `true` for flags. Null, `false`, empty lists and defaults are left out, because some
    /// options exclude each other even with their default values.
    ///
    /// Paths are relative to `folder`, if given.
    ///
    /// # Errors
    /// What was found that is no request, as one phrase.
    pub(super) fn arguments(
        &self,
        command: &str,
        options: &Map<String, Value>,
        folder: Option<&Path>,
    ) -> Result<Vec<OsString>, String> {
        let found = self.command(command)?;
        let mut arguments: Vec<OsString> = command.split_whitespace().map(OsString::from).collect();
        let mut positional: Vec<(Option<usize>, Vec<String>)> = Vec::new();
        for (name, value) in options {
            let long = name.replace('_', "-");
            let argument = found
                .get_arguments()
                .find(|argument| argument.get_id() == name.as_str() || argument.get_long() == Some(&long))
                .ok_or_else(|| format!("the option `{name}`, which it does not have"))?;
            let values = values(argument, value).map_err(|kind| format!("`{name} = {value}`, which is not {kind}"))?;
            let values: Vec<String> = match folder {
                Some(folder) if is_path(argument) => values.iter().map(|path| within(folder, path)).collect(),
                _ => values,
            };
            if argument.is_positional() {
                positional.push((argument.get_index(), values));
            } else if takes_value(argument) {
                let name = argument.get_long().unwrap_or(&long);
                arguments.extend(values.into_iter().map(|value| format!("--{name}={value}").into()));
            } else if !values.is_empty() {
                arguments.push(format!("--{long}").into());
            }
        }
        positional.sort_by_key(|(index, _)| *index);
        // A file may be called `-` or begin with a hyphen.
        arguments.push("--".into());
        arguments.extend(positional.into_iter().flat_map(|(_, values)| values).map(OsString::from));
        Ok(arguments)
    }

    /// The options that every command has, but the seed: they say where the result goes, and how it is made.
    pub(super) fn shared_options() -> Vec<String> {
        let shared = Common::augment_args(clap::Command::new("shared"));
        let names = shared.get_arguments().map(|argument| argument.get_id().to_string());
        names.filter(|name| name != "seed").collect()
    }

    /// Reads the arguments of a command that has a document.
    ///
    /// # Errors
    /// What is wrong with them, as one phrase.
    pub(super) fn parsed(&mut self, arguments: &[OsString]) -> Result<Cli, String> {
        let cli = usage::read_with(&mut self.0, arguments).map_err(|error| usage::sentence(&error))?;
        if cli.command.has_document() {
            Ok(cli)
        } else {
            Err("a command that prints a text and has no document".into())
        }
    }

    fn command(&self, name: &str) -> Result<&clap::Command, String> {
        let mut found = &self.0;
        for part in name.split_whitespace() {
            found = found
                .find_subcommand(part)
                .ok_or_else(|| format!("the command `{name}`, which is none of {}", subcommands(found)))?;
        }
        if found.has_subcommands() {
            return Err(format!("the command `{name}`, which goes on with one of {}", subcommands(found)));
        }
        Ok(found)
    }
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

/// The texts that the parser reads, one for each time that the option is given; none where it is left out.
fn values(argument: &Arg, value: &Value) -> Result<Vec<String>, &'static str> {
    if !takes_value(argument) {
        return match value {
            Value::Bool(true) => Ok(vec![String::new()]),
            Value::Bool(false) | Value::Null => Ok(Vec::new()),
            _ => Err("true or false"),
        };
    }
    // One text for each value, or one for all of them.
    let apart = matches!(argument.get_action(), ArgAction::Append) && argument.get_value_delimiter().is_none();
    let texts = match value {
        Value::Null => Vec::new(),
        Value::Bool(_) => return Err("a number, a text or a list"),
        Value::Array(items) if apart => items.iter().map(|item| joined(item, ":")).collect::<Result<_, _>>()?,
        Value::Object(items) if apart => {
            let pair = |(key, item): (&String, &Value)| Ok(format!("{key}:{}", text(item)?));
            items.iter().map(pair).collect::<Result<_, &'static str>>()?
        }
        Value::Object(_) => vec![value.to_string()],
        Value::Array(items) if items.is_empty() => Vec::new(),
        _ => vec![joined(value, ",")?],
    };
    let default: Vec<&str> = argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    Ok(if !default.is_empty() && same(&texts.join(","), &default.join(",")) { Vec::new() } else { texts })
}

/// The items of a list with a separator between them; another value as it is.
fn joined(value: &Value, separator: &str) -> Result<String, &'static str> {
    match value {
        Value::Array(items) => Ok(items.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(separator)),
        other => text(other),
    }
}

fn text(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err("a number or a text"),
    }
}

/// Whether two lists hold the same texts, or numbers that are equal, such as 1000000 and 1e6.
fn same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let equal = |(a, b): (&str, &str)| a == b || number(a).is_some_and(|a| number(b) == Some(a));
    a.split(',').count() == b.split(',').count() && a.split(',').zip(b.split(',')).all(equal)
}
