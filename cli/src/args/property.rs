//! Options of `leakbound property`.

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
