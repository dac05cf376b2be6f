//! Protocols of local differential privacy: probabilities, and divergences by theorem and by distribution.

use super::check::{Side, TableCheck};
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::bound::Direction;
use leakbound::distribution::OutputPair;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins};
use leakbound::quantity::Epsilon;
use serde::Deserialize;

const PROBABILITY: f64 = 1e-13;
const RELATIVE: f64 = 1e-12;

#[derive(Deserialize)]
struct Entry {
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

/// Alike in both directions.
#[derive(Deserialize)]
struct Divergence {
    order: f64,
    value: Decimal,
}

#[derive(Deserialize)]
struct Delta {
    epsilon: f64,
    value: Decimal,
}

/// The theorem, and the distributions for votes for the first and for the second class where there are few.
fn computed(entry: &Entry) -> leakbound::Result<(Theorem, Option<OutputPair>)> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let vote = |class: usize| VoteHistogram::new((0..entry.classes).map(|other| u64::from(other == class)).collect());
    let (first, second) = (vote(0)?, vote(1)?);
    let theorems = mechanism.theorems_for(&first, &WorstCases::default());
    let [theorem] = &theorems[..] else {
        return Err(leakbound::Error::Rejected { operation: "table", reason: "one theorem is expected".into() });
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

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(format!("{} of {} classes", entry.mechanism, entry.classes));
        let (theorem, pair) = match computed(&entry) {
            Ok(computed) => computed,
            Err(error) => {
                check.fail(error.to_string());
                continue;
            }
        };
        // The bound of the largest orders is ε itself.
        let largest = theorem.at(order(1e300), Direction::Forward).map_or(0.0, |bound| bound.value);
        for Divergence { order: a, value: expected } in entry.expected.divergences {
            for direction in Direction::BOTH {
                let bound = theorem.at(order(a), direction).map_or(f64::NAN, |bound| bound.value);
                check.relative("theorem", bound, expected, RELATIVE);
                check.side("theorem", bound, expected, Side::Above);
                if let Some(pair) = &pair {
                    let exact = pair.renyi(direction, order(a));
                    check.relative("divergence", exact, expected, of_distribution(largest));
                }
            }
        }
        let Some(pair) = &pair else { continue };
        for (value, expected) in pair.dataset().p().iter().zip(entry.expected.p) {
            check.relative("probability", *value, expected, PROBABILITY);
        }
        for Delta { epsilon, value: expected } in entry.expected.hockey_stick {
            let epsilon = Epsilon::new(epsilon).expect("a table's epsilon is not negative");
            for direction in Direction::BOTH {
                let [p, q] = pair.in_direction(direction);
                let tolerance = RELATIVE * expected.value + condition(p, q, epsilon);
                let delta = pair.delta(direction, epsilon);
                check.absolute("delta (absolute)", delta, expected, tolerance.max(f64::MIN_POSITIVE));
            }
        }
    }
}
