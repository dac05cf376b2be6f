//! The worst case of GNMax over all votes.

use super::check::{Side, TableCheck};
use super::{Decimal, load, order};
use leakbound::accountant::gnmax_worst_case;
use leakbound::histogram::Adjacency;
use leakbound::quantity::NoiseScale;
use serde::Deserialize;

/// The width that is promised, and what the outward rounding adds.
const WIDTH: f64 = 1.001e-4;
/// The half-line alone is enclosed more narrowly.
const WIDTH_OF_LINE: f64 = 3e-6;

#[derive(Deserialize)]
struct Entry {
    inputs: Inputs,
    expected: Expected,
}

#[derive(Deserialize)]
struct Inputs {
    order: f64,
    sigma: f64,
}

#[derive(Deserialize)]
struct Expected {
    supremum: Option<Decimal>,
    two_classes: Decimal,
    one_class: Decimal,
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { inputs, expected } in load::<Entry>(check.table) {
        let sigma = NoiseScale::new(inputs.sigma).expect("a table's scale is positive");
        check.begin(format!("sigma {sigma} order {}", inputs.order));
        let worst = gnmax_worst_case(order(inputs.order), sigma, Adjacency::Moved);
        let supremum = expected.supremum.unwrap_or(expected.two_classes);
        check.relative("supremum, above", worst.upper, supremum, WIDTH);
        check.relative("supremum, below", worst.lower, supremum, WIDTH);
        check.side("supremum, above", worst.upper, supremum, Side::Above);
        check.side("supremum, below", worst.lower, supremum, Side::Below);
        for adjacency in [Adjacency::Added, Adjacency::Removed] {
            let worst = gnmax_worst_case(order(inputs.order), sigma, adjacency);
            check.relative("one class, above", worst.upper, expected.one_class, WIDTH_OF_LINE);
            check.relative("one class, below", worst.lower, expected.one_class, WIDTH_OF_LINE);
            check.side("one class, above", worst.upper, expected.one_class, Side::Above);
            check.side("one class, below", worst.lower, expected.one_class, Side::Below);
        }
    }
}
