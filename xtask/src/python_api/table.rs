//! `python/api.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Options that no function has.
    pub without: Vec<String>,
    /// Types of parameters by name.
    pub types: BTreeMap<String, String>,
    /// Classes of rows by the name of the type in Rust.
    pub rows: BTreeMap<String, String>,
    /// Classes of documents, with the commands that print them.
    pub documents: BTreeMap<String, Vec<String>>,
    /// What several functions share.
    pub group: BTreeMap<String, Group>,
    /// The meaning of the parameters of mechanisms, by their names.
    pub parameters: BTreeMap<String, String>,
    /// Options that several functions share as keyword arguments, the larger sets first.
    pub options: Vec<Shared>,
    pub module: Vec<Module>,
    pub function: Vec<Function>,
}

/// Options that several functions share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    pub name: String,
    /// The set that it adds to.
    pub base: Option<String>,
    /// The function that says what they are.
    pub of: String,
    pub help: String,
    pub names: Vec<String>,
}

/// A module of functions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    pub name: String,
    pub help: String,
    /// What it has from other modules, by their names.
    #[serde(default)]
    pub also: BTreeMap<String, Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub result: Option<String>,
    pub inputs: Option<String>,
    pub class: Option<String>,
    pub module: Option<String>,
    #[serde(default)]
    pub data: Vec<Data>,
    #[serde(default)]
    pub without: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: String,
    pub command: String,
    /// The module that it is in.
    pub module: Option<String>,
    pub group: Option<String>,
    pub result: Option<String>,
    /// The class that it is a method of.
    pub class: Option<String>,
    /// What turns its data into files, in `_data.py`.
    pub inputs: Option<String>,
    /// What runs it, in `_special.py`, where it is more than one command.
    pub through: Option<String>,
    #[serde(default)]
    pub data: Vec<Data>,
    /// Options that may be given by position.
    #[serde(default)]
    pub positional: Vec<String>,
    #[serde(default)]
    pub without: Vec<String>,
    /// Types of its own parameters by name, in the place of those of the table; an empty one is that of the option.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Defaults that the parser does not know.
    #[serde(default)]
    pub defaults: BTreeMap<String, String>,
    /// The command's help, if not given.
    pub help: Option<String>,
    /// Other functions to look at.
    #[serde(default)]
    pub see: Vec<String>,
    #[serde(default)]
    pub references: Vec<String>,
    pub example: Option<String>,
}

/// A parameter that takes data.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub default: Option<String>,
    #[serde(default)]
    pub keyword: bool,
    pub help: String,
}
