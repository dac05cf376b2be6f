//! A count with noise on the integers: divergences by theorem and by distribution.

use super::check::TableCheck;
use super::pairs::{Delta, Promised, RELATIVE, compare_theorem};
use leakbound::Result;
use leakbound::accountant::WorstCases;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, DISCRETE_LAPLACE};
use leakbound::quantity::Order;
use serde::Deserialize;

/// Outcomes of discrete Gaussian noise are single integers up to this scale.
const SINGLE: f64 = 8.0;

#[derive(Deserialize)]
pub(super) struct Entry {
    mechanism: String,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    divergences: Vec<Promised>,
    hockey_stick: Vec<Delta>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(entry.mechanism.clone());
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let [without, with] = [VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?];
    let theorems = mechanism.theorems_for(&without, &WorstCases::default());
    check.holds(theorems.len() == 1, "one theorem");
    // Discrete Laplace noise has two outcomes, which lose nothing.
    let single = mechanism.kind() == DISCRETE_LAPLACE || mechanism.parameters().number("sigma")? <= SINGLE;
    let pair = |order: Option<Order>| mechanism.output_pair(&without, &with, Bins::at(order));
    for Promised { divergence, theorem: promised } in entry.expected.divergences {
        let order = divergence.order;
        let pair = pair(Some(order))?;
        for (direction, expected) in divergence.both() {
            for theorem in &theorems {
                compare_theorem(check, theorem, (order, direction), promised, ("theorem", RELATIVE));
            }
            let exact = pair.renyi(direction, order);
            // A divergence of bins is below that of the integers.
            check.holds(exact <= expected.value * (1.0 + RELATIVE), "a divergence of outcomes is no larger");
            check.relative("divergence", exact, expected, if single { RELATIVE } else { 1e-2 });
        }
    }
    let pair = pair(None)?;
    for row in entry.expected.hockey_stick {
        for expected in row.both() {
            row.is_not_exceeded(check, &pair, expected, "bins have no larger delta");
            row.compare_in(check, &pair, expected, if single { RELATIVE } else { 5e-2 });
        }
    }
    Ok(())
}
