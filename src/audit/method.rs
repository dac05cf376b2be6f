//! The names of the methods that bound leakage from counts, and what each needs and guarantees.

use crate::bound::Validity;
use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A method that turns counts into lower bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Rényi: each term of the 2-cut at its own worst corner
    /// ([`Rectangle::termwise`](crate::audit::Rectangle::termwise)).
    TwoCutPaper,
    /// Rényi: the worst corner of the 2-cut ([`Rectangle::corner`](crate::audit::Rectangle::corner)).
    TwoCutCorner,
    /// Rényi: the 2-cut from one limit of P(O) - Q(O) ([`HalfSpace`](crate::audit::HalfSpace)).
    TwoCutHalfSpace,
    /// Rényi: the k-cut from the simultaneous intervals of Goodman.
    KCutGoodman,
    /// Rényi: the k-cut from the simultaneous intervals of Sison and Glaz.
    KCutSisonGlaz,
    /// Rényi: the smallest k-cut in the box of all Clopper-Pearson limits ([`KCutBox`](crate::audit::KCutBox)).
    KCutBox,
    /// Rényi: one limit of the tangent of the divergence at a reference
    /// ([`Variational`](crate::audit::Variational)).
    KCutVariational,
    /// Rényi: the box cut by one half-space, for all orders ([`Region`](crate::audit::Region)).
    KCutRegion,
    /// Rényi: percentile bootstrap of the 2-cut ([`Bootstrap`](crate::audit::Bootstrap)).
    BootstrapTwoCut,
    /// Rényi: percentile bootstrap of the k-cut ([`Bootstrap`](crate::audit::Bootstrap)).
    BootstrapKCut,
    /// Rényi: a bet against each divergence, in a random order of the outputs ([`EProcess`](crate::audit::EProcess)).
    EProcess,
    /// ε at δ from Clopper-Pearson limits ([`Rectangle::epsilon`](crate::audit::Rectangle::epsilon)).
    ClopperPearson,
    /// ε at δ from Jeffreys limits.
    Jeffreys,
    /// ε at δ from the joint posterior of both probabilities.
    JointBeta,
    /// ε at δ from the log ratio of both probabilities.
    KatzLog,
    /// ε at δ of the Gaussian trade-off whose μ is bounded from Clopper-Pearson limits.
    Gdp,
}

/// What a method bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounded {
    /// D_α.
    Renyi,
    /// ε at δ.
    Epsilon,
}

impl Method {
    /// All methods, in the order of tables.
    pub const ALL: [Self; 16] = [
        Self::TwoCutPaper,
        Self::TwoCutCorner,
        Self::TwoCutHalfSpace,
        Self::KCutGoodman,
        Self::KCutSisonGlaz,
        Self::KCutBox,
        Self::KCutVariational,
        Self::KCutRegion,
        Self::BootstrapTwoCut,
        Self::BootstrapKCut,
        Self::EProcess,
        Self::ClopperPearson,
        Self::Jeffreys,
        Self::JointBeta,
        Self::KatzLog,
        Self::Gdp,
    ];

    /// The name used in tables, JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoCutPaper => "two-cut-paper",
            Self::TwoCutCorner => "two-cut-corner",
            Self::TwoCutHalfSpace => "two-cut-half-space",
            Self::KCutGoodman => "k-cut-goodman",
            Self::KCutSisonGlaz => "k-cut-sison-glaz",
            Self::KCutBox => "k-cut-box",
            Self::KCutVariational => "k-cut-variational",
            Self::KCutRegion => "k-cut-region",
            Self::BootstrapTwoCut => "bootstrap-two-cut",
            Self::BootstrapKCut => "bootstrap-k-cut",
            Self::EProcess => "e-process",
            Self::ClopperPearson => "clopper-pearson",
            Self::Jeffreys => "jeffreys",
            Self::JointBeta => "joint-beta",
            Self::KatzLog => "katz-log",
            Self::Gdp => "gdp",
        }
    }

    /// What the method bounds.
    #[must_use]
    pub const fn bounds(self) -> Bounded {
        match self {
            Self::ClopperPearson | Self::Jeffreys | Self::JointBeta | Self::KatzLog | Self::Gdp => Bounded::Epsilon,
            _ => Bounded::Renyi,
        }
    }

    /// What its bounds guarantee.
    #[must_use]
    pub const fn validity(self) -> Validity {
        match self {
            Self::TwoCutPaper
            | Self::TwoCutCorner
            | Self::TwoCutHalfSpace
            | Self::KCutBox
            | Self::KCutVariational
            | Self::KCutRegion
            | Self::EProcess
            | Self::ClopperPearson => Validity::FiniteSample,
            Self::KCutGoodman | Self::KCutSisonGlaz | Self::Jeffreys | Self::KatzLog => Validity::Asymptotic,
            Self::JointBeta => Validity::Bayesian,
            Self::BootstrapTwoCut | Self::BootstrapKCut | Self::Gdp => Validity::Heuristic,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == text).ok_or_else(|| Error::Syntax {
            quantity: "method",
            value: text.to_owned(),
            expected: "two-cut-paper, two-cut-corner, two-cut-half-space, k-cut-goodman, k-cut-sison-glaz, k-cut-box, \
                       k-cut-variational, k-cut-region, bootstrap-two-cut, bootstrap-k-cut, e-process, \
                       clopper-pearson, jeffreys, joint-beta, katz-log or gdp",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_read_back() {
        let error = "nonsense".parse::<Method>().unwrap_err().to_string();
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
            assert!(error.contains(method.name()), "{error} lacks {method}");
        }
    }
}
