//! The names of the methods that bound leakage from counts, and what each needs and guarantees.

use crate::bound::Validity;
use crate::named::named;

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

named!(Method, "method", [
    TwoCutPaper "two-cut-paper", TwoCutCorner "two-cut-corner", TwoCutHalfSpace "two-cut-half-space",
    KCutGoodman "k-cut-goodman", KCutSisonGlaz "k-cut-sison-glaz", KCutBox "k-cut-box",
    KCutVariational "k-cut-variational", KCutRegion "k-cut-region", BootstrapTwoCut "bootstrap-two-cut",
    BootstrapKCut "bootstrap-k-cut", EProcess "e-process", ClopperPearson "clopper-pearson", Jeffreys "jeffreys",
    JointBeta "joint-beta", KatzLog "katz-log", Gdp "gdp",
]);

/// What a method bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounded {
    /// D_α.
    Renyi,
    /// ε at δ.
    Epsilon,
}

impl Method {
    /// What the method bounds.
    #[must_use]
    pub const fn bounds(self) -> Bounded {
        match self {
            Self::ClopperPearson | Self::Jeffreys | Self::JointBeta | Self::KatzLog | Self::Gdp => Bounded::Epsilon,
            Self::TwoCutPaper
            | Self::TwoCutCorner
            | Self::TwoCutHalfSpace
            | Self::KCutGoodman
            | Self::KCutSisonGlaz
            | Self::KCutBox
            | Self::KCutVariational
            | Self::KCutRegion
            | Self::BootstrapTwoCut
            | Self::BootstrapKCut
            | Self::EProcess => Bounded::Renyi,
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
