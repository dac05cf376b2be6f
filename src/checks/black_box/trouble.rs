//! Why there are no outputs.

use crate::program::Fault;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why there are no outputs of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// The program rejects the dataset.
    Rejected(String),
    /// The program failed.
    Failed(Fault),
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => write!(formatter, "it was rejected: {reason}"),
            Self::Failed(fault) => write!(formatter, "{}: {}", fault.kind, fault.message),
        }
    }
}
