//! `leakbound schema`: what the parser and the types of the answers say of each command, as JSON.

use super::account::BudgetEpsilons;
use super::membership::VictimList;
use super::votes_options::Queries;
use crate::args::values::Orders;
use crate::args::{Common, Format};
use crate::output::print;
use clap::Args;
use clap::builder::{ArgAction, ValueHint};
use leakbound::black_box::Grid;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Delta, Epsilon, FailureProbability, Order, Probability};
use leakbound::study::Methods;
use leakbound::{Error, Result, json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Print the options of commands and the JSON Schema of their documents
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  leakbound schema exact > exact.json\n\nWithout COMMAND all commands are printed. Each has its options, with type, default and \
                        choices, and the JSON Schema of what it prints with --format json."
)]
pub struct SchemaOptions {
    /// The command, such as `exact` or `audit counts`, or the first words of several
    #[arg(value_name = "COMMAND", value_hint = ValueHint::CommandName)]
    pub words: Vec<String>,
}

/// What kind of value an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A floating-point number; `inf` where it may be infinite
    Number,
    /// A whole number, also in powers of ten
    Integer,
    /// Text in the form that the help describes
    String,
    /// The path of a file or folder
    Path,
    /// No value: the option is given or not
    Flag,
}

/// What the type of an argument's values tells: what kind each is, and whether one is a list with commas.
type Described = (TypeId, Kind, bool);

fn described(argument: &clap::Arg) -> Option<Described> {
    const fn of<T: 'static>(kind: Kind, is_list: bool) -> Described {
        (TypeId::of::<T>(), kind, is_list)
    }
    let all = [
        of::<PathBuf>(Kind::Path, false),
        of::<f64>(Kind::Number, false),
        of::<Order>(Kind::Number, false),
        of::<Orders>(Kind::Number, true),
        of::<Epsilon>(Kind::Number, false),
        of::<BudgetEpsilons>(Kind::Number, true),
        of::<Delta>(Kind::Number, false),
        of::<FailureProbability>(Kind::Number, false),
        of::<Probability>(Kind::Number, false),
        of::<Grid>(Kind::Number, false),
        of::<u64>(Kind::Integer, false),
        of::<usize>(Kind::Integer, false),
        of::<VoteHistogram>(Kind::Integer, true),
        of::<Queries>(Kind::Integer, true),
        of::<VictimList>(Kind::Integer, true),
        of::<Methods>(Kind::String, true),
    ];
    let value = argument.get_value_parser().type_id();
    all.into_iter().find(|(known, ..)| value == *known)
}

/// The kind of an argument's value, or of each of its values.
fn kind(argument: &clap::Arg) -> Kind {
    match argument.get_action() {
        ArgAction::Set | ArgAction::Append => described(argument).map_or(Kind::String, |(_, kind, _)| kind),
        _ => Kind::Flag,
    }
}

/// Whether an argument takes several values: it may be repeated, or its value is a list with commas.
fn is_list(argument: &clap::Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append) || described(argument).is_some_and(|(_, _, is_list)| is_list)
}

/// The names that a value may have, where it is one of some names.
fn names(argument: &clap::Arg) -> Vec<String> {
    let listed = argument.get_possible_values();
    let listed = listed.iter().filter(|_| kind(argument) == Kind::String);
    listed.map(|value| value.get_name().to_owned()).collect()
}

/// Definitions of the documents, generated from the types of the answers. A test of `leakbound-validation` keeps them
/// current, so that building the command does not derive them.
const DOCUMENTS: &str = include_str!("../documents.json");

/// A document, and the commands that print it, as `exact`, or as `bench --sweep` where that takes an option.
#[derive(Deserialize)]
struct Document {
    commands: Vec<String>,
    schema: Map<String, Value>,
}

/// The documents of a command, by the option that it takes; an empty one for none.
fn documents(all: &[Document], command: &str, help: &str) -> BTreeMap<String, Value> {
    let printed = all.iter().flat_map(|document| document.commands.iter().map(|name| (name, &document.schema)));
    printed
        .filter_map(|(name, schema)| {
            let option = name.strip_prefix(command).filter(|rest| rest.is_empty() || rest.starts_with(" --"))?;
            let mut schema = schema.clone();
            schema.insert("title".into(), format!("leakbound {name} --format json").into());
            schema.insert("description".into(), help.into());
            Some((option.trim_start().to_owned(), schema.into()))
        })
        .collect()
}

/// All that is printed.
#[derive(Serialize)]
struct Description {
    schema: &'static str,
    version: &'static str,
    commands: Vec<CommandRow>,
}

/// A command.
#[derive(Serialize)]
struct CommandRow {
    command: String,
    help: String,
    options: Vec<OptionRow>,
    document: Option<Value>,
    /// Other documents, by the option with which they are printed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    documents_with: BTreeMap<String, Value>,
}

/// An option of a command.
#[derive(Serialize)]
struct OptionRow {
    /// As in documents, study files and Python.
    name: String,
    /// As on the command line; absent where the value stands by its position.
    option: Option<String>,
    kind: Kind,
    /// Several values, or one.
    list: bool,
    /// How the help writes a value.
    value: Option<String>,
    default: Option<String>,
    choices: Vec<String>,
    required: bool,
    /// Every command has it.
    shared: bool,
    excludes: Vec<String>,
    help: String,
}

pub fn run(common: &Common, options: &SchemaOptions, mut root: clap::Command) -> Result<bool> {
    root.build();
    let mut commands = rows(&root)?;
    let of = |row: &CommandRow| row.command.split(' ').zip(&options.words).filter(|(a, b)| a == b).count();
    commands.retain(|row| of(row) == options.words.len());
    let reason = format_args!("unknown command `{}`; `leakbound schema` prints all", options.words.join(" "));
    Error::check_possible(!commands.is_empty(), "schema", reason)?;
    let description = Description { schema: "leakbound.schema/1", version: env!("CARGO_PKG_VERSION"), commands };
    let mut text = serde_json::to_string_pretty(&description).map_err(unreadable)?;
    text.push('\n');
    print(common, &[Format::Text, Format::Json], text.as_bytes()).map(|()| false)
}

fn unreadable(error: serde_json::Error) -> Error {
    Error::Io { path: "stdout".into(), action: "write", source: error.into() }
}

/// All commands, in the order of the help.
fn rows(root: &clap::Command) -> Result<Vec<CommandRow>> {
    let documents: Vec<Document> = json::from_str(DOCUMENTS).map_err(unreadable)?;
    let mut rows = Vec::new();
    collect(root, &[], &documents, &mut rows);
    Ok(rows)
}

fn collect(command: &clap::Command, path: &[&str], all: &[Document], rows: &mut Vec<CommandRow>) {
    let shared = shared_options();
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let path = [path, &[below.get_name()]].concat();
        if below.has_subcommands() {
            collect(below, &path, all, rows);
            continue;
        }
        let name = path.join(" ");
        let shown = |argument: &&clap::Arg| !matches!(argument.get_id().as_str(), "help" | "version");
        let help = below.get_about().map(ToString::to_string).unwrap_or_default();
        let mut documents_with = documents(all, &name, &help);
        rows.push(CommandRow {
            document: documents_with.remove(""),
            documents_with,
            help,
            options: below.get_arguments().filter(shown).map(|argument| option(below, argument, &shared)).collect(),
            command: name,
        });
    }
}

fn option(command: &clap::Command, argument: &clap::Arg, shared: &BTreeSet<String>) -> OptionRow {
    let kind = kind(argument);
    let texts = |values: &[clap::builder::OsStr]| {
        values.iter().map(|value| value.to_string_lossy().into_owned()).collect::<Vec<_>>().join(",")
    };
    let default = Some(texts(argument.get_default_values())).filter(|text| kind != Kind::Flag && !text.is_empty());
    let value = argument.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
    OptionRow {
        name: name(argument),
        option: argument.get_long().map(|long| format!("--{long}")),
        kind,
        list: is_list(argument),
        value: value.filter(|_| kind != Kind::Flag).map(|names| names.join(" ")),
        default,
        choices: names(argument),
        required: argument.is_required_set(),
        shared: shared.contains(argument.get_id().as_str()),
        excludes: command.get_arg_conflicts_with(argument).into_iter().map(name).collect(),
        help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
    }
}

/// The name of an option in documents.
fn name(argument: &clap::Arg) -> String {
    argument.get_long().map_or_else(|| argument.get_id().to_string(), |long| long.replace('-', "_"))
}

fn shared_options() -> BTreeSet<String> {
    let shared = Common::augment_args(clap::Command::new("shared"));
    shared.get_arguments().map(|argument| argument.get_id().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_with_a_document_has_its_schema() {
        let mut root = Cli::command();
        root.build();
        let rows = rows(&root).unwrap();
        let without: Vec<&str> =
            rows.iter().filter(|row| row.document.is_none()).map(|row| row.command.as_str()).collect();
        // One command without the feature, which says so, and several with it.
        let absent = rows.iter().any(|row| row.command == "torch");
        let torch = if absent { "torch" } else { "torch device" };
        assert_eq!(without, [torch, "schema", "completions", "man"]);
        let known: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
        for name in json::from_str::<Vec<Document>>(DOCUMENTS).unwrap().iter().flat_map(|one| &one.commands) {
            let (command, option) = name.split_once(" --").unwrap_or((name, ""));
            let needs_torch = command.starts_with("torch ") || command == "property meta-classifier";
            assert!(known.contains(&command) || absent && needs_torch, "{name}");
            let row = rows.iter().find(|row| row.command == command);
            let has = |row: &CommandRow| row.options.iter().any(|known| known.name == option);
            assert!(option.is_empty() || row.is_some_and(has), "{name}");
        }
    }
}
