//! `mechanisms.py`: a class for each mechanism of the catalog.

use super::documents::annotated;
use super::table::Table;
use super::text::{capital, import, sentence, wrapped};
use serde::Deserialize;

/// What `leakbound mechanisms --format json` prints.
#[derive(Deserialize)]
pub struct Catalog {
    mechanisms: Vec<Entry>,
    token_mechanisms: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    releases: String,
    parameters: Vec<Parameter>,
    data: String,
    neighbors: String,
    example: String,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    role: String,
    required: bool,
}

/// The module.
///
/// # Errors
/// A parameter that the table has no words for.
pub fn module(catalog: &Catalog, table: &Table) -> Result<String, String> {
    let mut names = ["Mechanism", "NoisyArgmax", "Releases", "Spec"].map(str::to_owned).to_vec();
    let mut classes = Vec::new();
    for (entry, base) in catalog
        .mechanisms
        .iter()
        .map(|entry| (entry, "Mechanism"))
        .chain(catalog.token_mechanisms.iter().map(|entry| (entry, "Spec")))
    {
        names.push(class_name(&entry.name));
        classes.push(entry.class(base, table)?);
    }
    names.sort();
    let listed = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let listed = wrapped(&format!("__all__ = [{listed}]"), 0, 11);
    let body = classes.join("\n\n");
    let imports = import("typing", &["Annotated"], &body);
    let own = import(
        "leakbound._spec",
        &["Mechanism", "NoisyArgmax", "Releases", "Scale", "Spec"],
        &format!("{body} NoisyArgmax Releases"),
    );
    let title = "Mechanisms as objects: what they release, by their parameters.\n\nThe text form of each, such as \
                 `\"gaussian:sigma=2\"`, says the same wherever a function takes a mechanism.";
    Ok(format!(
        "\"\"\"{title}\n\"\"\"\n\nfrom __future__ import annotations\n\nfrom collections.abc import Sequence\n{imports}\n\
         {own}\n{listed}\n\n\n{body}"
    ))
}

impl Entry {
    fn class(&self, base: &str, table: &Table) -> Result<String, String> {
        let name = class_name(&self.name);
        // The summary is one line.
        let named = format!("the mechanism `{}`", self.name);
        let (summary, more) = match self.releases.split_once("; ") {
            Some((summary, more)) if summary.chars().count() <= 110 => (summary, more),
            _ if self.releases.chars().count() <= 110 => (&*self.releases, ""),
            _ => (&*named, &*self.releases),
        };
        let more = sentence(&capital(more));
        let about = format!("{more} Data: {}. Neighbors: {}.", self.data, self.neighbors);
        let about = wrapped(about.trim(), 4, 4);
        let doc = format!("    \"\"\"{}\n\n{about}\n    \"\"\"", sentence(&capital(summary)));
        let mut text = format!(
            "class {name}({base}):\n{doc}\n    _name = \"{}\"\n    _example = \"{}\"\n",
            self.name,
            self.call()
        );
        // Those without a default come first.
        let (required, optional): (Vec<_>, Vec<_>) = self.parameters.iter().partition(|parameter| parameter.required);
        for parameter in required.into_iter().chain(optional) {
            let meaning = table.parameters.get(&parameter.name).ok_or_else(|| {
                format!("{}: [parameters] has no words for {} of {}", super::TABLE, parameter.name, self.name)
            })?;
            let kind = match parameter.role.as_str() {
                "noise" => "Scale",
                "list" => "Sequence[float]",
                "word" if parameter.name == "of" => "Mechanism | str",
                "word" => "str",
                _ => "float",
            };
            let (kind, default) =
                if parameter.required { (kind.to_owned(), "") } else { (format!("{kind} | None"), " = None") };
            text += &format!("{}{default}\n", annotated(&parameter.name, &kind, meaning).trim_end());
        }
        Ok(text)
    }
}

impl Entry {
    /// The arguments of the example, as Python has them.
    fn call(&self) -> String {
        let (_, mut rest) = self.example.split_once(':').unwrap_or_default();
        let mut given = Vec::new();
        while let Some((name, after)) = rest.split_once('=') {
            let end = if after.starts_with('[') { after.rfind(']').map(|end| end + 1) } else { after.find(',') };
            let (value, more) = after.split_at(end.unwrap_or(after.len()));
            let role = self.parameters.iter().find(|one| one.name == name).map_or("", |one| one.role.as_str());
            given.push(match role {
                "word" => format!("{name}='{}'", value.trim_matches(['[', ']'])),
                "list" => format!("{name}=({})", value.replace('/', ", ")),
                _ => format!("{name}={value}"),
            });
            rest = more.trim_start_matches(',');
        }
        given.join(", ")
    }
}

/// `discrete-laplace` as `DiscreteLaplace`.
fn class_name(name: &str) -> String {
    name.split('-').map(capital).collect()
}
