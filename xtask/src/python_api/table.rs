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
    pub function: Vec<Function>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub result: Option<String>,
    pub inputs: Option<String>,
    pub class: Option<String>,
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
    pub group: Option<String>,
    pub result: Option<String>,
    /// The class that it is a method of.
    pub class: Option<String>,
    /// What turns its data into files, in `_data.py`.
    pub inputs: Option<String>,
    /// What runs it in the place of `call`, in `_special.py`.
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
