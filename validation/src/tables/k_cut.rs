//! Lower bounds from the counts of every outcome: never above the bound in real arithmetic, and hardly below.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::audit::{KCutBox, SimultaneousIntervals};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::interval::RectangleProbability;
use leakbound::quantity::{FailureProbability, Order};
use serde::Deserialize;

/// How far a bound may lie below its value in real arithmetic, relatively.
const SLACK: f64 = 1e-9;
/// The bounds see differences of limits, and each limit is moved outwards by 2^-46.
const LIMIT_MARGIN: f64 = 2e-13;
/// γ comes from 1 - ν, whose error of 1e-13 is divided by the distance of two neighboring values.
const GAMMA_ERROR: f64 = 1e-8;

#[derive(Deserialize)]
pub(super) struct Inputs {
    counts: Vec<u64>,
    neighbor: Vec<u64>,
    order: Order,
    failure: FailureProbability,
}

#[derive(Deserialize)]
pub(super) struct Expected {
    r#box: Decimal,
    goodman: Decimal,
    edgeworth: Decimal,
    exact: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { counts, neighbor, order: a, failure }, expected } = entry;
    check.begin(format!("{counts:?} {neighbor:?} order {a}"));
    let labels = (0..counts.len()).map(|class| class.to_string()).collect();
    let counts = PairedCounts::new(labels, counts, neighbor)?;
    let forward = Direction::Forward;
    let least = KCutBox::new(&counts, failure)?.bound(a, forward).value;
    check.side("box", least, expected.r#box, Side::Below);
    check.absolute("box", least, expected.r#box, SLACK * expected.r#box.value + LIMIT_MARGIN);
    let goodman = SimultaneousIntervals::goodman(&counts, failure)?.bound(a, forward).value;
    check.side("goodman", goodman, expected.goodman, Side::Below);
    check.absolute("goodman", goodman, expected.goodman, SLACK * expected.goodman.value + LIMIT_MARGIN);
    let sison_glaz = |wanted| -> Result<f64> {
        Ok(SimultaneousIntervals::sison_glaz(&counts, failure, wanted)?.bound(a, forward).value)
    };
    check.absolute("edgeworth", sison_glaz(RectangleProbability::Edgeworth)?, expected.edgeworth, GAMMA_ERROR);
    if let Some(exact) = expected.exact {
        check.absolute("exact", sison_glaz(RectangleProbability::Exact)?, exact, GAMMA_ERROR);
    }
    Ok(())
}
