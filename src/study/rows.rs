//! What an audit reports about one query.

use super::number::Number;
use crate::audit::{FailureBudget, FailurePer, QueryAudit, Recommendation};
use crate::bound::{Direction, LowerBound, Validity};
use crate::quantity::Order;
use serde::Serialize;

/// One Rényi bound.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// The method.
    pub method: &'static str,
    /// Which divergence.
    pub direction: Direction,
    /// α.
    pub order: f64,
    /// The lower bound of D_α.
    pub rdp_lower: Number,
    /// The probability that any bound of this method on this query is wrong.
    pub failure_probability: f64,
    /// What the method guarantees.
    pub validity: Validity,
}

/// One ε bound.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpsilonRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// The method.
    pub method: &'static str,
    /// Which inequality.
    pub direction: Direction,
    /// δ.
    pub delta: f64,
    /// The lower bound of ε.
    pub epsilon_lower: Number,
    /// The probability that any bound of this method on this query is wrong.
    pub failure_probability: f64,
    /// What the method guarantees.
    pub validity: Validity,
}

/// An output set that was used.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// Where the set comes from.
    pub source: String,
    /// Labels of the outcomes in the set.
    pub outcomes: Vec<String>,
    /// Whether P(O) ≥ Q(O) was expected, so that two tails were used instead of four.
    pub directed: bool,
}

/// The divergence of a distribution that was given.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionDivergenceRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// Which divergence.
    pub direction: Direction,
    /// α.
    pub order: f64,
    /// D_α of the distribution: the leakage, if the distribution is that of the outputs.
    pub divergence: Number,
}

/// The methods that were recommended for a query.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecommendationRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// The method of the Rényi bounds.
    pub method: &'static str,
    /// The method of the ε bounds.
    pub epsilon_method: &'static str,
    /// Why, in words.
    pub reason: String,
}

/// Samples that a method would need, if the divergence is as estimated.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastRow {
    /// The query; empty if the file has no queries.
    pub query: String,
    /// The method.
    pub method: &'static str,
    /// Which divergence.
    pub direction: Direction,
    /// α.
    pub order: f64,
    /// The estimate of D_α; not a bound.
    pub divergence: Number,
    /// Samples per world for half of it; None if no number of samples is enough.
    pub samples_half: Option<u64>,
    /// Samples per world for nine tenths of it; None if no number is enough.
    pub samples_nine_tenths: Option<u64>,
    /// Samples per world, and the share of the divergence that they are expected to certify.
    pub tightness: Vec<[f64; 2]>,
}

/// The stated failure probability, what it is for, and the share of each bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureNote {
    /// The stated probability.
    pub probability: f64,
    /// Whether all numbers with a finite-sample guarantee share it, or each method on each query has it for itself.
    pub per: FailurePer,
    /// Queries that share it: those of the answer, or of the audit that it is a part of.
    pub queries: usize,
    /// The probability that any bound of one method on one query is wrong.
    pub share: f64,
    /// The probability that the joint bound of all queries is wrong; absent without such a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_share: Option<f64>,
    /// Whether some method has no finite-sample guarantee: its probability is the stated one, nominally.
    pub nominal: bool,
}

impl FailureNote {
    /// The note of a budget; `nominal` if some methods have no guarantee.
    #[must_use]
    pub fn new(budget: &FailureBudget, nominal: bool) -> Self {
        Self {
            probability: budget.stated().get(),
            per: budget.per(),
            queries: budget.whole(),
            share: budget.share().get(),
            joint_share: budget.has_joint().then(|| budget.joint_share().get()),
            nominal,
        }
    }
}

impl BoundRow {
    pub(super) fn new(query: &str, direction: Direction, order: Order, bound: &LowerBound) -> Self {
        Self {
            query: query.to_owned(),
            method: bound.method,
            direction,
            order: order.get(),
            rdp_lower: Number(bound.value),
            failure_probability: bound.failure_probability.get(),
            validity: bound.validity,
        }
    }
}

/// The Rényi bounds of a query.
pub(crate) fn bound_rows(query: &str, audit: &QueryAudit) -> Vec<BoundRow> {
    audit.rdp.iter().map(|found| BoundRow::new(query, found.direction, found.order, &found.bound)).collect()
}

/// The ε bounds of a query.
pub(crate) fn epsilon_rows(query: &str, audit: &QueryAudit) -> Vec<EpsilonRow> {
    let row = |row: &crate::audit::EpsilonBound| EpsilonRow {
        query: query.to_owned(),
        method: row.bound.method,
        direction: row.direction,
        delta: row.delta.get(),
        epsilon_lower: Number(row.bound.value),
        failure_probability: row.bound.failure_probability.get(),
        validity: row.bound.validity,
    };
    audit.epsilon.iter().map(row).collect()
}

impl RecommendationRow {
    pub(crate) fn new(query: &str, found: Recommendation) -> Self {
        Self {
            query: query.to_owned(),
            method: found.renyi.name(),
            epsilon_method: found.epsilon.name(),
            reason: found.reason,
        }
    }
}
