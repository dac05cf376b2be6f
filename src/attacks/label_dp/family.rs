//! Mechanisms of label privacy by name.

use crate::named::named;
use serde::Serialize;

/// The mechanism that made the labels of a recording private, if something was published about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LabelFamily {
    /// Labels as they are.
    NotPrivate,
    /// ALIBI: Laplace noise on one-hot labels and Bayesian inference (Malek Esmaeili et al. 2021).
    Alibi,
    /// AGIBI: Gaussian noise instead.
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

named!(LabelFamily, "mechanism of label privacy", [
    NotPrivate "not-private", Alibi "alibi", Agibi "agibi", RandomizedResponse "randomized-response", Lp2st "lp-2st",
    PateFm "pate-fm", Other "other",
]);

impl LabelFamily {
    /// All but [`LabelFamily::Other`].
    pub const KNOWN: [Self; 6] =
        [Self::NotPrivate, Self::Alibi, Self::Agibi, Self::RandomizedResponse, Self::Lp2st, Self::PateFm];

    /// The family of this name; [`LabelFamily::Other`] for one that is not known.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        name.parse().unwrap_or(Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_mechanisms_are_other_ones() {
        assert_eq!(LabelFamily::of_name(" lp-2st"), LabelFamily::Lp2st);
        assert_eq!(LabelFamily::of_name("mine"), LabelFamily::Other);
    }
}
