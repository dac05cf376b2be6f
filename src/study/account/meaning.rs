//! The rows of an account: costs by accountant, and what each holds for.

use crate::bound::{Directions, Validity};
use crate::named::named;
use crate::study::number::Number;
use serde::Serialize;
use std::fmt;

/// What is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// Answers to queries.
    Answers,
    /// Releases of mechanisms.
    Releases,
}

named!(Summed, "what is summed up", [Answers "answers", Releases "releases"]);

/// What a curve of costs holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CostMeaning {
    /// A bound for all votes: may be published.
    DataIndependent,
    /// A bound for all data, even if each release is chosen after the outputs before it: may be published.
    AnyData,
    /// A bound for these votes.
    DataDependent,
    /// The mean charge over the noise of a test: for planning, not a bound.
    Expected,
    /// The largest divergence from any histogram one moved vote away, per answer: nothing smaller holds for these
    /// votes.
    ExactGivenVotes,
    /// The largest sum of divergences over the answers when one teacher or party changes any of its votes.
    ExactOfOneVoter,
    /// The divergence of the two worlds of a scenario, all answers together, which are independent.
    ExactOfScenario,
    /// The largest divergence of a single answer: what several answers leak together is unknown in a scenario whose
    /// answers depend on each other or concern different neighboring datasets.
    ExactOfOneAnswer,
}

impl CostMeaning {
    /// Whether the charge is an upper bound of the cost, and neither the exact cost nor a mean.
    #[must_use]
    pub const fn is_bound(self) -> bool {
        match self {
            Self::DataIndependent | Self::AnyData | Self::DataDependent => true,
            Self::Expected
            | Self::ExactGivenVotes
            | Self::ExactOfOneVoter
            | Self::ExactOfScenario
            | Self::ExactOfOneAnswer => false,
        }
    }

    /// The words used in tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::DataIndependent => "any votes",
            Self::AnyData => "any data, also adaptively",
            Self::DataDependent => "these votes",
            Self::Expected => "expected charge, no bound",
            Self::ExactGivenVotes => "these votes, any voter at each answer, exact per answer",
            Self::ExactOfOneVoter => "these votes, one voter at all answers, exact per answer",
            Self::ExactOfScenario => "these two worlds, exact",
            Self::ExactOfOneAnswer => "the worst answer alone, exact",
        }
    }

    /// Whether it is computed from output distributions.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        matches!(self, Self::ExactGivenVotes | Self::ExactOfOneVoter | Self::ExactOfScenario | Self::ExactOfOneAnswer)
    }
}

impl fmt::Display for CostMeaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.words())
    }
}

/// ε at one δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpsilonAtDelta {
    /// δ.
    pub delta: f64,
    /// ε.
    pub epsilon: Number,
}

/// The cost of all answers by one accountant.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostCurve {
    /// Its name.
    pub name: &'static str,
    /// What the cost holds for.
    pub meaning: CostMeaning,
    /// The directions that it covers: with one direction its ε is not an ε of differential privacy.
    pub directions: Directions,
    /// How it is guaranteed.
    pub validity: Validity,
    /// The RDP at each of the answer's orders.
    pub rdp: Vec<Number>,
    /// ε at the answer's δ.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// ε at other δ.
    pub profile: Vec<EpsilonAtDelta>,
}

impl CostCurve {
    /// What the cost holds for, with the direction if it covers only one.
    #[must_use]
    pub fn holds_for(&self) -> String {
        match self.directions {
            Directions::Both => self.meaning.to_string(),
            Directions::Forward => format!("{}, S against S' only", self.meaning),
        }
    }
}

/// ε at one δ between two ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComposedEpsilonAt {
    /// δ.
    pub delta: f64,
    /// At most ε.
    pub lower: Number,
    /// At least ε.
    pub upper: Number,
}

/// All answers composed by their privacy losses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossComposition {
    /// What the cost holds for.
    pub meaning: CostMeaning,
    /// ε at the answer's δ.
    pub epsilon: ComposedEpsilonAt,
    /// ε at other δ.
    pub profile: Vec<ComposedEpsilonAt>,
    /// Lower bound of ε when one teacher or party changes any of its votes, if individual votes are recorded; in
    /// `epsilon` the voter may differ per answer.
    pub one_voter: Option<Vec<EpsilonAtDelta>>,
}

impl LossComposition {
    /// Takes the closer ends of another enclosure of the same quantity at the same δ.
    pub(super) fn narrow(&mut self, other: &Self) {
        for (at, other) in self.profile.iter_mut().zip(&other.profile) {
            at.lower = Number(at.lower.0.max(other.lower.0));
            at.upper = Number(at.upper.0.min(other.upper.0));
        }
    }
}

/// A labeling campaign with one budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetRow {
    /// The budget.
    pub budget: f64,
    /// Its δ.
    pub delta: f64,
    /// ε of what was spent.
    pub epsilon: Number,
    /// The order that gives it.
    pub order: f64,
    /// Queries asked.
    pub queries: u64,
    /// Queries answered.
    pub labels: u64,
    /// Their ratio.
    pub success_rate: Option<f64>,
    /// The share of correct answers, if the true classes are recorded.
    pub label_accuracy: Option<f64>,
    /// Whether a query was refused; otherwise the queries ran out.
    pub exhausted: bool,
}

/// How many releases of a file pass a privacy filter, in their order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterRow {
    /// The budget of ε.
    pub budget: f64,
    /// Its δ.
    pub delta: f64,
    /// The Rényi order of the filter: the one at which most releases pass. It depends on the file alone.
    pub order: f64,
    /// The largest sum of Rényi divergences of this order within the budget.
    pub rdp: Number,
    /// Releases that pass.
    pub releases: u64,
    /// ε of the releases that pass.
    pub epsilon: Number,
    /// Whether a release was refused.
    pub exhausted: bool,
}
