//! Counterexamples that are kept to be tested again.

use super::atomic_file::AtomicFile;
use super::fault::{fault, hinted};
use super::input_file::{Digested, InputFile, open};
use super::json::parse;
use super::text::read_whole_json;
use crate::black_box::{Grid, PairCounterexample};
use crate::error::{Error, Result};
use crate::relation::Relation;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The form of the file; the number rises when the form of the content changes.
const SCHEMA: &str = "leakbound.counterexample/1";

/// A counterexample, and the program that it was found in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a saved counterexample")]
pub struct KeptCounterexample {
    schema: String,
    /// The command of a program that answers line by line.
    pub program: Option<String>,
    /// The command of a program that is run once per output.
    pub exec: Option<String>,
    /// The command of a program that described the outputs.
    #[serde(default)]
    pub features: Option<String>,
    /// The grid to which outputs were rounded.
    #[serde(default)]
    pub round: Option<Grid>,
    /// The relation under which both datasets are neighbors, if one was stated.
    #[serde(default)]
    pub relation: Option<Relation>,
    /// What was found.
    pub counterexample: PairCounterexample,
}

impl KeptCounterexample {
    /// A counterexample with the commands of the program, and of the one that described its outputs.
    #[must_use]
    pub fn new(
        [program, exec, features]: [Option<String>; 3],
        round: Option<Grid>,
        relation: Option<Relation>,
        counterexample: PairCounterexample,
    ) -> Self {
        Self { schema: SCHEMA.into(), program, exec, features, round, relation, counterexample }
    }

    /// Reads it from a file.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be read; otherwise [`Error::Input`], one line that names file, place, what
    /// was found and what was expected.
    pub fn read(path: impl AsRef<Path>) -> Result<(Self, InputFile)> {
        let file = path.as_ref();
        let expected = "a saved counterexample";
        let mut digested = Digested::new(open(file)?);
        let hint = "run the audit again, and save its counterexample";
        let text = read_whole_json(file, &mut digested, expected, hint)?;
        let kept: Self = parse(file, &text)?;
        if kept.schema != SCHEMA {
            return Err(fault(file, "schema", format!("`{}`", kept.schema), format!("`{SCHEMA}`")).into());
        }
        if !kept.counterexample.is_sound() {
            let found = "an invalid set of outputs, invalid counts, or the same dataset twice";
            return Err(hinted(fault(file, "counterexample", found, expected), hint).into());
        }
        let PairCounterexample { dataset, neighbor, .. } = &kept.counterexample;
        if let Some(relation) = kept.relation.filter(|relation| !dataset.is_neighbor(neighbor, *relation)) {
            let (found, expected) = (format!("{dataset} and {neighbor}"), format!("neighbors under {relation}"));
            return Err(fault(file, "counterexample", found, expected).into());
        }
        kept.counterexample.claim.aim().map_err(|error| {
            Error::from(fault(file, "counterexample.claim", error.to_string(), "a claim that can be tested"))
        })?;
        Ok((kept, digested.finish_unchanged(file)?))
    }

    /// Writes it to a file that was opened before the work.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be written.
    pub fn write(&self, file: AtomicFile) -> Result<()> {
        file.commit_with(|writer| {
            serde_json::to_writer_pretty(&mut *writer, self)?;
            writer.write_all(b"\n")
        })
    }
}
