//! Mechanisms that see a record only sometimes, shuffled answers, and noise of many kinds: divergences by theorem and by
//! distribution, hockey-stick divergences, and the losses that enclose them.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, Promised, RELATIVE, compare_theorem};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::bound::Direction;
use leakbound::divergence::{ComposedDirection, EnclosedLoss, PrivacyLoss};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, DISCRETE_LAPLACE, Mechanism};
use leakbound::quantity::Order;
use leakbound::{Result, quantity};
use serde::Deserialize;

/// Cells of real outputs.
const CELLS: usize = 2_000;
/// What bins may lose of a divergence.
const LOST: f64 = 5e-2;

#[derive(Deserialize)]
pub(super) struct Entry {
    mechanism: String,
    data: VoteHistogram,
    neighbor: VoteHistogram,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    /// Of the two distributions, and of the theorem for both directions.
    divergences: Vec<Promised>,
    hockey_stick: Vec<Delta>,
}

/// One mechanism with its data and a neighbor.
struct Worlds {
    mechanism: std::sync::Arc<dyn Mechanism>,
    data: [VoteHistogram; 2],
    cut: bool,
}

fn compare_divergence(check: &mut TableCheck, worlds: &Worlds, theorem: &Theorem, row: &Promised) -> Result<()> {
    let ([data, neighbor], order) = (&worlds.data, row.divergence.order);
    let pair = worlds.mechanism.output_pair(data, neighbor, Bins::at(Some(order)))?;
    for (direction, expected) in row.divergence.both() {
        // As precise as the theorem says of itself.
        let precision = ("theorem (within its gap)", theorem.statement().gap);
        compare_theorem(check, theorem, (order, direction), row.theorem, precision);
        let exact = pair.renyi(direction, order);
        check.holds(exact <= expected.value * (1.0 + RELATIVE), "a divergence of outcomes is no larger");
        let (quantity, lost) = if worlds.cut { ("divergence of bins", LOST) } else { ("divergence", RELATIVE) };
        check.relative(quantity, exact, expected, lost);
    }
    Ok(())
}

fn compare_deltas(check: &mut TableCheck, worlds: &Worlds, losses: &[EnclosedLoss; 2], row: Delta) -> Result<()> {
    let [data, neighbor] = &worlds.data;
    let pair = worlds.mechanism.output_pair(data, neighbor, Bins::at(None))?;
    for ((direction, expected), loss) in row.both().into_iter().zip(losses) {
        row.is_not_exceeded(check, &pair, (direction, expected), "outcomes have no larger delta");
        if !worlds.cut {
            row.compare_in(check, &pair, (direction, expected), RELATIVE);
        }
        let near = quantity::Delta::new(expected.value.clamp(1e-12, 0.5))?;
        let of = |loss: &PrivacyLoss| -> Result<_> {
            Ok(ComposedDirection::of_known(&[(loss.clone(), 1)], near, 1e-4)?.delta(row.epsilon))
        };
        let (lower, upper) = (of(&loss.at_least)?.lower, of(&loss.at_most)?.upper);
        let rounding = 1e-12 * expected.value + 1e-15;
        check.holds(
            lower <= expected.value + rounding && expected.value <= upper + rounding,
            "enclosed losses have delta in between",
        );
    }
    Ok(())
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    check.begin(entry.mechanism.clone());
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let data = [entry.data, entry.neighbor];
    let theorems = mechanism.theorems_for(&data[0], &WorstCases::default());
    check.holds(theorems.len() == 1, "one theorem");
    let cut = mechanism.is_cut(&data[0])?;
    let losses = mechanism.enclosed_losses(&data[0], &data[1], CELLS)?;
    let worlds = Worlds { mechanism, data, cut };
    for row in entry.expected.divergences {
        for theorem in &theorems {
            compare_divergence(check, &worlds, theorem, &row)?;
        }
    }
    for row in entry.expected.hockey_stick {
        compare_deltas(check, &worlds, &losses, row)?;
    }
    Ok(())
}

/// Outcomes of discrete Gaussian noise are single integers up to this scale.
const SINGLE: f64 = 8.0;

#[derive(Deserialize)]
pub(super) struct DiscreteNoise {
    mechanism: String,
    expected: Expected,
}

pub(super) fn compare_discrete_noise(check: &mut TableCheck, entry: DiscreteNoise) -> Result<()> {
    check.begin(entry.mechanism.clone());
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let [without, with] = data()?;
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

/// What outputs that are cut into bins may lose.
const LOST_WITH_NOISE: f64 = 2e-2;
const BINS: usize = 1_000;
/// Rounding where probabilities are composed.
const COMPOSED: f64 = 1e-9;

#[derive(Deserialize)]
pub(super) struct MoreNoise {
    mechanism: String,
    cut: bool,
    expected: OfMoreNoise,
}

#[derive(Deserialize)]
struct OfMoreNoise {
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

/// A count of 0 and one of 1.
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

pub(super) fn compare_more_noise(check: &mut TableCheck, entry: MoreNoise) -> Result<()> {
    check.begin(entry.mechanism.clone());
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let lost = if entry.cut { LOST_WITH_NOISE } else { RELATIVE };
    for row in entry.expected.divergences {
        divergences(check, &*mechanism, row, lost)?;
    }
    profiles(check, &*mechanism, &entry.expected.hockey_stick, lost)
}
