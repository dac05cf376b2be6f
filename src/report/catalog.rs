//! Presentation of the answer of `leakbound mechanisms`.

use super::document::Render;
use super::records::{Records, fields};
use super::section::{Form, Section, Table};
use crate::study::{CatalogAnswer, MechanismEntry, ParameterEntry};

/// The names; those that may be missing are in brackets.
fn parameters(entry: &MechanismEntry) -> String {
    let one = |parameter: &ParameterEntry| {
        if parameter.required { parameter.name.to_owned() } else { format!("[{}]", parameter.name) }
    };
    entry.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Render for CatalogAnswer {
    fn sections(&self, _: Form) -> Vec<Section> {
        let table = |title: &str, entries: &[MechanismEntry]| {
            let rows = Table::of(entries)
                .words("mechanism", |row| row.name)
                .words("data", |row| row.data)
                .words("neighbors", |row| row.neighbors)
                .words("parameters", |row| parameters(row))
                .words("example", |row| row.example);
            Section::new(title).table(rows)
        };
        vec![
            table("Mechanisms", &self.mechanisms),
            table("Mechanisms that answer with a token, for `audit tokens`", &self.token_mechanisms),
        ]
    }

    fn records(&self) -> Records<'_> {
        Records::of(self.mechanisms.iter().chain(&self.token_mechanisms))
            .columns(fields!(row => name, data, neighbors))
            .column("parameters", |row| parameters(row))
            .columns(fields!(row => example))
            .into()
    }
}
