//! Limits of proportions: of one, of several at once, and of a survival function at every point at once.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::interval::{
    BerkJones, BinomialCounts, ProportionRange, RectangleProbability, clopper_pearson_lower, clopper_pearson_upper,
    goodman, sison_glaz,
};
use leakbound::quantity::FailureProbability;
use serde::Deserialize;

/// Relative error of Goodman's ends: outward rounding and that of the quantile.
const END_ERROR: f64 = 1e-13;
/// γ comes from 1 - ν, whose error of 1e-13 is divided by the distance of two neighboring values.
const GAMMA_ERROR: f64 = 1e-8;

/// The outward margin of the library is 1.42e-14 of the smaller side, or 2^-50 of |ln α|; with it the error of the
/// limit.
fn tolerance(alpha: f64) -> f64 {
    6e-15 + 1.42e-14f64.max(4.0 * f64::EPSILON * alpha.ln().abs())
}

#[derive(Deserialize)]
pub(super) struct Successes {
    k: u64,
    n: u64,
    alpha: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct Ends {
    lower: Decimal,
    one_minus_lower: Decimal,
    upper: Decimal,
    one_minus_upper: Decimal,
}

pub(super) fn compare_clopper_pearson(check: &mut TableCheck, entry: Case<Successes, Ends>) -> Result<()> {
    let Case { inputs: Successes { k, n, alpha }, expected } = entry;
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

#[derive(Deserialize)]
pub(super) struct Samples {
    samples: u64,
    failure: FailureProbability,
}

/// Limits that spend all of the failure probability, and those that spend 97.5 % of it.
#[derive(Deserialize)]
pub(super) struct Band {
    limits: Vec<Decimal>,
    least: Vec<Decimal>,
}

pub(super) fn compare_berk_jones(check: &mut TableCheck, entry: Case<Samples, Band>) -> Result<()> {
    let Case { inputs: Samples { samples, failure }, expected } = entry;
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

#[derive(Deserialize)]
pub(super) struct Simultaneous {
    kind: Kind,
    inputs: Counts,
    expected: Ranges,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Goodman,
    #[serde(alias = "sison_glaz_edgeworth")]
    Edgeworth,
    #[serde(alias = "sison_glaz_exact_nu")]
    Exact,
}

#[derive(Deserialize)]
struct Counts {
    counts: Vec<u64>,
    #[serde(alias = "alpha")]
    failure: FailureProbability,
}

#[derive(Deserialize)]
struct Ranges {
    lower: Vec<Decimal>,
    upper: Vec<Decimal>,
    c: Option<u64>,
    gamma: Option<Decimal>,
}

pub(super) fn compare_simultaneous(
    check: &mut TableCheck,
    Simultaneous { kind, inputs, expected }: Simultaneous,
) -> Result<()> {
    let Counts { counts, failure } = inputs;
    check.begin(format!("{counts:?} {failure}"));
    if kind == Kind::Goodman {
        let ranges = goodman(&counts, failure)?;
        for (range, (&lower, &upper)) in ranges.iter().zip(expected.lower.iter().zip(&expected.upper)) {
            check.side("goodman lower", range.lower.value, lower, Side::Below);
            check.side("goodman upper", range.upper.value, upper, Side::Above);
            check.absolute("goodman lower", range.lower.value, lower, END_ERROR * lower.value);
            check.absolute("goodman upper", range.upper.value, upper, END_ERROR * upper.value);
        }
        return Ok(());
    }
    let wanted = if kind == Kind::Exact { RectangleProbability::Exact } else { RectangleProbability::Edgeworth };
    let found = sison_glaz(&counts, failure, wanted)?;
    check.holds(found.probability == wanted, "the probability asked for");
    check.holds(Some(found.half_width) == expected.c, "the c of the table");
    if let Some(gamma) = expected.gamma {
        check.absolute("gamma", found.gamma, gamma, GAMMA_ERROR);
    }
    let trials = counts.iter().sum::<u64>() as f64;
    let ends = |range: &ProportionRange| [range.lower.value, range.upper.value];
    for (range, (&lower, &upper)) in found.ranges.iter().zip(expected.lower.iter().zip(&expected.upper)) {
        for (end, expected) in ends(range).into_iter().zip([lower, upper]) {
            check.absolute("sison-glaz ends", end, expected, 2.0 * GAMMA_ERROR / trials + 1e-14);
        }
    }
    Ok(())
}
