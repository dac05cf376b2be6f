//! A count with noise on the integers: divergences by theorem and by distribution.

use super::check::{Side, TableCheck};
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::accountant::WorstCases;
use leakbound::bound::Direction;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, DISCRETE_LAPLACE};
use leakbound::quantity::{Epsilon, Order};
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// Outcomes of discrete Gaussian noise are single integers up to this scale.
const SINGLE: f64 = 8.0;

#[derive(Deserialize)]
struct Entry {
    mechanism: String,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

/// Alike in both directions.
#[derive(Deserialize)]
struct Divergence {
    order: f64,
    value: Decimal,
    theorem: Decimal,
}

#[derive(Deserialize)]
struct Delta {
    epsilon: f64,
    value: Decimal,
}

fn compare_entry(check: &mut TableCheck, entry: Entry) -> leakbound::Result<()> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let [without, with] = [VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?];
    let theorems = mechanism.theorems_for(&without, &WorstCases::default());
    check.holds(theorems.len() == 1, "one theorem");
    // Discrete Laplace noise has two outcomes, which lose nothing.
    let single = mechanism.kind() == DISCRETE_LAPLACE || mechanism.parameters().number("sigma")? <= SINGLE;
    let pair = |order: Option<Order>| mechanism.output_pair(&without, &with, Bins::at(order));
    for Divergence { order: a, value: expected, theorem: promised } in entry.expected.divergences {
        let pair = pair(Some(order(a)))?;
        for direction in Direction::BOTH {
            for theorem in &theorems {
                let bound = theorem.at(order(a), direction).map_or(f64::NAN, |bound| bound.value);
                check.relative("theorem", bound, promised, RELATIVE);
                check.side("theorem", bound, promised, Side::Above);
            }
            let exact = pair.renyi(direction, order(a));
            // A divergence of bins is below that of the integers.
            check.holds(exact <= expected.value * (1.0 + RELATIVE), "a divergence of outcomes is no larger");
            check.relative("divergence", exact, expected, if single { RELATIVE } else { 1e-2 });
        }
    }
    let pair = pair(None)?;
    for Delta { epsilon, value: expected } in entry.expected.hockey_stick {
        let epsilon = Epsilon::new(epsilon)?;
        for direction in Direction::BOTH {
            let [p, q] = pair.in_direction(direction);
            let delta = pair.delta(direction, epsilon);
            // The profile of bins is below that of the integers.
            check.holds(
                delta <= expected.value * (1.0 + RELATIVE) + condition(p, q, epsilon),
                "bins have no larger delta",
            );
            let lost = if single { RELATIVE } else { 5e-2 };
            let tolerance = lost * expected.value + condition(p, q, epsilon);
            check.absolute("delta (absolute)", delta, expected, tolerance.max(f64::MIN_POSITIVE));
        }
    }
    Ok(())
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(entry.mechanism.clone());
        if let Err(error) = compare_entry(check, entry) {
            check.fail(error.to_string());
        }
    }
}
