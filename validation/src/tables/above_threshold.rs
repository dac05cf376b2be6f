//! Answers above a noisy threshold: probabilities, divergences and hockey-stick divergences.

use super::check::TableCheck;
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::bound::Direction;
use leakbound::distribution::OutcomeDistribution;
use leakbound::histogram::VoteHistogram;
use leakbound::mechanism::{self, Bins};
use leakbound::quantity::Epsilon;
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// Of logarithms of which little or nothing is left in a probability.
const LOGARITHM: f64 = 1e-14;
/// Where they begin.
const FAR: f64 = -200.0;

#[derive(Deserialize)]
struct Entry {
    mechanism: String,
    answers: Vec<u64>,
    neighbor: Vec<u64>,
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

#[derive(Deserialize)]
struct Divergence {
    order: f64,
    forward: Decimal,
    reverse: Decimal,
}

#[derive(Deserialize)]
struct Delta {
    epsilon: f64,
    forward: Decimal,
    reverse: Decimal,
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

fn compare_entry(check: &mut TableCheck, entry: Entry) -> leakbound::Result<()> {
    let Entry { mechanism, answers, neighbor, expected } = entry;
    let mechanism = mechanism::parse(&mechanism)?;
    let pair = mechanism.output_pair(&VoteHistogram::new(answers)?, &VoteHistogram::new(neighbor)?, Bins::at(None))?;
    probabilities(check, pair.dataset(), [&expected.p, &expected.ln_p]);
    probabilities(check, pair.neighbor(), [&expected.q, &expected.ln_q]);
    let logarithms = expected.ln_p.iter().chain(&expected.ln_q);
    let farthest = logarithms.fold(0.0, |far: f64, ln| far.max(ln.value.abs()));
    for Divergence { order: a, forward, reverse } in expected.divergences {
        // Where a divergence comes from far outcomes, its powers have the errors of their logarithms.
        let tolerance = RELATIVE.max(if farthest > -FAR { 2.0 * a * LOGARITHM * farthest } else { 0.0 });
        for (direction, expected) in Direction::BOTH.into_iter().zip([forward, reverse]) {
            check.relative("divergence", pair.renyi(direction, order(a)), expected, tolerance);
        }
    }
    for Delta { epsilon, forward, reverse } in expected.hockey_stick {
        let epsilon = Epsilon::new(epsilon)?;
        for (direction, expected) in Direction::BOTH.into_iter().zip([forward, reverse]) {
            let [p, q] = pair.in_direction(direction);
            let tolerance = RELATIVE * expected.value + condition(p, q, epsilon);
            let delta = pair.delta(direction, epsilon);
            check.absolute("delta (absolute)", delta, expected, tolerance.max(f64::MIN_POSITIVE));
        }
    }
    Ok(())
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        check.begin(format!("{} {:?} {:?}", entry.mechanism, entry.answers, entry.neighbor));
        if let Err(error) = compare_entry(check, entry) {
            check.fail(error.to_string());
        }
    }
}
