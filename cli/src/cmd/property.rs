//! `leakbound property distance`: which ensemble a student resembles most.

use super::conclude::{Asked, conclude};
use crate::args::Common;
use crate::args::values::whole;
use crate::output::{Output, fault};
use clap::{Args, Subcommand};
use leakbound::record::read_property_answers;
use leakbound::study::{PropertyStudy, Verdict};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::PathBuf;

#[cfg(feature = "torch")]
use super::torch::weight_attacks::RecordedMetaClassifierOptions;

/// Property inference.
#[derive(Debug, Subcommand)]
pub enum PropertyCommand {
    /// Infer a property of the training data from the ensemble closest to a student
    #[command(after_help = "File: npz with `student` [point, class] and `ensembles` [property value, member, point, \
                            class], probabilities at the public points that the student was trained on.\n\nExample:\n  \
                            leakbound property distance answers.npz --permutations 9999")]
    Distance(DistanceOptions),
    /// Infer a property of the training data of networks from their weights by meta-classifiers
    #[cfg(feature = "torch")]
    #[command(
        after_help = "File: npz with `weights` [network, parameter], `layers` [layer, 4] and `value` [network], the \
                      property value counted from 0; also `split` [network] (0 for training, 1 for validation, 2 for \
                      test; otherwise tenths are drawn for validation and test) and `answers` [network, point, class], \
                      probabilities for the attack by distance.\n\nA layer has a kernel [place, input, output] and \
                      vectors [output], as get_weights of Keras puts them; its row in `layers` is the number of places, \
                      inputs, outputs and vectors: 1, 784, 64, 1 for a dense layer with a bias, 25, 1, 32, 3 for a \
                      convolution of 5 x 5 with bias, scale and shift.\n\nExample:\n  leakbound property \
                      meta-classifier weights.npz --classifiers flat,set"
    )]
    MetaClassifier(RecordedMetaClassifierOptions),
}

#[derive(Debug, Args, Serialize)]
pub struct DistanceOptions {
    /// Answers of the student and of the ensembles
    pub file: PathBuf,
    /// Random permutations for the p-value
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1, 10_000_000, "10^7"), default_value = "9999", allow_hyphen_values = true)]
    pub permutations: usize,
}

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
    let expected = "probabilities of all classes for each point";
    fault(&options.file, "arrays `student` and `ensembles`", error.to_string(), expected)
}
