//! δ(ε) of argmax pairs.

use super::check::TableCheck;
use super::{Decimal, NoiseName, argmax_distribution, load, noise};
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::hockey_stick;
use leakbound::quantity::Epsilon;
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
/// Error of a log-probability ratio: two distributions with 1e-15 (1 + |ln p|) each.
const RATIO: f64 = 2e-15;

#[derive(Deserialize)]
struct Entry {
    inputs: Inputs,
    expected: Expected,
}

#[derive(Deserialize)]
struct Inputs {
    noise: NoiseName,
    scale: f64,
    histogram: Vec<u64>,
    neighbor: Vec<u64>,
    epsilon: f64,
}

#[derive(Deserialize)]
struct Expected {
    delta_forward: Decimal,
    delta_reverse: Decimal,
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { inputs, expected } in load::<Entry>(check.table) {
        let noise = noise(inputs.noise, inputs.scale);
        check.begin(format!("{:?} {:?} {noise} epsilon {}", inputs.histogram, inputs.neighbor, inputs.epsilon));
        let epsilon = Epsilon::new(inputs.epsilon).expect("a table's epsilon is not negative");
        let (p, q) = match (argmax_distribution(&inputs.histogram, noise), argmax_distribution(&inputs.neighbor, noise))
        {
            (Ok(p), Ok(q)) => (p, q),
            (Err(error), _) | (_, Err(error)) => {
                check.fail(error.to_string());
                continue;
            }
        };
        for (p, q, expected) in [(&p, &q, expected.delta_forward), (&q, &p, expected.delta_reverse)] {
            let value = hockey_stick(p, q, epsilon).expect("the distributions have the same classes");
            let tolerance = RELATIVE * expected.value + condition(p, q, epsilon);
            if expected.underflows {
                check.relative("delta", value, expected, RELATIVE);
            } else {
                check.absolute("delta (absolute)", value, expected, tolerance.max(f64::MIN_POSITIVE));
            }
        }
    }
}

/// How far δ moves when the log-ratio l of every class moves by its error: p - e^ε q = p (1 - e^{ε-l}), and the
/// derivative in l is e^ε q. It counts where l ≥ ε, or nearly.
pub(super) fn condition(p: &OutcomeDistribution, q: &OutcomeDistribution, epsilon: Epsilon) -> f64 {
    (0..p.outcomes())
        .map(|class| {
            let (ln_p, ln_q) = (p.ln_p()[class], q.ln_p()[class]);
            let error = RATIO * (1.0 + ln_p.abs());
            if ln_p - ln_q > epsilon.get() - error { (epsilon.get() + ln_q).exp() * error } else { 0.0 }
        })
        .sum()
}
