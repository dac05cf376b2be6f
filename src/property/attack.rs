//! The attacks that infer a property of a network's training data.

use serde::Serialize;
use std::fmt;

/// How the value of a property is inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PropertyAttack {
    /// A meta-classifier with convolutions on the weights as one vector.
    Flat,
    /// A meta-classifier that does not see in which order the hidden units are.
    Set,
    /// The ensemble whose answers are nearest.
    Distance,
}

impl PropertyAttack {
    /// Its name in rows and arrays.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Set => "set",
            Self::Distance => "distance",
        }
    }
}

impl fmt::Display for PropertyAttack {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
