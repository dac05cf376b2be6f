//! Mechanisms of label privacy by name.

use serde::Serialize;
use std::fmt;

/// Which mechanism made the labels of a recording private, as far as something was published about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LabelFamily {
    /// Labels as they are.
    NotPrivate,
    /// ALIBI: Laplace noise on one-hot labels and Bayesian inference (Malek Esmaeili et al. 2021).
    Alibi,
    /// AGIBI: Gaussian noise in its place.
    Agibi,
    /// Randomized response (Warner 1965).
    RandomizedResponse,
    /// Randomized response with the prior of an earlier stage (Ghazi et al. 2021).
    #[serde(rename = "lp-2st")]
    Lp2st,
    /// Teachers that vote with noise, trained by FixMatch (Malek Esmaeili et al. 2021).
    PateFm,
    /// Another one.
    Other,
}

impl LabelFamily {
    /// All but [`LabelFamily::Other`].
    pub const KNOWN: [Self; 6] =
        [Self::NotPrivate, Self::Alibi, Self::Agibi, Self::RandomizedResponse, Self::Lp2st, Self::PateFm];

    /// The family of this name; [`LabelFamily::Other`] for one that is not known.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self::KNOWN.into_iter().find(|family| family.name() == name.trim()).unwrap_or(Self::Other)
    }

    /// `not-private`, `alibi`, `agibi`, `randomized-response`, `lp-2st`, `pate-fm` or `other`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotPrivate => "not-private",
            Self::Alibi => "alibi",
            Self::Agibi => "agibi",
            Self::RandomizedResponse => "randomized-response",
            Self::Lp2st => "lp-2st",
            Self::PateFm => "pate-fm",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for LabelFamily {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for family in LabelFamily::KNOWN {
            assert_eq!(LabelFamily::of_name(family.name()), family);
            assert_eq!(serde_json::to_value(family).unwrap(), family.name());
        }
        assert_eq!(LabelFamily::of_name("mine"), LabelFamily::Other);
    }
}
