//! `leakbound schema`: what the parser and the types of the answers say of each command, as JSON.

use crate::args::{Cli, Common, Format, Kind, SchemaOptions, is_list, kind, names};
use crate::output::print;
use clap::{Args, CommandFactory};
use leakbound::report::{Answered, MetaClassifierDocument, RecordingDocument, StudentDocument};
use leakbound::study::{
    AccountAnswer, BenchAnswer, CalibrateAnswer, CanaryAuditAnswer, CanaryPlanAnswer, CountsAnswer, DefensesAnswer,
    ExactAnswer, LabelAnswer, LabelComparisonAnswer, MechanismAnswer, MembershipAnswer, MetaClassifierAnswer,
    PropertyAnswer, RerunAnswer, ScoreCheckAnswer, ScoresAnswer, SelfCheckAnswer, SimulateAnswer, StreamAnswer,
    StudentMembershipAnswer, SuiteAnswer, SweepAnswer, TextMembershipAnswer, TokensAnswer, VerifyAnswer, VotesAnswer,
};
use leakbound::{Error, Result};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Makes the JSON Schema of a document.
type Make = fn() -> Schema;

/// What each command prints; others print no document.
const DOCUMENTS: [(&str, Make); 46] = [
    ("exact", answer::<ExactAnswer>),
    ("audit counts", answer::<CountsAnswer>),
    ("audit confusion", answer::<CountsAnswer>),
    ("audit scores", answer::<ScoresAnswer>),
    ("audit votes", answer::<VotesAnswer>),
    ("audit stream", answer::<StreamAnswer>),
    ("audit mechanism", answer::<MechanismAnswer>),
    ("audit tokens", answer::<TokensAnswer>),
    ("account", answer::<AccountAnswer>),
    ("calibrate", answer::<CalibrateAnswer>),
    ("canaries plan", answer::<CanaryPlanAnswer>),
    ("canaries audit", answer::<CanaryAuditAnswer>),
    ("label-dp memorization", answer::<LabelAnswer>),
    ("label-dp compare", answer::<LabelComparisonAnswer>),
    ("label-dp mechanisms", answer::<LabelComparisonAnswer>),
    ("membership lira", answer::<MembershipAnswer>),
    ("membership label-only", answer::<MembershipAnswer>),
    ("membership threshold", answer::<MembershipAnswer>),
    ("membership rmia", answer::<MembershipAnswer>),
    ("membership risk", answer::<MembershipAnswer>),
    ("membership attacker", answer::<MembershipAnswer>),
    ("membership compare", answer::<MembershipAnswer>),
    ("membership students", answer::<StudentMembershipAnswer>),
    ("membership text", answer::<TextMembershipAnswer>),
    ("membership defenses", answer::<DefensesAnswer>),
    ("property distance", answer::<PropertyAnswer>),
    ("property meta-classifier", answer::<MetaClassifierAnswer>),
    ("self-check audit counts", answer::<SelfCheckAnswer>),
    ("self-check audit scores", answer::<ScoreCheckAnswer>),
    ("simulate", answer::<SimulateAnswer>),
    ("merge", answer::<SimulateAnswer>),
    ("bench", answer::<BenchAnswer>),
    ("verify", answer::<VerifyAnswer>),
    ("rerun", answer::<RerunAnswer>),
    ("run", answer::<SuiteAnswer>),
    ("torch teachers", document::<RecordingDocument>),
    ("torch shadow", document::<RecordingDocument>),
    ("torch dpsgd", document::<RecordingDocument>),
    ("torch dpsgd-runs", document::<RecordingDocument>),
    ("torch label-dp", document::<RecordingDocument>),
    ("torch pate-fm", document::<RecordingDocument>),
    ("torch prompt-pate", document::<RecordingDocument>),
    ("torch meta-classifier", document::<MetaClassifierDocument>),
    ("torch property", document::<RecordingDocument>),
    ("torch student", document::<StudentDocument>),
    ("torch tokens", document::<RecordingDocument>),
];

/// What a command prints with an option, where that is another document.
const DOCUMENTS_WITH: [(&str, &str, Make); 1] = [("bench", "--sweep", answer::<SweepAnswer>)];

fn answer<A: JsonSchema>() -> Schema {
    document::<Answered<A>>()
}

fn document<D: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(without_example));
    settings.into_generator().into_root_schema_for::<D>()
}

/// Examples in comments are for programs in Rust.
fn without_example(schema: &mut Schema) {
    let text = schema.get("description").and_then(Value::as_str).and_then(|text| text.split_once("```"));
    if let Some(text) = text.map(|(text, _)| text.trim_end().to_owned()) {
        schema.insert("description".into(), text.into());
    }
}

/// The schema of what a command prints.
fn document_of(command: &str, help: &str) -> Option<Schema> {
    let (_, make) = DOCUMENTS.iter().find(|(known, _)| *known == command)?;
    Some(titled(make(), command, help))
}

/// The schemas of what it prints with some options.
fn documents_with(command: &str, help: &str) -> BTreeMap<&'static str, Schema> {
    let with = DOCUMENTS_WITH.iter().filter(|(known, ..)| *known == command);
    with.map(|(_, option, make)| (*option, titled(make(), &format!("{command} {option}"), help))).collect()
}

fn titled(mut schema: Schema, command: &str, help: &str) -> Schema {
    schema.insert("title".into(), format!("leakbound {command} --format json").into());
    schema.insert("description".into(), help.into());
    schema
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
    document: Option<Schema>,
    /// Other documents, by the option with which they are printed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    documents_with: BTreeMap<&'static str, Schema>,
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

pub fn run(common: &Common, options: &SchemaOptions) -> Result<bool> {
    let mut root = Cli::command();
    root.build();
    let mut commands = Vec::new();
    collect(&root, &[], &mut commands);
    let of = |row: &CommandRow| row.command.split(' ').zip(&options.words).filter(|(a, b)| a == b).count();
    commands.retain(|row| of(row) == options.words.len());
    if commands.is_empty() {
        let reason = format!("there is no command `{}`; `leakbound schema` prints all", options.words.join(" "));
        return Err(Error::Rejected { operation: "schema", reason });
    }
    let description = Description { schema: "leakbound.schema/1", version: env!("CARGO_PKG_VERSION"), commands };
    let mut text = serde_json::to_string_pretty(&description).map_err(|error| Error::Io {
        path: "stdout".into(),
        action: "write",
        source: error.into(),
    })?;
    text.push('\n');
    print(common, &[Format::Text, Format::Json], text.as_bytes()).map(|()| false)
}

/// The commands below one, in the order of the help.
fn collect(command: &clap::Command, path: &[&str], rows: &mut Vec<CommandRow>) {
    let shared = shared_options();
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let path = [path, &[below.get_name()]].concat();
        if below.has_subcommands() {
            collect(below, &path, rows);
            continue;
        }
        let name = path.join(" ");
        let shown = |argument: &&clap::Arg| !matches!(argument.get_id().as_str(), "help" | "version");
        let help = below.get_about().map(ToString::to_string).unwrap_or_default();
        rows.push(CommandRow {
            document: document_of(&name, &help),
            documents_with: documents_with(&name, &help),
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

    #[test]
    fn every_command_with_a_document_has_its_schema() {
        let mut root = Cli::command();
        root.build();
        let mut rows = Vec::new();
        collect(&root, &[], &mut rows);
        let without: Vec<&str> =
            rows.iter().filter(|row| row.document.is_none()).map(|row| row.command.as_str()).collect();
        // One command without the feature, which says so, and several with it.
        let absent = rows.iter().any(|row| row.command == "torch");
        assert_eq!(without, [if absent { "torch" } else { "torch device" }, "schema", "completions", "man"]);
        let known: Vec<&str> = rows.iter().map(|row| row.command.as_str()).collect();
        for (command, _) in DOCUMENTS {
            let needs_torch = command.starts_with("torch ") || command == "property meta-classifier";
            assert!(known.contains(&command) || absent && needs_torch, "{command}");
        }
        for (command, option, _) in DOCUMENTS_WITH {
            let row = rows.iter().find(|row| row.command == command).unwrap();
            assert!(row.options.iter().any(|known| known.option.as_deref() == Some(option)), "{command} {option}");
        }
    }
}
