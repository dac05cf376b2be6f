//! Distributions of the noisy argmax of a fixed histogram, and δ(ε) of pairs of them.

use super::check::TableCheck;
use super::pairs::{self, condition};
use super::{Case, Decimal, NoiseName, noise};
use leakbound::Result;
use leakbound::distribution::noisy_argmax_distribution;
use leakbound::divergence::hockey_stick;
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale};
use serde::Deserialize;

/// Where ln p is above this, p is compared; below, its logarithm.
const LOG_FROM: f64 = -200.0;
const RELATIVE: f64 = 1e-13;
const LOGARITHM: f64 = 1e-15;

#[derive(Deserialize)]
pub(super) struct Entry {
    inputs: Inputs,
    expected: Vec<Decimal>,
    complement_expected: Vec<Decimal>,
    log_expected: Vec<Decimal>,
}

#[derive(Deserialize)]
struct Inputs {
    noise: NoiseName,
    histogram: VoteHistogram,
    scale: NoiseScale,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    let Entry { inputs, expected, complement_expected, log_expected } = entry;
    let (noise, counts) = (noise(inputs.noise, inputs.scale), inputs.histogram.counts());
    check.begin(if counts.len() > 12 {
        format!("{} classes, {:?}..., {noise}", counts.len(), &counts[..6])
    } else {
        format!("{counts:?} {noise}")
    });
    let distribution = noisy_argmax_distribution(&inputs.histogram, noise)?;
    for class in 0..expected.len() {
        let ln_expected = log_expected[class];
        if ln_expected.value > LOG_FROM {
            check.relative("p", distribution.p()[class], expected[class], RELATIVE);
            check.absolute("ln p", distribution.ln_p()[class], ln_expected, RELATIVE);
        } else {
            check.logarithm("ln p < -200", distribution.ln_p()[class], ln_expected, LOGARITHM);
            // p is exp(ln p), which magnifies the relative error of the logarithm.
            let magnified = 2.0 * LOGARITHM * (1.0 + ln_expected.value.abs());
            check.relative("p < e^-200", distribution.p()[class], expected[class], magnified);
        }
        // 1 - p of the top class is the sum of the others, with their accuracy.
        let ln_complement = complement_expected[class].value.ln();
        let tolerance = RELATIVE.max(2.0 * LOGARITHM * ln_complement.abs());
        check.relative("1-p", distribution.complement()[class], complement_expected[class], tolerance);
    }
    let tolerance_of_estimate =
        expected.iter().zip(distribution.p()).zip(&log_expected).filter(|(_, ln)| ln.value > LOG_FROM);
    let worst = tolerance_of_estimate.map(|((p, value), _)| p.relative_error_of(*value).abs()).fold(0.0, f64::max);
    let covered = worst <= distribution.error().max(2.0 * f64::EPSILON);
    check.holds(covered, "the distribution's own estimate covers its error");
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Pair {
    noise: NoiseName,
    scale: NoiseScale,
    histogram: VoteHistogram,
    neighbor: VoteHistogram,
    epsilon: Epsilon,
}

#[derive(Deserialize)]
pub(super) struct Deltas {
    delta_forward: Decimal,
    delta_reverse: Decimal,
}

pub(super) fn compare_hockey_stick(check: &mut TableCheck, entry: Case<Pair, Deltas>) -> Result<()> {
    let Case { inputs: Pair { noise: name, scale, histogram, neighbor, epsilon }, expected } = entry;
    let noise = noise(name, scale);
    check.begin(format!("{histogram} {neighbor} {noise} epsilon {epsilon}"));
    let (p, q) = (noisy_argmax_distribution(&histogram, noise)?, noisy_argmax_distribution(&neighbor, noise)?);
    for (p, q, expected) in [(&p, &q, expected.delta_forward), (&q, &p, expected.delta_reverse)] {
        let value = hockey_stick(p, q, epsilon)?;
        let tolerance = pairs::RELATIVE * expected.value + condition(p, q, epsilon);
        if expected.underflows {
            check.relative("delta", value, expected, pairs::RELATIVE);
        } else {
            check.absolute("delta (absolute)", value, expected, tolerance.max(f64::MIN_POSITIVE));
        }
    }
    Ok(())
}
