//! `leakbound property meta-classifier`: a property of training data from recorded weights.

use super::conclude::{Asked, publish};
use super::torch;
use super::weight_attacks::{infer, judge};
use crate::args::{Common, RecordedMetaClassifierOptions};
use crate::output::Output;
use leakbound::record::read_networks;
use leakbound::study::Verdict;
use leakbound::{Error, InputError, Result};
use leakbound_train::split_networks;

pub fn run(common: &Common, options: &RecordedMetaClassifierOptions) -> Result<Verdict> {
    let device = torch::open(options.device.device)?;
    let output = Output::open(common, &[&options.file])?;
    let (networks, input) = read_networks(&options.file, common.memory())?;
    let title = format!(
        "{} networks of {} weights, {} property values",
        networks.weights.nrows(),
        networks.weights.ncols(),
        networks.values
    );
    let split = networks.split.clone().unwrap_or_else(|| split_networks(&networks.value.to_vec(), common.seed));
    let inferences =
        infer(common, &options.attacks, &networks, &split, device).map_err(|error| of_file(options, error))?;
    let answer = judge(common, &options.attacks, &networks, &split, &inferences)?;
    let asked = Asked { options, inputs: vec![input], title, warnings: Vec::new() };
    publish(common, output, answer, asked)
}

/// What is wrong with the networks is an error of the file.
fn of_file(options: &RecordedMetaClassifierOptions, error: Error) -> Error {
    if !matches!(error, Error::Length { .. } | Error::Domain { .. }) {
        return error;
    }
    Error::from(InputError {
        file: options.file.clone(),
        place: "arrays `weights`, `layers` and `value`".into(),
        found: error.to_string(),
        expected: "networks of one shape".into(),
        hint: None,
    })
}
