//! The attacks that infer a property of a network's training data.

use crate::named::named;
use serde::Serialize;

/// How the value of a property is inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyAttack {
    /// A meta-classifier with convolutions on the weights as one vector.
    Flat,
    /// A meta-classifier that does not see the order of the hidden units.
    Set,
    /// The ensemble whose answers are nearest.
    Distance,
}

named!(PropertyAttack, "attack on a property", [Flat "flat", Set "set", Distance "distance"]);
