//! Lower bounds from scores, as rows of an answer.

use super::number::Number;
use crate::bound::{Direction, LowerBound, Validity};
use serde::Serialize;

/// A lower bound from scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreBoundRow {
    /// The method, such as `clopper-pearson` or `one-run`.
    pub method: &'static str,
    /// How the threshold, the numbers of guesses, or the bins were chosen.
    pub selection: &'static str,
    /// `forward` for members over others; absent if both directions share the bound.
    pub direction: Option<Direction>,
    /// The order of a Rényi divergence.
    pub order: Option<f64>,
    /// δ of an ε.
    pub delta: Option<f64>,
    /// ε of a δ.
    pub epsilon: Option<f64>,
    /// The threshold at which the bound is read; absent for guesses.
    pub threshold: Option<Number>,
    /// The lower bound.
    pub lower: Number,
    /// The probability that any row of the answer is wrong.
    pub failure_probability: f64,
    /// What is guaranteed.
    pub validity: Validity,
}

impl ScoreBoundRow {
    /// A bound, with the way it was selected and all other fields empty.
    pub(super) fn of(bound: &LowerBound, selection: &'static str) -> Self {
        Self {
            method: bound.method,
            selection,
            direction: None,
            order: None,
            delta: None,
            epsilon: None,
            threshold: None,
            lower: Number(bound.value),
            failure_probability: bound.failure_probability.get(),
            validity: bound.validity,
        }
    }
}
