//! Lists of probabilities, more noise on a count and on several: divergences by theorem and by distribution, and
//! hockey-stick divergences, also as privacy losses enclose them.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE, compare_theorem};
use leakbound::Result;
use leakbound::accountant::WorstCases;
use leakbound::bound::Direction;
use leakbound::divergence::ComposedDirection;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, Mechanism};
use leakbound::quantity;
use serde::Deserialize;

/// What outputs that are cut into bins may lose.
const LOST: f64 = 2e-2;
const BINS: usize = 1_000;
/// Rounding where probabilities are composed.
const COMPOSED: f64 = 1e-9;

#[derive(Deserialize)]
pub(super) struct Entry {
    mechanism: String,
    cut: bool,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    divergences: Vec<OfTheorems>,
    hockey_stick: Vec<Delta>,
}

#[derive(Deserialize)]
struct OfTheorems {
    #[serde(flatten)]
    divergence: Divergence,
    /// Forward and reverse, of every theorem.
    theorems: Vec<[Decimal; 2]>,
}

fn data() -> Result<[VoteHistogram; 2]> {
    Ok([VoteHistogram::new(vec![0])?, VoteHistogram::new(vec![1])?])
}

fn divergences(check: &mut TableCheck, mechanism: &dyn Mechanism, row: OfTheorems, lost: f64) -> Result<()> {
    let [without, with] = data()?;
    let theorems = mechanism.theorems_for(&without, &WorstCases::default());
    check.holds(theorems.len() == row.theorems.len(), "as many theorems");
    let order = row.divergence.order;
    for (theorem, promised) in theorems.iter().zip(row.theorems) {
        for (direction, promised) in Direction::BOTH.into_iter().zip(promised) {
            let precision = (theorem.name(), theorem.statement().gap);
            compare_theorem(check, theorem, (order, direction), promised, precision);
        }
    }
    let pair = mechanism.output_pair(&without, &with, Bins::at(Some(order)))?;
    for (direction, expected) in row.divergence.both() {
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

fn profiles(check: &mut TableCheck, mechanism: &dyn Mechanism, rows: &[Delta], lost: f64) -> Result<()> {
    let [without, with] = data()?;
    let pair = mechanism.output_pair(&without, &with, Bins::at(None))?;
    let losses = mechanism.enclosed_losses(&without, &with, BINS)?;
    for (place, loss) in losses.into_iter().enumerate() {
        let target = quantity::Delta::new(rows[rows.len() / 2].both()[place].1.value.clamp(1e-12, 0.5))?;
        let below = ComposedDirection::of_known(&[(loss.at_least, 1)], target, 1e-4)?;
        let above = ComposedDirection::of_known(&[(loss.at_most, 1)], target, 1e-4)?;
        for row in rows {
            let (direction, expected) = row.both()[place];
            row.is_not_exceeded(check, &pair, (direction, expected), "bins have no larger delta");
            row.compare_in(check, &pair, (direction, expected), lost);
            let (lower, upper) = (below.delta(row.epsilon).lower, above.delta(row.epsilon).upper);
            let slack = COMPOSED * expected.value + 1e-15;
            check.holds(lower <= expected.value + slack, "the lower end of the losses is below delta");
            check.holds(upper >= expected.value - 1e-15, "the upper end of the losses is above delta");
        }
    }
    Ok(())
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(entry.mechanism.clone());
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let lost = if entry.cut { LOST } else { RELATIVE };
    for row in entry.expected.divergences {
        divergences(check, &*mechanism, row, lost)?;
    }
    profiles(check, &*mechanism, &entry.expected.hockey_stick, lost)
}
