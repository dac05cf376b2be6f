//! Options of `leakbound property`.

#[cfg(feature = "torch")]
use super::RecordedMetaClassifierOptions;
use super::{Parsed, whole};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::PathBuf;

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

/// Options of `leakbound property distance`.
#[derive(Debug, Args, Serialize)]
pub struct DistanceOptions {
    /// Answers of the student and of the ensembles
    pub file: PathBuf,
    /// Random permutations for the p-value
    #[arg(long, value_name = "N", value_parser = permutations, default_value = "9999", allow_hyphen_values = true)]
    pub permutations: usize,
}

fn permutations(text: &str) -> Parsed<usize> {
    whole(text, 10_000_000, "10^7").map(|permutations| permutations as usize)
}
