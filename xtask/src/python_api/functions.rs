//! The modules of functions, `_methods.py` and `_options.py`: a signature and its documentation for each command.

use super::schema::{Command, Description, Kind, Opt};
use super::table::{Data, Function, Group, Module, Shared, Table};
use super::text::{WIDTH, import, of_parameters, sentence, wrapped};
use std::collections::{BTreeMap, BTreeSet};

/// What the signatures name, and where it is defined, in the order of the imports.
const IMPORTS: [(&str, &[&str]); 7] = [
    ("collections.abc", &["Iterable", "Mapping", "Sequence"]),
    ("typing", &["TYPE_CHECKING", "Annotated", "Any", "Literal", "TypedDict"]),
    ("numpy.typing", &["ArrayLike"]),
    ("leakbound", &["_data"]),
    ("leakbound._call", &["Option", "Progress", "command"]),
    ("leakbound._canaries", &["CanaryScores"]),
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
            "Releases",
            "Scenario",
            "ScoreSets",
            "Spec",
        ],
    ),
];

/// A parameter of a function.
#[derive(Clone, PartialEq)]
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

/// Options that functions share, with what they are.
type Sets<'a> = Vec<(&'a Shared, Vec<Parameter>)>;

/// The modules of functions: their names and texts.
pub fn modules(description: &Description, table: &Table) -> Result<Vec<(String, String)>, String> {
    let entries = entries(description, table)?;
    let sets = sets(&entries, table)?;
    let of = |module: &Module| {
        let entries: Vec<&Entry<'_>> =
            entries.iter().filter(|entry| entry.module() == Some(&module.name) && entry.class().is_none()).collect();
        let texts = entries.iter().map(|entry| entry.text(table, &sets, "")).collect::<Result<Vec<_>, String>>()?;
        let also = module.also.values().flatten().map(String::as_str);
        let names: BTreeSet<&str> = entries.iter().map(|entry| entry.function.name.as_str()).chain(also).collect();
        let listed = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let listed = wrapped(&format!("__all__ = [{listed}]"), 0, 11);
        let text = file(&module.help, &entries, &sets, &module.also, &format!("{listed}\n\n\n{}", texts.join("\n\n")))?;
        Ok((format!("{}.py", module.name), text))
    };
    table.module.iter().map(of).collect()
}

/// The methods of classes that hold data, for those classes to inherit.
pub fn methods(description: &Description, table: &Table) -> Result<String, String> {
    let entries = entries(description, table)?;
    let sets = sets(&entries, table)?;
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
        let text = entry.text(table, &sets, "    ")?;
        if let Some(class) = classes.last_mut() {
            *class += &format!("\n{text}");
        }
    }
    let body = format!("\n{}", classes.join("\n\n"));
    file("Methods for commands, of classes that hold their data.", &of, &sets, &BTreeMap::new(), &body)
}

/// The options that several functions share.
pub fn options(description: &Description, table: &Table) -> Result<String, String> {
    let entries = entries(description, table)?;
    let mut classes = Vec::new();
    // A set comes after the one that it adds to.
    for (set, parameters) in sets(&entries, table)?.iter().rev() {
        let base = set.base.as_deref().unwrap_or("TypedDict");
        let help = wrapped(&format!("\"\"\"{}\"\"\"", set.help), 4, 4);
        let mut text = format!("class {}({base}, total=False):\n{help}\n\n", set.name);
        for parameter in parameters.iter().filter(|one| set.names.contains(&one.name)) {
            text += &parameter.annotated();
        }
        classes.push(text);
    }
    file(
        "Keyword arguments that several functions share.",
        &[],
        &Vec::new(),
        &BTreeMap::new(),
        &format!("\n{}", classes.join("\n\n")),
    )
}

/// A file with the imports that its text needs.
fn file(
    title: &str,
    entries: &[&Entry<'_>],
    sets: &Sets<'_>,
    also: &BTreeMap<String, Vec<String>>,
    body: &str,
) -> Result<String, String> {
    // Docstrings name nothing.
    let code: String = body.split("\"\"\"").step_by(2).collect();
    let results: BTreeSet<&str> = entries.iter().map(|entry| entry.result()).collect::<Result<_, _>>()?;
    let through: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.function.through.as_deref()).collect();
    let mut imports: BTreeMap<&str, BTreeSet<&str>> =
        IMPORTS.iter().map(|(module, names)| (*module, names.iter().copied().collect())).collect();
    imports.insert("leakbound._inputs", ["Path"].into());
    imports.insert("leakbound._options", sets.iter().map(|(set, _)| set.name.as_str()).collect());
    imports.insert("leakbound._special", through);
    imports.insert("leakbound.results", results);
    for (module, names) in also {
        imports.entry(module).or_default().extend(names.iter().map(String::as_str));
    }
    let mut groups = [String::new(), String::new(), String::new()];
    for (module, names) in imports {
        let place = if module.starts_with("leakbound") { 2 } else { usize::from(module.starts_with("numpy")) };
        let names: Vec<&str> = names.into_iter().collect();
        let always = also.get(module).map_or_else(String::new, |names| names.join(" "));
        groups[place] += &import(module, &names, &format!("{code} {always}"));
    }
    let mut text = format!("\"\"\"{title}\"\"\"\n\nfrom __future__ import annotations\n");
    for group in groups.iter().filter(|group| !group.is_empty()) {
        text += &format!("\n{group}");
    }
    if code.contains("Unpack[") {
        // Part of Python from 3.11 on.
        text = text.replacen("from typing import ", "from typing import TYPE_CHECKING, ", 1);
        if !text.contains("from typing import") {
            text = text.replacen("annotations\n\n", "annotations\n\nfrom typing import TYPE_CHECKING\n\n", 1);
        }
        text += "\nif TYPE_CHECKING:\n    from typing_extensions import Unpack\n";
    }
    Ok(format!("{text}\n{body}"))
}

fn entries<'a>(description: &'a Description, table: &'a Table) -> Result<Vec<Entry<'a>>, String> {
    static NONE: Group =
        Group { result: None, inputs: None, class: None, module: None, data: Vec::new(), without: Vec::new() };
    let entry = |function: &'a Function| {
        let group = match &function.group {
            None => &NONE,
            Some(name) => table.group.get(name).ok_or_else(|| format!("{}: there is no group {name}", super::TABLE))?,
        };
        Ok(Entry { function, group, command: description.command(&function.command)? })
    };
    table.function.iter().map(entry).collect()
}

/// The sets of shared options, each with those of the set that it adds to.
fn sets<'a>(entries: &[Entry<'_>], table: &'a Table) -> Result<Sets<'a>, String> {
    let mut sets: Sets<'a> = Vec::new();
    for set in table.options.iter().rev() {
        let of = entries.iter().find(|entry| entry.function.name == set.of);
        let of = of.ok_or_else(|| format!("{}: there is no function {}", super::TABLE, set.of))?;
        let (_, keywords) = of.parameters(table);
        let base = sets.iter().find(|(known, _)| Some(&known.name) == set.base.as_ref());
        let mut parameters: Vec<Parameter> = keywords.into_iter().filter(|one| set.names.contains(&one.name)).collect();
        if parameters.len() != set.names.len() {
            return Err(format!("{}: {} does not have all options of {}", super::TABLE, set.of, set.name));
        }
        parameters.extend(base.into_iter().flat_map(|(_, parameters)| parameters.clone()));
        sets.push((set, parameters));
    }
    sets.reverse();
    Ok(sets)
}

impl Entry<'_> {
    fn class(&self) -> Option<&str> {
        self.function.class.as_deref().or(self.group.class.as_deref())
    }

    fn module(&self) -> Option<&String> {
        self.function.module.as_ref().or(self.group.module.as_ref())
    }

    fn result(&self) -> Result<&str, String> {
        let result = self.function.result.as_deref().or(self.group.result.as_deref());
        result.ok_or_else(|| format!("{}: {} has no result", super::TABLE, self.function.name))
    }

    fn data(&self) -> &[Data] {
        if self.function.data.is_empty() { &self.group.data } else { &self.function.data }
    }

    /// The function, indented.
    fn text(&self, table: &Table, sets: &Sets<'_>, indent: &str) -> Result<String, String> {
        let (positional, mut keywords) = self.parameters(table);
        // The first set that the function has as a whole, with the same meanings.
        let set = sets.iter().find(|(_, shared)| shared.iter().all(|one| keywords.contains(one)));
        if let Some((_, shared)) = set {
            keywords.retain(|one| !shared.contains(one));
        }
        let mut words = format!("\"{}\", {}", self.function.command, self.result()?);
        if let Some(inputs) = self.function.inputs.as_deref().or(self.group.inputs.as_deref()) {
            words += &format!(", _data.{inputs}");
        }
        if let Some(through) = &self.function.through {
            words += &format!(", through={through}");
        }
        if let Some((set, _)) = set {
            words += &format!(", options={}", set.name);
        }
        let mut text = format!("{indent}@command({words})\n{indent}def {}(\n", self.function.name);
        if !indent.is_empty() {
            text += &format!("{indent}    self,\n");
        }
        for parameter in &positional {
            text += &parameter.declared(indent);
        }
        if !keywords.is_empty() {
            text += &format!("{indent}    *,\n");
        }
        for parameter in &keywords {
            text += &parameter.declared(indent);
        }
        if let Some((set, _)) = set {
            text += &format!("{indent}    **options: Unpack[{}],\n", set.name);
        }
        text += &format!("{indent}) -> {}:\n", self.result()?);
        text += &self.docstring(positional.iter().chain(&keywords), indent.len() + 4);
        Ok(text + &format!("{indent}    ...\n"))
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

    /// Sections as numpydoc has them. What all functions have in common is added where they are made.
    fn docstring<'a>(&self, parameters: impl Iterator<Item = &'a Parameter>, indent: usize) -> String {
        let pad = " ".repeat(indent);
        let help = self.function.help.as_ref().unwrap_or(&self.command.help);
        let mut parts: Vec<String> = Vec::new();
        for (place, paragraph) in help.split("\n\n").enumerate() {
            let start = if place == 0 { "\"\"\"" } else { "" };
            let paragraph = sentence(&of_parameters(paragraph));
            parts.push(wrapped(&format!("{start}{paragraph}"), indent, indent));
        }
        let mut section = |name: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                parts.push(format!("{pad}{name}\n{pad}{}\n{}", "-".repeat(name.len()), lines.join("\n")));
            }
        };
        let listed = parameters.map(|one| {
            let help = wrapped(&one.help, indent + 4, indent + 4);
            format!("{pad}{} : {}\n{help}", one.name, one.shown())
        });
        section("Parameters", listed.collect());
        section("See Also", self.function.see.iter().map(|see| format!("{pad}{see}")).collect());
        let references = self.function.references.iter().enumerate();
        let cited = references.map(|(at, text)| wrapped(&format!(".. [{}] {text}", at + 1), indent, indent + 3));
        section("References", cited.collect());
        let example = self.function.example.iter().flat_map(|example| example.lines());
        section("Examples", example.map(|line| format!("{pad}{line}")).collect());
        format!("{}\n{pad}\"\"\"\n", parts.join("\n\n"))
    }
}

impl Parameter {
    /// Its type in the words of documentation.
    fn shown(&self) -> String {
        let kind = self.kind.strip_suffix(" | None").unwrap_or(&self.kind);
        let kind = match kind.strip_prefix("Literal[") {
            Some(choices) => format!("{{{}}}", choices.trim_end_matches(']')),
            None => kind.to_owned(),
        };
        match self.default.as_deref() {
            None => kind,
            Some("None") => format!("{kind}, optional"),
            Some(default) => format!("{kind}, default {default}"),
        }
    }

    /// The line of a set of options.
    fn annotated(&self) -> String {
        let Self { name, kind, default, help } = self;
        let default = default.as_deref().filter(|default| *default != "None");
        let help = help.replace('"', "\\\"");
        let more = default.map(|default| format!(", {default}")).unwrap_or_default();
        let line = format!("    {name}: Annotated[{kind}, Option(\"{help}\"{more})]\n");
        if line.chars().count() <= WIDTH + 1 {
            return line;
        }
        let short = format!("        {kind}, Option(\"{help}\"{more})\n");
        if short.chars().count() <= WIDTH + 1 {
            return format!("    {name}: Annotated[\n{short}    ]\n");
        }
        let pieces = wrapped(&help, 13, 13).replace("\n             ", " \"\n            \"");
        let more = default.map(|default| format!("            {default},\n")).unwrap_or_default();
        format!(
            "    {name}: Annotated[\n        {kind},\n        Option(\n            \"{}\",\n{more}        ),\n    ]\n",
            pieces.trim_start()
        )
    }

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
