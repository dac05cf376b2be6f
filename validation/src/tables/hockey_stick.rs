//! δ(ε) of argmax pairs.

use super::check::TableCheck;
use super::pairs::{RELATIVE, condition};
use super::{Case, Decimal, NoiseName, noise};
use leakbound::Result;
use leakbound::distribution::noisy_argmax_distribution;
use leakbound::divergence::hockey_stick;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Inputs {
    noise: NoiseName,
    scale: NoiseScale,
    histogram: VoteHistogram,
    neighbor: VoteHistogram,
    epsilon: Epsilon,
}

#[derive(Deserialize)]
pub(super) struct Expected {
    delta_forward: Decimal,
    delta_reverse: Decimal,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { noise: name, scale, histogram, neighbor, epsilon }, expected } = entry;
    let noise = noise(name, scale);
    check.begin(format!("{histogram} {neighbor} {noise} epsilon {epsilon}"));
    let (p, q) = (noisy_argmax_distribution(&histogram, noise)?, noisy_argmax_distribution(&neighbor, noise)?);
    for (p, q, expected) in [(&p, &q, expected.delta_forward), (&q, &p, expected.delta_reverse)] {
        let value = hockey_stick(p, q, epsilon)?;
        let tolerance = RELATIVE * expected.value + condition(p, q, epsilon);
        if expected.underflows {
            check.relative("delta", value, expected, RELATIVE);
        } else {
            check.absolute("delta (absolute)", value, expected, tolerance.max(f64::MIN_POSITIVE));
        }
    }
    Ok(())
}
