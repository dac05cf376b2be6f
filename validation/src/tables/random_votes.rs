//! Distributions of the noisy argmax of multinomial votes, with and without a marked vote or displaced ones.

use super::check::TableCheck;
use super::{Decimal, NoiseName, load, noise};
use leakbound::Error;
use leakbound::distribution::{
    Displacement, Noise, OutcomeDistribution, displaced_argmax_distributions, marked_argmax_distribution,
    multinomial_argmax_distribution,
};
use leakbound::quantity::NoiseScale;
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
const LOGARITHM: f64 = 2e-15;
/// `distributions.json` holds doubles that differ from the generated table by 2.5e-13 at k = 250; the bound leaves as
/// much again for their distributions of small classes.
const COARSE: f64 = 1e-12;

#[derive(Deserialize)]
struct Entry {
    noise: NoiseName,
    k: u64,
    probabilities: Vec<f64>,
    sigma: f64,
    marked: Vec<f64>,
    distribution: Vec<Decimal>,
    log_distribution: Vec<Decimal>,
    marked_distribution: Vec<Decimal>,
    log_marked_distribution: Vec<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        let noise = noise(entry.noise, entry.sigma);
        check.begin(format!("k {} P {:?} P' {:?} {noise}", entry.k, entry.probabilities, entry.marked));
        let plain = multinomial_argmax_distribution(entry.k, &entry.probabilities, noise);
        let marked = marked_argmax_distribution(entry.k, &entry.probabilities, &entry.marked, noise);
        if matches!(noise, Noise::Laplace(_)) {
            let rejected = |distribution: &leakbound::Result<OutcomeDistribution>| {
                matches!(distribution, Err(Error::Rejected { .. }))
            };
            check.holds(rejected(&plain) && rejected(&marked), "Laplace noise is rejected");
            check.set_aside("Laplace noise on random votes: only checked to be rejected");
            continue;
        }
        held(check, plain, &entry.distribution, &entry.log_distribution);
        held(check, marked, &entry.marked_distribution, &entry.log_marked_distribution);
    }
}

/// Holds a distribution against the table.
fn held(
    check: &mut TableCheck,
    distribution: leakbound::Result<OutcomeDistribution>,
    expected: &[Decimal],
    ln_expected: &[Decimal],
) {
    let distribution = match distribution {
        Ok(distribution) => distribution,
        Err(error) => return check.fail(error.to_string()),
    };
    for class in 0..expected.len() {
        check.relative("p", distribution.p()[class], expected[class], RELATIVE);
        // Products of the factors of all classes in logarithms: a few roundings of |ln p| and one per class.
        let rounding = LOGARITHM * expected.len() as f64;
        check.logarithm("ln p", distribution.ln_p()[class], ln_expected[class], rounding.max(LOGARITHM));
    }
}

#[derive(Deserialize)]
struct DisplacedEntry {
    k: u64,
    probabilities: Vec<f64>,
    displaced: Vec<f64>,
    points: u64,
    inclusion: f64,
    label: usize,
    sigma: f64,
    distribution: Vec<Decimal>,
    log_distribution: Vec<Decimal>,
    displaced_distribution: Vec<Decimal>,
    log_displaced_distribution: Vec<Decimal>,
}

pub(super) fn compare_displaced(check: &mut TableCheck) {
    for entry in load::<DisplacedEntry>(check.table) {
        let noise = noise(NoiseName::Gaussian, entry.sigma);
        check.begin(format!("k {} P {:?} P^k {:?} {noise}", entry.k, entry.probabilities, entry.displaced));
        let DisplacedEntry { points, inclusion, label, .. } = entry;
        let change = Displacement { distribution: &entry.displaced, points, inclusion, label };
        match displaced_argmax_distributions(entry.k, &entry.probabilities, &change, noise) {
            Err(error) => check.fail(error.to_string()),
            Ok([plain, displaced]) => {
                held(check, Ok(plain), &entry.distribution, &entry.log_distribution);
                held(check, Ok(displaced), &entry.displaced_distribution, &entry.log_displaced_distribution);
            }
        }
    }
}

#[derive(Deserialize)]
struct CoarseEntry {
    k: u64,
    probabilities: Vec<f64>,
    sigma: f64,
    distribution: Vec<f64>,
    marked: Option<Vec<f64>>,
    marked_distribution: Option<Vec<f64>>,
}

pub(super) fn compare_coarse(check: &mut TableCheck) {
    for entry in load::<CoarseEntry>(check.table) {
        let noise = Noise::Gaussian(NoiseScale::new(entry.sigma).expect("a table's scale is positive"));
        check.begin(format!("k {} P {:?} {noise}", entry.k, entry.probabilities));
        let mut compare = |distribution: leakbound::Result<OutcomeDistribution>, expected: &[f64]| match distribution {
            Err(error) => check.fail(error.to_string()),
            Ok(distribution) => {
                for (value, expected) in distribution.p().iter().zip(expected) {
                    check.relative("p", *value, Decimal::from(*expected), COARSE);
                }
            }
        };
        compare(multinomial_argmax_distribution(entry.k, &entry.probabilities, noise), &entry.distribution);
        if let (Some(marked), Some(expected)) = (&entry.marked, &entry.marked_distribution) {
            compare(marked_argmax_distribution(entry.k, &entry.probabilities, marked, noise), expected);
        }
    }
}
