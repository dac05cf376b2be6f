//! `_functions.py` and `_methods.py`: a function for each command, whose body is one call.

use super::schema::{Command, Description, Kind, Opt};
use super::table::{Data, Function, Group, Table};
use super::text::{WIDTH, import, of_parameters, sentence, wrapped};
use std::collections::BTreeSet;

/// What the signatures name, and where it is defined.
const IMPORTS: [(&str, &[&str]); 4] = [
    ("collections.abc", &["Iterable", "Mapping", "Sequence"]),
    ("typing", &["Any", "Literal"]),
    ("numpy.typing", &["ArrayLike"]),
    (
        "leakbound._data",
        &[
            "Accountant",
            "Answers",
            "Counts",
            "Dataset",
            "Distribution",
            "Integers",
            "Mechanism",
            "Names",
            "Numbers",
            "Pairs",
            "RdpClaims",
            "Recording",
        ],
    ),
];

/// A parameter of a function.
struct Parameter {
    name: String,
    kind: String,
    default: Option<String>,
    help: String,
}

/// A function with what its group says.
struct Entry<'a> {
    function: &'a Function,
    group: &'a Group,
    command: &'a Command,
}

/// The functions of the package.
pub fn functions(description: &Description, table: &Table) -> Result<String, String> {
    let entries = entries(description, table)?;
    let of: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.class().is_none()).collect();
    let texts: Result<Vec<String>, String> = of.iter().map(|entry| entry.text(table, "")).collect();
    let mut names: Vec<&str> = of.iter().map(|entry| entry.function.name.as_str()).collect();
    names.sort_unstable();
    let listed: String = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    module(
        "The functions of the package, each for a command.",
        &of,
        &format!("__all__ = [\n{listed}]\n\n\n"),
        &texts?.join("\n\n"),
    )
}

/// The methods of classes that hold data, for those classes to inherit.
pub fn methods(description: &Description, table: &Table) -> Result<String, String> {
    let entries = entries(description, table)?;
    let of: Vec<&Entry<'_>> = entries.iter().filter(|entry| entry.class().is_some()).collect();
    let mut classes: Vec<String> = Vec::new();
    let mut last = None;
    for entry in &of {
        if entry.class() != last {
            last = entry.class();
            let (class, command) = (last.unwrap_or_default(), &entry.command.command);
            classes.push(format!(
                "class {class}:\n    \"\"\"Methods that run `leakbound {command}`.\"\"\"\n\n    __slots__ = ()\n"
            ));
        }
        let text = entry.text(table, "    ")?;
        if let Some(class) = classes.last_mut() {
            *class += &format!("\n{text}");
        }
    }
    module("Methods for commands, of classes that hold their data.", &of, "", &classes.join("\n\n"))
}

fn module(title: &str, entries: &[&Entry<'_>], listed: &str, body: &str) -> Result<String, String> {
    // Docstrings name nothing.
    let code: String = body.split("\"\"\"").step_by(2).collect();
    let code = code.as_str();
    let mut text = format!("\"\"\"{title}\"\"\"\n\nfrom __future__ import annotations\n\n");
    let (standard, own): (Vec<_>, Vec<_>) =
        IMPORTS.iter().partition(|(module, _)| !module.contains('.') || module.starts_with("collections"));
    for (module, names) in standard {
        text += &import(module, names, code);
    }
    let (other, data): (Vec<_>, Vec<_>) = own.into_iter().partition(|(module, _)| module.starts_with("numpy"));
    let other: String = other.iter().map(|(module, names)| import(module, names, code)).collect();
    if !other.is_empty() {
        text += &format!("\n{other}");
    }
    let results: BTreeSet<&str> = entries.iter().map(|entry| entry.result()).collect::<Result<_, _>>()?;
    let through: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.function.through.as_deref()).collect();
    text += "\nfrom leakbound import _data\n";
    text += &import("leakbound._canaries", &["CanaryScores"], code);
    for (module, names) in data {
        text += &import(module, names, code);
    }
    text += &import("leakbound._inputs", &["Path"], code);
    text += &import("leakbound._results", &results.into_iter().collect::<Vec<_>>(), code);
    text += &import("leakbound._run", &["Progress", "call"], code);
    text += &import("leakbound._scenario", &["Scenario"], code);
    text += &import("leakbound._special", &through.into_iter().collect::<Vec<_>>(), code);
    Ok(format!("{text}\n{}{listed}{body}", if listed.is_empty() { "\n" } else { "" }))
}

fn entries<'a>(description: &'a Description, table: &'a Table) -> Result<Vec<Entry<'a>>, String> {
    static NONE: Group = Group { result: None, inputs: None, class: None, data: Vec::new(), without: Vec::new() };
    let entry = |function: &'a Function| {
        let group = match &function.group {
            None => &NONE,
            Some(name) => table.group.get(name).ok_or_else(|| format!("{}: there is no group {name}", super::TABLE))?,
        };
        Ok(Entry { function, group, command: description.command(&function.command)? })
    };
    table.function.iter().map(entry).collect()
}

impl Entry<'_> {
    fn class(&self) -> Option<&str> {
        self.function.class.as_deref().or(self.group.class.as_deref())
    }

    fn result(&self) -> Result<&str, String> {
        let result = self.function.result.as_deref().or(self.group.result.as_deref());
        result.ok_or_else(|| format!("{}: {} has no result", super::TABLE, self.function.name))
    }

    fn data(&self) -> &[Data] {
        if self.function.data.is_empty() { &self.group.data } else { &self.function.data }
    }

    /// The function, indented.
    fn text(&self, table: &Table, indent: &str) -> Result<String, String> {
        let (positional, keywords) = self.parameters(table);
        let (name, result) = (&self.function.name, self.result()?);
        let mut text = format!("{indent}def {name}(\n");
        if !indent.is_empty() {
            text += &format!("{indent}    self,\n");
        }
        for parameter in &positional {
            text += &parameter.declared(indent);
        }
        text += &format!("{indent}    *,\n");
        for parameter in &keywords {
            text += &parameter.declared(indent);
        }
        text += &format!("{indent}) -> {result}:\n");
        text += &self.docstring(positional.iter().chain(&keywords), indent.len() + 4);
        let function = self.class().map_or_else(|| name.clone(), |class| format!("{class}.{name}"));
        let run = self.function.through.as_deref().unwrap_or("call");
        let inputs = self.function.inputs.as_deref().or(self.group.inputs.as_deref());
        let inputs = inputs.map_or_else(String::new, |inputs| format!(", _data.{inputs}"));
        let command = &self.function.command;
        text += &format!("{indent}    return {run}({function}, {result}, \"{command}\", locals(){inputs})\n");
        Ok(text)
    }

    /// The parameters by position, and the others.
    fn parameters(&self, table: &Table) -> (Vec<Parameter>, Vec<Parameter>) {
        let data = |keyword: bool| {
            self.data().iter().filter(move |data| data.keyword == keyword).map(|data| Parameter {
                name: data.name.clone(),
                kind: data.kind.clone(),
                default: data.default.clone(),
                help: data.help.clone(),
            })
        };
        let left_out = |option: &&Opt| {
            let lists = [&table.without, &self.group.without, &self.function.without];
            let file = option.option.is_none() && option.kind == Kind::Path;
            let data = self.data().iter().any(|data| data.name == option.name);
            !file && !data && !lists.iter().any(|list| list.contains(&option.name))
        };
        let options: Vec<&Opt> = self.command.options.iter().filter(left_out).collect();
        let (by_position, others): (Vec<&Opt>, Vec<&Opt>) =
            options.into_iter().partition(|option| self.function.positional.contains(&option.name));
        let parameter = |option: &&Opt| self.parameter(option, table);
        let positional = data(false).chain(by_position.iter().map(parameter)).collect();
        let progress = Parameter {
            name: "progress".into(),
            kind: "Progress".into(),
            default: Some("None".into()),
            help: "True for a bar of tqdm, or a function of what is done, the whole, and their unit.".into(),
        };
        (positional, data(true).chain(others.iter().map(parameter)).chain([progress]).collect())
    }

    fn parameter(&self, option: &Opt, table: &Table) -> Parameter {
        let given = self.function.defaults.get(&option.name);
        let default = match (given, &option.default) {
            (Some(given), _) => Some(given.clone()),
            (None, Some(text)) => Some(literal(option, text)),
            (None, None) if option.kind == Kind::Flag => Some("False".into()),
            (None, None) if option.required => None,
            (None, None) => Some("None".into()),
        };
        let own = self.function.types.get(&option.name).or_else(|| table.types.get(&option.name));
        let kind = own.filter(|own| !own.is_empty()).cloned().unwrap_or_else(|| kind(option));
        let absent = if default.as_deref() == Some("None") { " | None" } else { "" };
        let mut help = sentence(&of_parameters(&option.help));
        if let (Some(_), Some((before, _))) = (given, help.split_once(" [default: ")) {
            help = sentence(before);
        }
        if option.list && !option.choices.iter().all(|choice| help.contains(choice.as_str())) {
            help += &format!(" Names: {}.", option.choices.join(", "));
        }
        if let Some(data) = self.data().first() {
            let named = format!("`{}`", data.name);
            help = help.split(' ').map(|word| if word == "FILE" { &named } else { word }).collect::<Vec<_>>().join(" ");
        }
        Parameter { name: option.name.clone(), kind: kind + absent, default, help }
    }

    fn docstring<'a>(&self, parameters: impl Iterator<Item = &'a Parameter>, indent: usize) -> String {
        let pad = " ".repeat(indent);
        let help = self.function.help.as_ref().unwrap_or(&self.command.help);
        let mut parts: Vec<String> = Vec::new();
        for (place, paragraph) in help.split("\n\n").enumerate() {
            let start = if place == 0 { "\"\"\"" } else { "" };
            let paragraph = sentence(&of_parameters(paragraph));
            parts.push(wrapped(&format!("{start}{paragraph}"), indent, indent));
        }
        let listed = parameters
            .map(|parameter| wrapped(&format!("{}: {}", parameter.name, parameter.help), indent + 4, indent + 8));
        parts.push(format!("{pad}Args:\n{}", listed.collect::<Vec<_>>().join("\n")));
        if let Some(example) = &self.function.example {
            parts.push(example.lines().map(|line| format!("{pad}{line}")).collect::<Vec<_>>().join("\n"));
        }
        format!("{}\n{pad}\"\"\"\n", parts.join("\n\n"))
    }
}

impl Parameter {
    /// The line of the signature, broken where it is too long.
    fn declared(&self, indent: &str) -> String {
        let default = self.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
        let line = format!("{indent}    {}: {}{default},\n", self.name, self.kind);
        // As `ruff format` breaks it.
        match self.kind.strip_suffix(" | None") {
            Some(kind) if line.chars().count() > WIDTH + 1 => {
                format!("{indent}    {}: {kind}\n{indent}    | None{default},\n", self.name)
            }
            _ => line,
        }
    }
}

/// The type of an option by the kind of its values.
fn kind(option: &Opt) -> String {
    if option.kind == Kind::String && !option.list && !option.choices.is_empty() {
        let choices: Vec<String> = option.choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        return format!("Literal[{}]", choices.join(", "));
    }
    let (one, several) = match option.kind {
        Kind::Number => ("float", "Numbers"),
        Kind::Integer => ("int", "Integers"),
        Kind::String => ("str", "Names"),
        Kind::Path => ("Path", "Iterable[Path]"),
        Kind::Flag => ("bool", "bool"),
    };
    if option.list { several } else { one }.into()
}

/// A default of the parser as a literal of Python.
fn literal(option: &Opt, text: &str) -> String {
    let number = |text: &str| text.parse::<f64>().is_ok();
    if option.kind == Kind::String || option.kind == Kind::Path || !text.split(',').all(number) {
        return format!("\"{text}\"");
    }
    if text.contains(',') { format!("({})", text.replace(',', ", ")) } else { text.to_owned() }
}
