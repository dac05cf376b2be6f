//! The outcome of one case of a property.

use crate::histogram::VoteHistogram;
use crate::program::Fault;
use serde::Serialize;

/// The one of order, δ and ε that a property asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Order,
    Delta,
    Epsilon,
}

/// The outcome of one case.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Check {
    /// It holds; for validity with the exact value as a share of the claim.
    Holds { share: Option<f64> },
    /// The property does not cover this case, or the exact distribution could not be computed.
    NotApplicable,
    /// The accountant does not answer it.
    Declined(String),
    /// It does not hold.
    Violated(Violation),
    /// The accountant failed to answer.
    Fault(Fault),
}

/// How a property does not hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// The claim that is wrong.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "number_schema"))]
    pub claim: f64,
    /// The value that the claim must not be below; for structure, the value that it must not exceed or differ from.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "number_schema"))]
    pub limit: f64,
    /// The possible error of the limit.
    #[serde(serialize_with = "number")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "number_schema"))]
    pub error: f64,
    /// Claim and limit in words.
    pub words: String,
    /// The neighbor with the largest exact value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbor: Option<VoteHistogram>,
    /// Whether the exact value is of the neighbor against the votes.
    pub reverse: bool,
}

impl Violation {
    /// How far the claim is beyond the limit.
    #[must_use]
    pub fn margin(&self) -> f64 {
        (self.claim - self.limit).abs()
    }
}

/// Infinity is the string `inf`, as in all documents.
fn number<S: serde::Serializer>(value: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match *value {
        f64::INFINITY => serializer.serialize_str("inf"),
        f64::NEG_INFINITY => serializer.serialize_str("-inf"),
        value => serializer.serialize_f64(value),
    }
}

#[cfg(feature = "schema")]
fn number_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "number" }, { "enum": ["inf", "-inf"] }] })
}

/// The claim, or the result that ends the check.
macro_rules! claim {
    ($accountant:expr, $request:expr) => {
        match $accountant.answer($request).claim() {
            Ok(value) => value,
            Err(AccountantAnswer::Declined(reason)) => return Check::Declined(reason),
            Err(AccountantAnswer::Fault(fault)) => return Check::Fault(fault),
            Err(AccountantAnswer::Value(_)) => return Check::NotApplicable,
        }
    };
}
pub(super) use claim;
