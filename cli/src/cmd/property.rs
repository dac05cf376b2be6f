//! `leakbound property distance`: which ensemble a student resembles most.

use super::conclude::{Asked, conclude};
use crate::args::{Common, DistanceOptions};
use crate::output::Output;
use leakbound::record::read_property_answers;
use leakbound::study::{PropertyStudy, Verdict};
use leakbound::{Error, InputError, Result};

pub fn run(common: &Common, options: &DistanceOptions) -> Result<Verdict> {
    let output = Output::open(common, &[&options.file])?;
    let (answers, input) = read_property_answers(&options.file, common.memory())?;
    let (values, members, points, _) = answers.ensembles.dim();
    let title = format!("{values} property values, {members} members each, {points} public points");
    let study = PropertyStudy { answers, permutations: options.permutations, seed: common.seed };
    let asked = Asked { options, inputs: vec![input], title, warnings: Vec::new() };
    conclude(common, output, &study, asked).map_err(|error| of_file(options, error))
}

/// What is wrong with the arrays is an error of the file.
fn of_file(options: &DistanceOptions, error: Error) -> Error {
    if matches!(error, Error::Input(_) | Error::Io { .. } | Error::Interrupted) {
        return error;
    }
    Error::from(InputError {
        file: options.file.clone(),
        place: "arrays `student` and `ensembles`".into(),
        found: error.to_string(),
        expected: "probabilities of all classes for each point".into(),
        hint: None,
    })
}
