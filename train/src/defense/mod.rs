//! Defenses against membership inference: how a shadow model is trained and answers, one file for each.
//!
//! A new defense is a file with a type that implements `Method`, and a variant of [`Defense`].

pub(super) mod method;
mod undefended;

use leakbound::error::Result;
use method::Method;
use serde::Serialize;
use std::fmt;
use undefended::Undefended;

/// How shadow models are defended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Defense {
    /// Not at all: mean cross-entropy on the labels.
    None,
}

impl Defense {
    /// Networks that are trained for one shadow model.
    #[must_use]
    pub fn networks(self) -> u64 {
        self.method().networks()
    }

    /// # Errors
    /// [`Error::Domain`](leakbound::Error::Domain) for a parameter out of range,
    /// [`Error::Rejected`](leakbound::Error::Rejected) for parameters that do not fit each other or so many classes.
    pub(super) fn check(self, classes: usize) -> Result<()> {
        self.method().check(classes)
    }

    /// How it is carried out.
    pub(super) fn method(&self) -> &dyn Method {
        match self {
            Self::None => &Undefended,
        }
    }
}

impl fmt::Display for Defense {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("no defense"),
        }
    }
}

#[cfg(test)]
mod tests;
