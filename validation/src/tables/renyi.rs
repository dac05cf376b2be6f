//! Rényi divergences of argmax pairs, Bernoulli pairs and vectors.

use super::check::TableCheck;
use super::{Decimal, NoiseName, noise};
use leakbound::Result;
use leakbound::distribution::{OutcomeDistribution, noisy_argmax_distribution};
use leakbound::divergence::{bernoulli_renyi, renyi_divergence};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{NoiseScale, Order};
use leakbound::special::CompensatedSum;
use serde::Deserialize;

const RELATIVE: f64 = 3e-12;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Entry {
    Argmax { inputs: Pair, expected: Decimal, expected_reverse: Decimal },
    Bernoulli { inputs: Numbers<f64>, expected: Decimal },
    Discrete { inputs: Numbers<Vec<f64>>, expected: Decimal },
}

#[derive(Deserialize)]
pub(super) struct Pair {
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

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    match entry {
        Entry::Argmax {
            inputs: Pair { noise: name, scale, histogram, neighbor, alpha },
            expected,
            expected_reverse,
        } => {
            let noise = noise(name, scale);
            let name = |votes: &VoteHistogram| {
                format!("{:?} of {}", &votes.counts()[..votes.classes().min(6)], votes.classes())
            };
            check.begin(format!("{} to {}, {noise}, order {alpha}", name(&histogram), name(&neighbor)));
            let (p, q) = (noisy_argmax_distribution(&histogram, noise)?, noisy_argmax_distribution(&neighbor, noise)?);
            check.relative("argmax", renyi_divergence(&p, &q, alpha)?, expected, RELATIVE);
            check.relative("argmax", renyi_divergence(&q, &p, alpha)?, expected_reverse, RELATIVE);
            Ok(())
        }
        Entry::Bernoulli { inputs: Numbers { p, q, alpha }, expected } => {
            check.begin(format!("bernoulli {p:e} {q:e} order {alpha}"));
            check.relative("bernoulli", bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), alpha), expected, RELATIVE);
            Ok(())
        }
        Entry::Discrete { inputs, expected } => {
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
        check.relative("discrete", value, expected, RELATIVE);
    } else {
        // The defect may be larger than the divergence: only the sum of their sizes has a relative accuracy. And the
        // vectors divided by their sums are not representable: every log-ratio l is off by a unit in the last place
        // of 1, which moves the divergence by α Σ p |l| of it.
        let ratios: f64 = p.iter().zip(q).map(|(p, q)| p * (p / q).ln().abs()).sum();
        let tolerance = RELATIVE * (value + defect.abs()) + alpha * f64::EPSILON * ratios;
        check.absolute("discrete, sums not 1", value + defect, expected, tolerance);
    }
    Ok(())
}
