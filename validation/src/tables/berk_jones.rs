//! Limits of a survival function at every point at once.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::interval::BerkJones;
use leakbound::quantity::FailureProbability;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Inputs {
    samples: u64,
    failure: FailureProbability,
}

/// Limits that spend all of the failure probability, and those that spend 97.5 % of it.
#[derive(Deserialize)]
pub(super) struct Expected {
    limits: Vec<Decimal>,
    least: Vec<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { samples, failure }, expected } = entry;
    check.begin(format!("{samples} samples, failure {failure}"));
    let band = BerkJones::new(samples, failure)?;
    for (k, (&limit, &least)) in (1..).zip(expected.limits.iter().zip(&expected.least)) {
        let found = band.lower(k).value;
        // Up to 2.5 % less is spent; where the failure probability is large, the level moves by more.
        check.relative("limit", found, limit, 0.05);
        check.side("limit", found, limit, Side::Below);
        check.side("limit at 97.5 %", found, least, Side::Above);
    }
    Ok(())
}
