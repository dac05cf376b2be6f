//! `leakbound property distance`: which ensemble a student resembles most.

use crate::command::args::{Common, DistanceOptions};
use crate::command::output::{Output, envelope};
use crate::record::read_property_answers;
use crate::report::{PropertyDistanceRow, PropertyDocument};
use crate::study::{Number, Warning};
use crate::{Error, InputError, Result, property_distance};

pub fn run(common: &Common, options: &DistanceOptions) -> Result<bool> {
    let output = Output::open(common, &[&options.file])?;
    let (answers, input) = read_property_answers(&options.file, common.memory())?;
    let decision =
        property_distance(answers.student.view(), answers.ensembles.view(), options.permutations, common.seed)
            .map_err(|error| of_file(options, &error))?;
    let (values, members, points, _) = answers.ensembles.dim();
    let mut warnings = Vec::new();
    if members == 1 {
        warnings.push(Warning {
            code: "single-members",
            message: "with one member for each property value there is no p-value below 1".into(),
            hint: "train several members for each value".into(),
        });
    }
    let row = |(value, &distance): (usize, &f64)| PropertyDistanceRow {
        value,
        distance: Number(distance),
        inferred: value == decision.value,
    };
    let document = PropertyDocument {
        envelope: envelope("leakbound.property-distance/1", common, options, vec![input], warnings),
        title: format!("{values} property values, {members} members each, {points} public points"),
        inferred: decision.value,
        margin: Number(decision.margin),
        p_value: decision.p_value,
        permutations: options.permutations,
        distances: decision.distances.iter().enumerate().map(row).collect(),
    };
    output.write(&document)?;
    Ok(false)
}

/// What is wrong with the arrays is an error of the file.
fn of_file(options: &DistanceOptions, error: &Error) -> Error {
    Error::from(InputError {
        file: options.file.clone(),
        place: "arrays `student` and `ensembles`".into(),
        found: error.to_string(),
        expected: "probabilities of all classes for each point".into(),
        hint: None,
    })
}
