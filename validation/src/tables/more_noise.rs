//! Lists of probabilities, more noise on a count and on several: divergences by theorem and by distribution, and
//! hockey-stick divergences, also as privacy losses enclose them.

use super::check::{Side, TableCheck};
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::accountant::WorstCases;
use leakbound::bound::Direction;
use leakbound::divergence::ComposedDirection;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, Mechanism};
use leakbound::quantity::{Delta, Epsilon};
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// What outputs that are cut into bins may lose.
const LOST: f64 = 2e-2;
const BINS: usize = 1_000;
/// Rounding where probabilities are composed.
const COMPOSED: f64 = 1e-9;

#[derive(Deserialize)]
struct Entry {
    mechanism: String,
    cut: bool,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Profile>,
}

#[derive(Deserialize)]
struct Divergence {
    order: f64,
    forward: Decimal,
    reverse: Decimal,
    /// Forward and reverse, of every theorem.
    theorems: Vec<[Decimal; 2]>,
}

#[derive(Deserialize)]
struct Profile {
    epsilon: f64,
    forward: Decimal,
    reverse: Decimal,
}

impl Profile {
    const fn in_direction(&self, direction: Direction) -> Decimal {
        match direction {
            Direction::Forward => self.forward,
            Direction::Reverse => self.reverse,
        }
    }
}

fn data() -> leakbound::Result<[VoteHistogram; 2]> {
    Ok([VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?])
}

fn divergences(check: &mut TableCheck, mechanism: &dyn Mechanism, row: Divergence, lost: f64) -> leakbound::Result<()> {
    let [without, with] = data()?;
    let theorems = mechanism.theorems_for(&without, &WorstCases::default());
    check.holds(theorems.len() == row.theorems.len(), "as many theorems");
    let order = order(row.order);
    for (theorem, promised) in theorems.iter().zip(row.theorems) {
        for (direction, promised) in Direction::BOTH.into_iter().zip(promised) {
            let bound = theorem.at(order, direction).map_or(f64::NAN, |bound| bound.value);
            check.side("theorem", bound, promised, Side::Above);
            check.relative(theorem.name(), bound, promised, theorem.statement().gap);
        }
    }
    let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order)))?;
    for (direction, expected) in Direction::BOTH.into_iter().zip([row.forward, row.reverse]) {
        let exact = pair.renyi(direction, order);
        if lost > RELATIVE {
            check.holds(exact <= expected.value * (1.0 + RELATIVE), "a divergence of bins is no larger");
            check.relative("divergence of bins", exact, expected, lost);
        } else {
            check.relative("divergence", exact, expected, RELATIVE);
        }
    }
    Ok(())
}

fn profiles(check: &mut TableCheck, mechanism: &dyn Mechanism, rows: &[Profile], lost: f64) -> leakbound::Result<()> {
    let [without, with] = data()?;
    let pair = mechanism.output_pair(&without, &with, Bins::at(None))?;
    let losses = mechanism.enclosed_losses(&without, &with, BINS)?;
    for (direction, loss) in Direction::BOTH.into_iter().zip(losses) {
        let [p, q] = pair.in_direction(direction);
        let target = Delta::new(rows[rows.len() / 2].in_direction(direction).value.clamp(1e-12, 0.5))?;
        let below = ComposedDirection::of_known(&[(loss.at_least, 1)], target, 1e-4)?;
        let above = ComposedDirection::of_known(&[(loss.at_most, 1)], target, 1e-4)?;
        for row in rows {
            let (epsilon, expected) = (Epsilon::new(row.epsilon)?, row.in_direction(direction));
            let (found, rounding) = (pair.delta(direction, epsilon), condition(p, q, epsilon));
            check.holds(found <= expected.value * (1.0 + RELATIVE) + rounding, "bins have no larger delta");
            let tolerance = lost * expected.value + rounding;
            check.absolute("delta (absolute)", found, expected, tolerance.max(f64::MIN_POSITIVE));
            let (lower, upper) = (below.delta(epsilon).lower, above.delta(epsilon).upper);
            let slack = COMPOSED * expected.value + 1e-15;
            check.holds(lower <= expected.value + slack, "the lower end of the losses is below delta");
            check.holds(upper >= expected.value - 1e-15, "the upper end of the losses is above delta");
        }
    }
    Ok(())
}

fn compare_entry(check: &mut TableCheck, entry: Entry) -> leakbound::Result<()> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let lost = if entry.cut { LOST } else { RELATIVE };
    for row in entry.expected.divergences {
        divergences(check, &*mechanism, row, lost)?;
    }
    profiles(check, &*mechanism, &entry.expected.hockey_stick, lost)
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(entry.mechanism.clone());
        if let Err(error) = compare_entry(check, entry) {
            check.fail(error.to_string());
        }
    }
}
