//! Parts of a simulation, added up.

use super::progress::Progress;
use super::simulate::SimulateAnswer;
use super::{Study, Warning};
use crate::error::{Error, InputError, Result};
use crate::record::{SimulatedFile, merge_simulated};

/// What do the parts of a simulation count together?
#[derive(Debug, Clone)]
pub struct MergeStudy {
    /// At least one part, each with its own blocks.
    pub parts: Vec<SimulatedFile>,
    /// Whether blocks may be missing.
    pub partial: bool,
}

impl Study for MergeStudy {
    type Answer = SimulateAnswer;

    /// # Errors
    /// [`Error::Length`] without parts; [`Error::Input`], with the name of the part, for parts that do not fit together
    /// and for missing blocks.
    fn run(&self, _: &Progress<'_>) -> Result<SimulateAnswer> {
        let merged = merge_simulated(&self.parts)?;
        let Some(first) = merged.queries.first() else {
            return Err(Error::length("queries", 0, "at least 1"));
        };
        let (missing, in_all) = (first.part.missing(), first.part.simulation().blocks());
        if !missing.is_empty() && !self.partial {
            return Err(Error::from(InputError {
                file: self.parts[0].input.path.clone(),
                place: "blocks of all files together".into(),
                found: format!("no block {missing} of {in_all}"),
                expected: "every block of the simulation".into(),
                hint: Some("name the missing shards too; a partial sum adds up what is there (`partial`)".into()),
            }));
        }
        let warning = (!missing.is_empty()).then(|| Warning {
            code: "partial",
            message: format!("blocks {missing} of {in_all} are missing"),
            hint: "the counts are valid, for fewer samples".into(),
        });
        let warnings = warning.into_iter().collect();
        Ok(SimulateAnswer { warnings, ..SimulateAnswer::new(&merged, first.part.blocks().clone()) })
    }
}
