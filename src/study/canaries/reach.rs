//! What a plan can show: its forecast, and a warning if that is little.

use crate::audit::{CanaryScoreModel, ClaimedBounds, ForecastBound, MostShown, OneRunPlan, forecast_one_run};
use crate::error::Result;
use crate::study::Warning;
use crate::study::number::{Number, significant};
use serde::Serialize;

/// Fewer canaries of a kind than this show next to nothing.
const FEW: u64 = 50;

/// The distribution of a bound over simulated audits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastRange {
    /// A twentieth of the audits find a smaller bound.
    pub low: Number,
    /// The median of the bounds.
    pub median: Number,
    /// A twentieth of the audits find a larger bound.
    pub high: Number,
}

/// What audits find if each canary is as visible as the claim allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastRanges {
    /// The bound of ε at the plan's δ.
    pub epsilon: ForecastRange,
    /// The bound of μ, if the plan has one.
    pub mu: Option<ForecastRange>,
    /// Simulated audits.
    pub repetitions: u64,
}
pub(super) fn forecast(plan: &OneRunPlan, model: &CanaryScoreModel, repetitions: u64) -> Result<ForecastRanges> {
    let found = forecast_one_run(plan, model, repetitions)?;
    let range = |bound: ForecastBound| {
        let [low, median, high] = [bound.low, bound.median, bound.high].map(Number);
        ForecastRange { low, median, high }
    };
    Ok(ForecastRanges { epsilon: range(found.epsilon), mu: found.mu.map(range), repetitions: found.repetitions })
}
pub(super) fn warnings(
    plan: &OneRunPlan,
    claimed: Option<ClaimedBounds>,
    most: MostShown,
    members: u64,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if let Some(claimed) = claimed.filter(|&claimed| !most.refutes(claimed)) {
        warnings.push(Warning {
            code: "claim-out-of-reach",
            message: format!(
                "even with every guess right this plan shows at most ε = {}: it cannot refute a claim of {}",
                significant(most.epsilon, 4),
                significant(claimed.epsilon.get(), 4)
            ),
            hint: "use other numbers of guesses, more canaries, or a smaller delta".into(),
        });
    }
    let fewest = members.min(plan.canaries() - members);
    if fewest < FEW {
        warnings.push(Warning {
            code: "few-canaries",
            message: format!("the coins leave {fewest} canaries on one side"),
            hint: "hundreds of canaries show something, thousands show more".into(),
        });
    }
    warnings
}
