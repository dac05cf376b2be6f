//! The purposes of the networks of an attack.

use serde::Serialize;

/// The part of an attack's networks that one of them belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NetworkSplit {
    /// Meta-classifiers learn from it.
    Training,
    /// It decides when a meta-classifier stops.
    Validation,
    /// It is attacked.
    Test,
}

impl NetworkSplit {
    /// All parts, in the order of their numbers in recordings.
    pub const ALL: [Self; 3] = [Self::Training, Self::Validation, Self::Test];
}
