//! Distributions of the noisy argmax of a fixed histogram, and δ(ε) and Rényi divergences of pairs of them and of other
//! pairs.

use super::check::TableCheck;
use super::pairs::{self, condition};
use super::{Case, Decimal, NoiseName, noise};
use leakbound::Result;
use leakbound::distribution::{OutcomeDistribution, noisy_argmax_distribution};
use leakbound::divergence::{bernoulli_renyi, hockey_stick, renyi_divergence};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale, Order};
use leakbound::special::CompensatedSum;
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

const OF_DIVERGENCE: f64 = 3e-12;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Renyi {
    Argmax { inputs: RenyiPair, expected: Decimal, expected_reverse: Decimal },
    Bernoulli { inputs: Numbers<f64>, expected: Decimal },
    Discrete { inputs: Numbers<Vec<f64>>, expected: Decimal },
}

#[derive(Deserialize)]
pub(super) struct RenyiPair {
    noise: NoiseName,
    scale: NoiseScale,
    histogram: VoteHistogram,
    neighbor: VoteHistogram,
    alpha: Order,
}

#[derive(Deserialize)]
pub(super) struct Numbers<P> {
    p: P,
    q: P,
    alpha: Order,
}

pub(super) fn compare_renyi(check: &mut TableCheck, entry: Renyi) -> Result<()> {
    match entry {
        Renyi::Argmax {
            inputs: RenyiPair { noise: name, scale, histogram, neighbor, alpha },
            expected,
            expected_reverse,
        } => {
            let noise = noise(name, scale);
            let name = |votes: &VoteHistogram| {
                format!("{:?} of {}", &votes.counts()[..votes.classes().min(6)], votes.classes())
            };
            check.begin(format!("{} to {}, {noise}, order {alpha}", name(&histogram), name(&neighbor)));
            let (p, q) = (noisy_argmax_distribution(&histogram, noise)?, noisy_argmax_distribution(&neighbor, noise)?);
            check.relative("argmax", renyi_divergence(&p, &q, alpha)?, expected, OF_DIVERGENCE);
            check.relative("argmax", renyi_divergence(&q, &p, alpha)?, expected_reverse, OF_DIVERGENCE);
            Ok(())
        }
        Renyi::Bernoulli { inputs: Numbers { p, q, alpha }, expected } => {
            check.begin(format!("bernoulli {p:e} {q:e} order {alpha}"));
            check.relative("bernoulli", bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), alpha), expected, OF_DIVERGENCE);
            Ok(())
        }
        Renyi::Discrete { inputs, expected } => {
            check.begin(format!("discrete {:?} {:?} order {}", inputs.p, inputs.q, inputs.alpha));
            compare_vectors(check, &inputs, expected)
        }
    }
}

/// The table's value is that of the vectors as they stand, the library's that of the vectors divided by their sums:
/// D(p‖q) = D(p/S_p‖q/S_q) + (α ln S_p + (1-α) ln S_q)/(α-1).
fn compare_vectors(check: &mut TableCheck, inputs: &Numbers<Vec<f64>>, expected: Decimal) -> Result<()> {
    let Numbers { p, q, alpha } = inputs;
    let sum = |v: &[f64]| v.iter().copied().collect::<CompensatedSum>().value();
    let distribution = |v: &[f64]| {
        let total = sum(v);
        OutcomeDistribution::from_probabilities(&v.iter().map(|value| value / total).collect::<Vec<_>>())
    };
    let value = renyi_divergence(&distribution(p)?, &distribution(q)?, *alpha)?;
    let alpha = alpha.get();
    let ln_sum = |v: &[f64]| {
        // S - 1 keeps its digits when 1 is subtracted inside the compensated sum.
        let excess = v.iter().copied().chain([-1.0]).collect::<CompensatedSum>().value();
        if excess.abs() < 0.5 { excess.ln_1p() } else { sum(v).ln() }
    };
    let (ln_p, ln_q) = (ln_sum(p), ln_sum(q));
    let defect = (alpha * ln_p + (1.0 - alpha) * ln_q) / (alpha - 1.0);
    if ln_p == 0.0 && ln_q == 0.0 {
        check.relative("discrete", value, expected, OF_DIVERGENCE);
    } else {
        // The defect may be larger than the divergence: only the sum of their sizes has a relative accuracy. And the
        // vectors divided by their sums are not representable: every log-ratio l is off by a unit in the last place
        // of 1, which moves the divergence by α Σ p |l| of it.
        let ratios: f64 = p.iter().zip(q).map(|(p, q)| p * (p / q).ln().abs()).sum();
        let tolerance = OF_DIVERGENCE * (value + defect.abs()) + alpha * f64::EPSILON * ratios;
        check.absolute("discrete, sums not 1", value + defect, expected, tolerance);
    }
    Ok(())
}
