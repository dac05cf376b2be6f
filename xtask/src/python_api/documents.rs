//! `documents.py`: a class for each kind of object in the documents.

use super::schema::Description;
use super::table::Table;
use super::text::{WIDTH, capital, docstring, import, sentence, wrapped};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The start of a reference to a definition.
const REFERENCE: &str = "#/$defs/";
/// Words that Python reserves, of those that are keys.
const RESERVED: [&str; 2] = ["class", "from"];

/// A key of an object.
struct Field {
    name: String,
    kind: String,
    help: String,
}

/// Definitions of all documents, by their names in Rust.
struct Definitions<'a> {
    table: &'a Table,
    known: BTreeMap<&'a str, &'a Value>,
}

/// The module.
pub fn module(description: &Description, table: &Table) -> Result<String, String> {
    let mut documents = Vec::new();
    let mut definitions = Definitions { table, known: BTreeMap::new() };
    for (name, commands) in &table.documents {
        let mut schemas = Vec::new();
        for command in commands {
            let document = description.command(command)?.document.as_ref();
            let document = document.ok_or_else(|| format!("{}: `{command}` has no document", super::TABLE))?;
            definitions.add(document)?;
            schemas.push(document);
        }
        documents.push((name.as_str(), commands, schemas));
    }
    let mut classes = Vec::new();
    let mut done = BTreeSet::new();
    let all: Vec<Vec<Field>> = documents.iter().map(|(_, _, schemas)| definitions.merged(schemas)).collect();
    let shared: BTreeSet<&str> = all[0]
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| all.iter().all(|fields| fields.iter().any(|field| field.name == *name)))
        .collect();
    for (_, _, schemas) in &documents {
        for schema in schemas {
            for field in properties(schema).values() {
                definitions.rows(field, &mut done, &mut classes);
            }
        }
    }
    let common: Vec<&Field> = all[0].iter().filter(|field| shared.contains(field.name.as_str())).collect();
    classes.push(class("Document", "Row", "What every document has.", &common));
    for ((name, commands, _), fields) in documents.iter().zip(&all) {
        let fields: Vec<&Field> = fields.iter().filter(|field| !shared.contains(field.name.as_str())).collect();
        let printed: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
        let help = match &printed[..] {
            [one] => format!("The document of {one}."),
            all => format!("The document of several commands: {}.", all_of(all)),
        };
        classes.push(class(name, "Document", &help, &fields));
    }
    let body = classes.join("\n\n");
    let imports = import("typing", &["Annotated", "Any"], &body);
    Ok(format!(
        "\"\"\"The objects of the documents, with their keys.\"\"\"\n\nfrom __future__ import annotations\n\n{imports}\n\
         from leakbound._rows import Row, Rows\n\n\n{body}"
    ))
}

/// A list in words.
fn all_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn class(name: &str, base: &str, help: &str, fields: &[&Field]) -> String {
    // Keys that Python reserves are items, as `row["from"]`, and no attributes.
    let fields = fields.iter().filter(|field| !RESERVED.contains(&field.name.as_str()));
    let mut text = format!("class {name}({base}):\n{}\n", summarized(help));
    for field in fields {
        text += &annotated(&field.name, &field.kind, &field.help);
    }
    text
}

/// A docstring whose first sentence is one line.
fn summarized(help: &str) -> String {
    let whole = docstring(help, 4);
    let end = help.trim_end_matches('.');
    match end.split_once([':', '.']).or_else(|| end.split_once(',')) {
        Some((summary, more)) if whole.contains('\n') && !more.trim().is_empty() => {
            let more = sentence(&capital(more.trim()));
            format!("    \"\"\"{summary}.\n\n{}\n    \"\"\"", wrapped(&more, 4, 4))
        }
        _ => whole,
    }
}

/// A field with its meaning, which the class adds to its documentation.
pub fn annotated(name: &str, kind: &str, help: &str) -> String {
    if help.is_empty() {
        return format!("    {name}: {kind}\n");
    }
    let help = help.replace('"', "\\\"");
    let line = format!("    {name}: Annotated[{kind}, \"{help}\"]\n");
    if line.chars().count() <= WIDTH + 1 {
        return line;
    }
    let short = format!("        {kind}, \"{help}\"\n");
    if short.chars().count() <= WIDTH + 1 {
        return format!("    {name}: Annotated[\n{short}    ]\n");
    }
    let pieces = wrapped(&help, 9, 9).replace("\n         ", " \"\n        \"");
    format!("    {name}: Annotated[\n        {kind},\n        \"{}\",\n    ]\n", pieces.trim_start())
}

fn properties(schema: &Value) -> Map<String, Value> {
    let mut found = schema["properties"].as_object().cloned().unwrap_or_default();
    for branches in ["oneOf", "anyOf"] {
        for branch in schema[branches].as_array().into_iter().flatten() {
            found.extend(properties(branch));
        }
    }
    found
}

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn help(schema: &Value) -> String {
    schema["description"].as_str().map(sentence).unwrap_or_default().replace('\\', "\\\\")
}

impl<'a> Definitions<'a> {
    fn add(&mut self, document: &'a Value) -> Result<(), String> {
        for (name, definition) in document["$defs"].as_object().into_iter().flatten() {
            if self.known.insert(name, definition).is_some_and(|known| known != definition) {
                return Err(format!("leakbound schema: two definitions have the name {name}"));
            }
        }
        Ok(())
    }

    /// The class of a definition that is an object with keys of its own.
    fn class_of(&self, name: &str) -> Option<String> {
        let definition = self.known.get(name)?;
        if properties(definition).is_empty() {
            return None;
        }
        let plain = name.strip_suffix("Row").unwrap_or(name);
        Some(self.table.rows.get(name).map_or(plain, String::as_str).to_owned())
    }

    /// The keys of an object, those that are always there first, in the order of the type.
    fn fields(&self, schema: &Value) -> Vec<Field> {
        let all = properties(schema);
        let required: Vec<&str> = words(&schema["required"]).collect();
        let others = all.keys().map(String::as_str).filter(|name| !required.contains(name));
        let names = required.iter().copied().filter(|name| all.contains_key(*name)).chain(others);
        names
            .map(|name| {
                let mut kinds = self.kinds(&all[name]);
                if !required.contains(&name) {
                    kinds.insert("None".into());
                }
                Field { name: name.to_owned(), kind: union(kinds), help: help(&all[name]) }
            })
            .collect()
    }

    /// The keys of several documents in one class; those that are not in all of them may be absent.
    fn merged(&self, schemas: &[&Value]) -> Vec<Field> {
        let mut merged: Vec<Field> = Vec::new();
        let every: Vec<Vec<Field>> = schemas.iter().map(|schema| self.fields(schema)).collect();
        for field in every.iter().flatten() {
            if merged.iter().any(|known| known.name == field.name) {
                continue;
            }
            let everywhere = every.iter().all(|fields| fields.iter().any(|other| other.name == field.name));
            let optional = if everywhere || field.kind.ends_with("None") { "" } else { " | None" };
            merged.push(Field {
                name: field.name.clone(),
                kind: format!("{}{optional}", field.kind),
                help: field.help.clone(),
            });
        }
        merged
    }

    /// The classes of the rows in a value, each after those that it holds.
    fn rows(&self, schema: &Value, done: &mut BTreeSet<String>, classes: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix(REFERENCE)) {
            let Some(class_name) = self.class_of(name) else { return };
            if !done.insert(class_name.clone()) {
                return;
            }
            let definition = self.known[name];
            for field in properties(definition).values() {
                self.rows(field, done, classes);
            }
            let fields = self.fields(definition);
            classes.push(class(&class_name, "Row", &help(definition), &fields.iter().collect::<Vec<_>>()));
        }
        for part in ["anyOf", "oneOf", "prefixItems"] {
            for branch in schema[part].as_array().into_iter().flatten() {
                self.rows(branch, done, classes);
            }
        }
        if schema["items"].is_object() {
            self.rows(&schema["items"], done, classes);
        }
    }

    /// The types that a value may have.
    fn kinds(&self, schema: &Value) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix(REFERENCE)) {
            return match self.class_of(name) {
                Some(class) => [class].into(),
                None => self.known.get(name).map(|definition| self.kinds(definition)).unwrap_or_default(),
            };
        }
        for part in ["anyOf", "oneOf"] {
            for branch in schema[part].as_array().into_iter().flatten() {
                found.extend(self.kinds(branch));
            }
        }
        if !found.is_empty() {
            return found;
        }
        if schema["enum"].is_array() || schema["const"].is_string() {
            // Infinity is a string in the document, and a number in Python.
            let infinite = words(&schema["enum"]).any(|word| word == "inf");
            return [if infinite { "float" } else { "str" }.to_owned()].into();
        }
        let types: Vec<&str> = schema["type"].as_str().into_iter().chain(words(&schema["type"])).collect();
        found.extend(types.into_iter().map(|name| self.named(name, schema)));
        if found.is_empty() {
            found.insert("Any".into());
        }
        found
    }

    fn named(&self, name: &str, schema: &Value) -> String {
        match name {
            "string" => "str".into(),
            "number" => "float".into(),
            "integer" => "int".into(),
            "boolean" => "bool".into(),
            "null" => "None".into(),
            "array" => self.array(schema),
            "object" => "Row".into(),
            _ => "Any".into(),
        }
    }

    fn array(&self, schema: &Value) -> String {
        let items = &schema["items"];
        let reference = items["$ref"].as_str().and_then(|name| name.strip_prefix(REFERENCE));
        if let Some(class) = reference.and_then(|name| self.class_of(name)) {
            return format!("Rows[{class}]");
        }
        let item = union(self.kinds(items));
        match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
            (Some(least), Some(most)) if least == most => {
                format!("tuple[{}]", vec![item; least as usize].join(", "))
            }
            _ => format!("tuple[{item}, ...]"),
        }
    }
}

/// Alternatives, with the absence last.
fn union(mut kinds: BTreeSet<String>) -> String {
    let absent = kinds.remove("None");
    kinds.into_iter().chain(absent.then(|| "None".to_owned())).collect::<Vec<_>>().join(" | ")
}
