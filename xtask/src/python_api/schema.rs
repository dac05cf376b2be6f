//! What `leakbound schema` prints.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
pub struct Description {
    pub commands: Vec<Command>,
}

#[derive(Deserialize)]
pub struct Command {
    pub command: String,
    pub help: String,
    pub options: Vec<Opt>,
    pub document: Option<Value>,
}

/// An option of a command.
#[derive(Deserialize)]
pub struct Opt {
    pub name: String,
    /// Absent where the value stands by its position.
    pub option: Option<String>,
    pub kind: Kind,
    pub list: bool,
    pub default: Option<String>,
    pub choices: Vec<String>,
    pub required: bool,
    pub help: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Number,
    Integer,
    String,
    Path,
    Flag,
}

impl Description {
    pub fn command(&self, name: &str) -> Result<&Command, String> {
        let found = self.commands.iter().find(|command| command.command == name);
        found.ok_or_else(|| format!("{}: found the command `{name}`, which the schema has not", super::TABLE))
    }
}
