//! Mechanisms that see a record only sometimes, and shuffled answers: divergences by theorem and by distribution, and
//! enclosed losses.

use super::check::TableCheck;
use super::pairs::{Delta, Promised, RELATIVE, compare_theorem};
use leakbound::accountant::{Theorem, WorstCases};
use leakbound::divergence::{ComposedDirection, EnclosedLoss, PrivacyLoss};
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins, Mechanism};
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
