//! Mechanisms that see a record only sometimes, and shuffled answers: divergences by theorem and by distribution, and
//! enclosed losses.

use super::check::{Side, TableCheck};
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::bound::Direction;
use leakbound::divergence::{ComposedDirection, EnclosedLoss, PrivacyLoss};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, Mechanism};
use leakbound::quantity::{Delta, Epsilon};
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// Cells of real outputs.
const CELLS: usize = 2_000;
/// What bins may lose of a divergence.
const LOST: f64 = 5e-2;

#[derive(Deserialize)]
struct Entry {
    mechanism: String,
    data: Vec<u64>,
    neighbor: Vec<u64>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Deltas>,
}

/// Of the two distributions, and of the theorem for both directions.
#[derive(Deserialize)]
struct Divergence {
    order: f64,
    forward: Decimal,
    reverse: Decimal,
    theorem: Decimal,
}

#[derive(Deserialize)]
struct Deltas {
    epsilon: f64,
    forward: Decimal,
    reverse: Decimal,
}

/// One mechanism with its data and a neighbor.
struct Worlds {
    mechanism: std::sync::Arc<dyn Mechanism>,
    data: [VoteHistogram; 2],
    cut: bool,
}

fn compare_divergence(
    check: &mut TableCheck,
    worlds: &Worlds,
    theorem: &Theorem,
    row: &Divergence,
) -> leakbound::Result<()> {
    let [data, neighbor] = &worlds.data;
    let pair = worlds.mechanism.output_pair(data, neighbor, Bins::at(Some(order(row.order))))?;
    for (direction, expected) in Direction::BOTH.into_iter().zip([row.forward, row.reverse]) {
        let bound = theorem.at(order(row.order), direction).map_or(f64::NAN, |bound| bound.value);
        // As precise as the theorem says of itself.
        check.relative("theorem (within its gap)", bound, row.theorem, theorem.statement().gap);
        check.side("theorem", bound, row.theorem, Side::Above);
        let exact = pair.renyi(direction, order(row.order));
        check.holds(exact <= expected.value * (1.0 + RELATIVE), "a divergence of outcomes is no larger");
        let (quantity, lost) = if worlds.cut { ("divergence of bins", LOST) } else { ("divergence", RELATIVE) };
        check.relative(quantity, exact, expected, lost);
    }
    Ok(())
}

fn compare_deltas(
    check: &mut TableCheck,
    worlds: &Worlds,
    losses: &[EnclosedLoss; 2],
    row: Deltas,
) -> leakbound::Result<()> {
    let ([data, neighbor], epsilon) = (&worlds.data, Epsilon::new(row.epsilon)?);
    let pair = worlds.mechanism.output_pair(data, neighbor, Bins::at(None))?;
    for ((direction, expected), loss) in Direction::BOTH.into_iter().zip([row.forward, row.reverse]).zip(losses) {
        let [p, q] = pair.in_direction(direction);
        let (found, noise) = (pair.delta(direction, epsilon), condition(p, q, epsilon));
        check.holds(found <= expected.value * (1.0 + RELATIVE) + noise, "outcomes have no larger delta");
        if !worlds.cut {
            let tolerance = (RELATIVE * expected.value + noise).max(f64::MIN_POSITIVE);
            check.absolute("delta (absolute)", found, expected, tolerance);
        }
        let near = Delta::new(expected.value.clamp(1e-12, 0.5))?;
        let of = |loss: &PrivacyLoss| {
            Ok::<_, leakbound::Error>(ComposedDirection::of_known(&[(loss.clone(), 1)], near, 1e-4)?.delta(epsilon))
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

fn compare_entry(check: &mut TableCheck, entry: Entry) -> leakbound::Result<()> {
    let mechanism = mechanism::parse(&entry.mechanism)?;
    let data = [VoteHistogram::new(entry.data)?, VoteHistogram::new(entry.neighbor)?];
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

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(entry.mechanism.clone());
        if let Err(error) = compare_entry(check, entry) {
            check.fail(error.to_string());
        }
    }
}
