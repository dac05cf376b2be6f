//! Answers above a noisy threshold: probabilities, divergences and hockey-stick divergences.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE};
use leakbound::Result;
use leakbound::distribution::OutcomeDistribution;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins};
use serde::Deserialize;

/// Of logarithms of which little or nothing is left in a probability.
const LOGARITHM: f64 = 1e-14;
/// Where they begin.
const FAR: f64 = -200.0;

#[derive(Deserialize)]
pub(super) struct Entry {
    mechanism: String,
    answers: VoteHistogram,
    neighbor: VoteHistogram,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    p: Vec<Decimal>,
    q: Vec<Decimal>,
    ln_p: Vec<Decimal>,
    ln_q: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

fn probabilities(check: &mut TableCheck, found: &OutcomeDistribution, [p, ln_p]: [&[Decimal]; 2]) {
    check.holds(found.outcomes() == p.len(), "the table has as many outcomes");
    for (place, (&p, &ln_p)) in p.iter().zip(ln_p).enumerate() {
        if ln_p.value > FAR {
            check.relative("probability", found.p()[place], p, RELATIVE);
        } else {
            check.logarithm("logarithm", found.ln_p()[place], ln_p, LOGARITHM);
        }
    }
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    let Entry { mechanism, answers, neighbor, expected } = entry;
    check.begin(format!("{mechanism} {answers} {neighbor}"));
    let pair = mechanism::parse(&mechanism)?.output_pair(&answers, &neighbor, Bins::at(None))?;
    probabilities(check, pair.dataset(), [&expected.p, &expected.ln_p]);
    probabilities(check, pair.neighbor(), [&expected.q, &expected.ln_q]);
    let logarithms = expected.ln_p.iter().chain(&expected.ln_q);
    let farthest = logarithms.fold(0.0, |far: f64, ln| far.max(ln.value.abs()));
    for row in expected.divergences {
        // Where a divergence comes from far outcomes, its powers have the errors of their logarithms.
        let of_far = 2.0 * row.order.get() * LOGARITHM * farthest;
        let tolerance = RELATIVE.max(if farthest > -FAR { of_far } else { 0.0 });
        for (direction, expected) in row.both() {
            check.relative("divergence", pair.renyi(direction, row.order), expected, tolerance);
        }
    }
    expected.hockey_stick.iter().for_each(|row| row.compare(check, &pair));
    Ok(())
}
