//! Simultaneous intervals of multinomial proportions.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::interval::{ProportionRange, RectangleProbability, goodman, sison_glaz};
use leakbound::quantity::FailureProbability;
use serde::Deserialize;

/// Relative error of Goodman's ends: outward rounding and that of the quantile.
const END_ERROR: f64 = 1e-13;
/// γ comes from 1 - ν, whose error of 1e-13 is divided by the distance of two neighboring values.
const GAMMA_ERROR: f64 = 1e-8;

#[derive(Deserialize)]
pub(super) struct Entry {
    kind: Kind,
    inputs: Inputs,
    expected: Expected,
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
struct Inputs {
    counts: Vec<u64>,
    #[serde(alias = "alpha")]
    failure: FailureProbability,
}

#[derive(Deserialize)]
struct Expected {
    lower: Vec<Decimal>,
    upper: Vec<Decimal>,
    c: Option<u64>,
    gamma: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, Entry { kind, inputs, expected }: Entry) -> Result<()> {
    let Inputs { counts, failure } = inputs;
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
