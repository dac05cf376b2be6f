//! Rényi divergences of argmax pairs, Bernoulli pairs and vectors.

use super::check::TableCheck;
use super::{Decimal, NoiseName, argmax_distribution, load, noise, order};
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::{bernoulli_renyi, renyi_divergence};
use leakbound::special::CompensatedSum;
use serde::Deserialize;

const RELATIVE: f64 = 3e-12;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Entry {
    Argmax { inputs: Pair, expected: Decimal, expected_reverse: Decimal },
    Bernoulli { inputs: Bernoulli, expected: Decimal },
    Discrete { inputs: Vectors, expected: Decimal },
}

#[derive(Deserialize)]
struct Pair {
    noise: NoiseName,
    scale: f64,
    histogram: Vec<u64>,
    neighbor: Vec<u64>,
    alpha: f64,
}

#[derive(Deserialize)]
struct Bernoulli {
    p: f64,
    q: f64,
    alpha: f64,
}

#[derive(Deserialize)]
struct Vectors {
    p: Vec<f64>,
    q: Vec<f64>,
    alpha: f64,
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        match entry {
            Entry::Argmax { inputs, expected, expected_reverse } => {
                let noise = noise(inputs.noise, inputs.scale);
                let name = |counts: &[u64]| format!("{:?} of {}", &counts[..counts.len().min(6)], counts.len());
                check.begin(format!(
                    "{} to {}, {noise}, order {}",
                    name(&inputs.histogram),
                    name(&inputs.neighbor),
                    inputs.alpha
                ));
                let divergences = || -> leakbound::Result<[f64; 2]> {
                    let (p, q) =
                        (argmax_distribution(&inputs.histogram, noise)?, argmax_distribution(&inputs.neighbor, noise)?);
                    let a = order(inputs.alpha);
                    Ok([renyi_divergence(&p, &q, a)?, renyi_divergence(&q, &p, a)?])
                };
                match divergences() {
                    Ok([forward, reverse]) => {
                        check.relative("argmax", forward, expected, RELATIVE);
                        check.relative("argmax", reverse, expected_reverse, RELATIVE);
                    }
                    Err(error) => check.fail(error.to_string()),
                }
            }
            Entry::Bernoulli { inputs: Bernoulli { p, q, alpha }, expected } => {
                check.begin(format!("bernoulli {p:e} {q:e} order {alpha}"));
                let value = bernoulli_renyi((p, 1.0 - p), (q, 1.0 - q), order(alpha));
                check.relative("bernoulli", value, expected, RELATIVE);
            }
            Entry::Discrete { inputs, expected } => {
                check.begin(format!("discrete {:?} {:?} order {}", inputs.p, inputs.q, inputs.alpha));
                compare_vectors(check, &inputs, expected);
            }
        }
    }
}

/// The table's value is that of the vectors as they stand, the library's that of the vectors divided by their sums:
/// D(p‖q) = D(p/S_p‖q/S_q) + (α ln S_p + (1-α) ln S_q)/(α-1).
fn compare_vectors(check: &mut TableCheck, Vectors { p, q, alpha }: &Vectors, expected: Decimal) {
    let sum = |v: &[f64]| v.iter().copied().collect::<CompensatedSum>().value();
    let distribution = |v: &[f64]| {
        let total = sum(v);
        OutcomeDistribution::from_probabilities(&v.iter().map(|value| value / total).collect::<Vec<_>>())
    };
    let divergence = || renyi_divergence(&distribution(p)?, &distribution(q)?, order(*alpha));
    let value = match divergence() {
        Ok(value) => value,
        Err(error) => return check.fail(error.to_string()),
    };
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
}
