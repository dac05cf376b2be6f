//! The contents of the registries: mechanisms, the theorems that bound their leakage, and the methods that bound it
//! from counts.

use super::Study;
use super::progress::Progress;
use crate::accountant::Statement;
use crate::audit::{DescribedMethod, methods};
use crate::error::Result;
use crate::mechanism::{MechanismKind, OTHER_THEOREMS, Parameter, RELEASES, Role};
use crate::token::{TOKEN_MECHANISMS, TokenMechanismKind};
use serde::Serialize;

/// Which mechanisms and theorems are there?
///
/// ```
/// # use leakbound::study::{CatalogStudy, Study, unwatched};
/// let catalog = CatalogStudy.run(&unwatched)?;
/// let laplace = catalog.mechanisms.iter().find(|mechanism| mechanism.name == "laplace").unwrap();
/// assert_eq!(laplace.theorems[0].source, "Mironov (2017), Proposition 6");
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CatalogStudy;

/// A parameter of a mechanism.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ParameterEntry {
    /// Its name in the text form and in JSON.
    pub name: &'static str,
    /// What the parameter is.
    pub role: Role,
    /// Whether it must be given; otherwise the mechanism has a value for it.
    pub required: bool,
}

/// A mechanism.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MechanismEntry {
    /// Its name in the text form and in JSON.
    pub name: &'static str,
    /// What an output is.
    pub releases: &'static str,
    /// Its parameters, in the order in which they are written.
    pub parameters: Vec<ParameterEntry>,
    /// What the data are.
    pub data: &'static str,
    /// What makes data neighbors.
    pub neighbors: &'static str,
    /// An example of its text form.
    pub example: &'static str,
    /// The theorems that bound an output of it.
    pub theorems: &'static [&'static Statement],
}

/// The answer of a [`CatalogStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CatalogAnswer {
    /// All mechanisms that release something, except those on tokens.
    pub mechanisms: Vec<MechanismEntry>,
    /// Mechanisms by which an ensemble of language models answers with a token.
    pub token_mechanisms: Vec<MechanismEntry>,
    /// Theorems that belong to no mechanism.
    pub other_theorems: &'static [&'static Statement],
    /// The methods that bound leakage from counts.
    pub methods: Vec<DescribedMethod>,
}

answer!(CatalogAnswer, "leakbound.mechanisms/1",);

impl Study for CatalogStudy {
    type Answer = CatalogAnswer;

    fn run(&self, _: &Progress<'_>) -> Result<CatalogAnswer> {
        Ok(CatalogAnswer {
            mechanisms: RELEASES.iter().copied().map(MechanismEntry::from).collect(),
            token_mechanisms: TOKEN_MECHANISMS.iter().copied().map(MechanismEntry::from).collect(),
            other_theorems: OTHER_THEOREMS,
            methods: methods(),
        })
    }
}

impl From<&'static MechanismKind> for MechanismEntry {
    fn from(kind: &'static MechanismKind) -> Self {
        Self {
            name: kind.name,
            releases: kind.releases.unwrap_or_default(),
            parameters: entries(kind.parameters),
            data: kind.data.data_in_words().0,
            neighbors: kind.data.in_words(),
            example: kind.example,
            theorems: kind.theorems,
        }
    }
}

impl From<&'static TokenMechanismKind> for MechanismEntry {
    fn from(kind: &'static TokenMechanismKind) -> Self {
        Self {
            name: kind.name,
            releases: kind.releases,
            parameters: entries(kind.parameters),
            data: if kind.needs_public { "models of an ensemble and a public one" } else { "models of an ensemble" },
            neighbors: "the models of one owner are removed or replaced",
            example: kind.example,
            theorems: kind.theorems,
        }
    }
}

fn entries(parameters: &[Parameter]) -> Vec<ParameterEntry> {
    let entry = |parameter: &Parameter| ParameterEntry {
        name: parameter.name,
        role: parameter.role,
        required: !parameter.optional,
    };
    parameters.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::unwatched;
    use crate::{mechanism, token};
    use std::collections::HashMap;

    #[test]
    fn every_mechanism_says_what_it_releases_and_has_an_example() {
        let catalog = CatalogStudy.run(&unwatched).unwrap();
        for entry in &catalog.mechanisms {
            let read = mechanism::parse(entry.example).unwrap();
            assert_eq!((read.kind().name, read.parameters().iter().count()), (entry.name, entry.parameters.len()));
            assert!(!entry.releases.is_empty() && !entry.theorems.is_empty(), "{}", entry.name);
        }
        for entry in &catalog.token_mechanisms {
            assert_eq!(token::parse_mechanism(entry.example).unwrap().kind().name, entry.name);
            assert!(!entry.releases.is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn every_theorem_has_a_name_of_its_own_a_use_and_a_source() {
        let catalog = CatalogStudy.run(&unwatched).unwrap();
        let mut named: HashMap<&str, &Statement> = HashMap::new();
        let of_mechanisms = catalog.mechanisms.iter().chain(&catalog.token_mechanisms).flat_map(|entry| entry.theorems);
        for statement in of_mechanisms.chain(catalog.other_theorems) {
            assert!(!statement.used_for.is_empty() && !statement.source.is_empty(), "{}", statement.name);
            // Mechanisms may share a theorem.
            assert_eq!(*named.entry(statement.name).or_insert(statement), *statement);
        }
    }
}
