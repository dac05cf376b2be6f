//! Limits of a survival function at every point at once.

use super::check::{Side, TableCheck};
use super::{Decimal, load};
use leakbound::interval::BerkJones;
use leakbound::quantity::FailureProbability;
use serde::Deserialize;

#[derive(Deserialize)]
struct Entry {
    inputs: Inputs,
    expected: Expected,
}

#[derive(Deserialize)]
struct Inputs {
    samples: u64,
    failure: f64,
}

/// Limits that spend all of the failure probability, and those that spend 97.5 % of it.
#[derive(Deserialize)]
struct Expected {
    limits: Vec<Decimal>,
    least: Vec<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { inputs, expected } in load::<Entry>(check.table) {
        check.begin(format!("{} samples, failure {}", inputs.samples, inputs.failure));
        let failure = FailureProbability::new(inputs.failure).expect("a table's failure probability is one");
        match BerkJones::new(inputs.samples, failure) {
            Ok(band) => {
                for (k, (&limit, &least)) in (1..).zip(expected.limits.iter().zip(&expected.least)) {
                    let found = band.lower(k).value;
                    // Up to 2.5 % less is spent; where the failure probability is large, the level moves by more.
                    check.relative("limit", found, limit, 0.05);
                    check.side("limit", found, limit, Side::Below);
                    check.side("limit at 97.5 %", found, least, Side::Above);
                }
            }
            Err(error) => check.fail(error.to_string()),
        }
    }
}
