//! What all documents share.

use crate::record::InputFile;
use crate::study::Warning;
use serde::Serialize;
use serde_json::Value;

/// The part of a document that does not depend on the command.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// `leakbound.<command>/1`.
    pub schema: &'static str,
    /// The command, such as `audit counts`.
    pub command: String,
    /// Version of the program.
    pub version: &'static str,
    /// Every input file with its size and SHA-256.
    pub inputs: Vec<InputFile>,
    /// Every option, defaults included.
    pub options: Value,
    /// The seed, if random numbers were drawn.
    pub seed: u64,
    /// Warnings.
    pub warnings: Vec<Warning>,
}
