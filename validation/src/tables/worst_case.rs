//! The worst case of GNMax over all votes.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::accountant::gnmax_worst_case;
use leakbound::histogram::Adjacency;
use leakbound::quantity::{NoiseScale, Order};
use serde::Deserialize;

/// The width that is promised, and what the outward rounding adds.
const WIDTH: f64 = 1.001e-4;
/// The half-line alone is enclosed more narrowly.
const WIDTH_OF_LINE: f64 = 3e-6;

#[derive(Deserialize)]
pub(super) struct Inputs {
    order: Order,
    sigma: NoiseScale,
}

#[derive(Deserialize)]
pub(super) struct Expected {
    supremum: Option<Decimal>,
    two_classes: Decimal,
    one_class: Decimal,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { order, sigma }, expected } = entry;
    check.begin(format!("sigma {sigma} order {order}"));
    let supremum = expected.supremum.unwrap_or(expected.two_classes);
    for (adjacency, [above, below], expected, width) in [
        (Adjacency::Moved, ["supremum, above", "supremum, below"], supremum, WIDTH),
        (Adjacency::Added, ["one class, above", "one class, below"], expected.one_class, WIDTH_OF_LINE),
        (Adjacency::Removed, ["one class, above", "one class, below"], expected.one_class, WIDTH_OF_LINE),
    ] {
        let worst = gnmax_worst_case(order, sigma, adjacency);
        check.relative(above, worst.upper, expected, width);
        check.relative(below, worst.lower, expected, width);
        check.side(above, worst.upper, expected, Side::Above);
        check.side(below, worst.lower, expected, Side::Below);
    }
    Ok(())
}
