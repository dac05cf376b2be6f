//! Protocols of local differential privacy: probabilities, and divergences by theorem and by distribution.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE, compare_theorem};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::bound::Direction;
use leakbound::distribution::OutputPair;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins};
use leakbound::quantity::Order;
use leakbound::{Error, Result};
use serde::Deserialize;

const PROBABILITY: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Entry {
    mechanism: String,
    classes: usize,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    /// None where there are too many outcomes.
    p: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

/// The theorem, and the distributions for votes for the first and for the second class where there are few.
fn computed(entry: &Entry) -> Result<(Theorem, Option<OutputPair>)> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let vote = |class: usize| VoteHistogram::new((0..entry.classes).map(|other| u64::from(other == class)).collect());
    let (first, second) = (vote(0)?, vote(1)?);
    let theorems = mechanism.theorems_for(&first, &WorstCases::default());
    let [theorem] = &theorems[..] else {
        return Err(Error::Rejected { operation: "table", reason: "one theorem is expected".into() });
    };
    let few = !entry.expected.p.is_empty();
    let pair = if few { Some(mechanism.output_pair(&first, &second, Bins::at(None))?) } else { None };
    Ok((theorem.clone(), pair))
}

/// Logarithms of probabilities lose the digits that small ε has in common with 0: the ratio of two of them is off by
/// about 1e-15 (1 + |ln p|), and a divergence by twice that over ε.
fn of_distribution(epsilon: f64) -> f64 {
    RELATIVE + 4e-14 / epsilon.min(1.0)
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(format!("{} of {} classes", entry.mechanism, entry.classes));
    let (theorem, pair) = computed(&entry)?;
    // The bound of the largest orders is ε itself.
    let largest = theorem.at(Order::new(1e300)?, Direction::Forward).map_or(0.0, |bound| bound.value);
    for row in entry.expected.divergences {
        for (direction, expected) in row.both() {
            compare_theorem(check, &theorem, (row.order, direction), expected, ("theorem", RELATIVE));
            if let Some(pair) = &pair {
                let exact = pair.renyi(direction, row.order);
                check.relative("divergence", exact, expected, of_distribution(largest));
            }
        }
    }
    let Some(pair) = &pair else { return Ok(()) };
    for (value, expected) in pair.dataset().p().iter().zip(entry.expected.p) {
        check.relative("probability", *value, expected, PROBABILITY);
    }
    entry.expected.hockey_stick.iter().for_each(|row| row.compare(check, pair));
    Ok(())
}
