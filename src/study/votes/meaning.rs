//! The answer of an audit of votes.

use crate::bound::{Direction, Validity};
use crate::model::PoisonSearch;
use crate::study::number::{Number, short, significant};
use crate::study::rows::{BoundRow, EpsilonRow, RecommendationRow};
use serde::Serialize;
use std::fmt;

/// Where the divergences of the fitted model come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DistributionKind {
    /// The distribution of the output, by numerical integration.
    Exact,
    /// A series for the distribution of CaPC, cut off where its estimated remainder is small.
    Series,
}

impl DistributionKind {
    /// The head of its column.
    #[must_use]
    pub const fn column(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Series => "series",
        }
    }

    /// The name of the sum of its divergences.
    #[must_use]
    pub const fn sum(self) -> &'static str {
        match self {
            Self::Exact => "exact-sum",
            Self::Series => "series-sum",
        }
    }

    /// The validity of this bound.
    #[must_use]
    pub const fn validity(self) -> Validity {
        match self {
            Self::Exact => Validity::Exact,
            Self::Series => Validity::Heuristic,
        }
    }
}

/// How far a series for the distribution was taken, the worst of all queries and both worlds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesNote {
    /// The last degree.
    pub degree: usize,
    /// What is left out, relative to each probability: an estimate, not a bound.
    pub remainder: f64,
}

/// A divergence by the series, compared with a Monte Carlo estimate that does not use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesCheck {
    /// The query that leaks most by the series.
    pub query: String,
    /// α; the divergence is D(S‖S').
    pub order: f64,
    /// Its value by the series.
    pub series: f64,
    /// Its Rao-Blackwell estimate.
    pub estimate: f64,
    /// The standard error of the estimate.
    pub standard_error: f64,
    /// Draws behind the estimate.
    pub draws: u64,
}

impl fmt::Display for SeriesCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { query, order, series, estimate, standard_error, .. } = self;
        let [series, estimate, error] =
            [(*series, 6), (*estimate, 6), (*standard_error, 2)].map(|(v, n)| significant(v, n));
        let order = short(*order);
        write!(
            formatter,
            "query {query}, order {order}: series {series}, Rao-Blackwell Monte Carlo {estimate} ± {error}"
        )
    }
}

/// The point added by an adversary who does not choose the queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedPoint {
    /// Where it was searched for.
    pub search: PoisonSearch,
    /// Its row among the candidates, or among the training points if all of them were candidates.
    pub row: Option<usize>,
    /// The wrong label that it is given.
    pub label: usize,
    /// E(x): the number of queries on which it is expected to vote.
    pub expected_votes: f64,
    /// The number of queries it was chosen for.
    pub queries: usize,
}

impl fmt::Display for AddedPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(formatter, "{} point {row}", self.search)?,
            None => write!(formatter, "an embedding")?,
        }
        let (label, votes) = (self.label, significant(self.expected_votes, 3));
        write!(formatter, " as class {label}, expected to vote on {votes} of {} queries", self.queries)
    }
}

/// The divergence of one order.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactRow {
    /// α.
    pub order: f64,
    /// D(S‖S').
    pub forward: Number,
    /// D(S'‖S).
    pub reverse: Number,
}

/// One upper bound of one answer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UpperRow {
    /// The accountant.
    pub name: &'static str,
    /// α.
    pub order: f64,
    /// The divergence that it bounds.
    pub direction: Direction,
    /// The RDP that it guarantees.
    pub rdp: Number,
    /// The validity of this bound.
    pub validity: Validity,
}

impl VotesQuery {
    /// Divergences of the fitted model, exact or not.
    #[must_use]
    pub fn divergences(&self) -> &[ExactRow] {
        if self.exact.is_empty() { &self.approximate } else { &self.exact }
    }
}

/// One query: what was observed, what is true of the model, and what is guaranteed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesQuery {
    /// Position of the query in the recording.
    pub query: String,
    /// Its true class, if recorded.
    pub label: Option<usize>,
    /// Outputs per class under S.
    pub counts: Vec<u64>,
    /// Outputs per class under S'.
    pub counts_neighbor: Vec<u64>,
    /// Rényi lower bounds.
    pub lower: Vec<BoundRow>,
    /// ε lower bounds.
    pub epsilon: Vec<EpsilonRow>,
    /// What was recommended.
    pub recommendation: Option<RecommendationRow>,
    /// Exact divergences of the fitted model; none if its distribution is a series.
    pub exact: Vec<ExactRow>,
    /// Divergences by a series for the distribution, if it has no exact form here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approximate: Vec<ExactRow>,
    /// Upper bounds.
    pub upper: Vec<UpperRow>,
}
