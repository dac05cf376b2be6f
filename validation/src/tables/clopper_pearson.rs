//! Clopper-Pearson limits: on the right side, and close.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::interval::{BinomialCounts, clopper_pearson_lower, clopper_pearson_upper};
use leakbound::quantity::FailureProbability;
use serde::Deserialize;

/// The outward margin of the library is 1.42e-14 of the smaller side, or 2^-50 of |ln α|; with it the error of the
/// limit.
fn tolerance(alpha: f64) -> f64 {
    6e-15 + 1.42e-14f64.max(4.0 * f64::EPSILON * alpha.ln().abs())
}

#[derive(Deserialize)]
pub(super) struct Inputs {
    k: u64,
    n: u64,
    alpha: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct Expected {
    lower: Decimal,
    one_minus_lower: Decimal,
    upper: Decimal,
    one_minus_upper: Decimal,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { k, n, alpha }, expected } = entry;
    check.begin(format!("k {k} n {n} alpha {alpha}"));
    let counts = BinomialCounts::new(k, n)?;
    let (lower, upper) = (clopper_pearson_lower(counts, alpha)?, clopper_pearson_upper(counts, alpha)?);
    let ends = [
        ("lower", lower.value, expected.lower, Side::Below),
        ("1-lower", lower.complement, expected.one_minus_lower, Side::Above),
        ("upper", upper.value, expected.upper, Side::Above),
        ("1-upper", upper.complement, expected.one_minus_upper, Side::Below),
    ];
    for (name, value, expected, side) in ends {
        check.side(name, value, expected, side);
        check.relative(name, value, expected, tolerance(alpha.get()));
    }
    Ok(())
}
