//! Distributions of the noisy argmax of multinomial votes, with and without a marked vote or displaced ones.

use super::check::TableCheck;
use super::{Decimal, NoiseName, noise};
use leakbound::distribution::{
    Displacement, Noise, OutcomeDistribution, displaced_argmax_distributions, marked_argmax_distribution,
    multinomial_argmax_distribution,
};
use leakbound::quantity::NoiseScale;
use leakbound::{Error, Result};
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
const LOGARITHM: f64 = 2e-15;
/// `distributions.json` holds doubles that differ from the generated table by 2.5e-13 at k = 250; the bound leaves as
/// much again for their distributions of small classes.
const COARSE: f64 = 1e-12;

#[derive(Deserialize)]
pub(super) struct Entry {
    noise: NoiseName,
    k: u64,
    probabilities: Vec<f64>,
    sigma: NoiseScale,
    marked: Vec<f64>,
    distribution: Vec<Decimal>,
    log_distribution: Vec<Decimal>,
    marked_distribution: Vec<Decimal>,
    log_marked_distribution: Vec<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    let noise = noise(entry.noise, entry.sigma);
    check.begin(format!("k {} P {:?} P' {:?} {noise}", entry.k, entry.probabilities, entry.marked));
    let plain = multinomial_argmax_distribution(entry.k, &entry.probabilities, noise);
    let marked = marked_argmax_distribution(entry.k, &entry.probabilities, &entry.marked, noise);
    if matches!(noise, Noise::Laplace(_)) {
        let rejected = |distribution| matches!(distribution, Err(Error::Rejected { .. }));
        check.holds(rejected(plain) && rejected(marked), "Laplace noise is rejected");
        check.set_aside("Laplace noise on random votes: only checked to be rejected");
        return Ok(());
    }
    held(check, &plain?, &entry.distribution, &entry.log_distribution);
    held(check, &marked?, &entry.marked_distribution, &entry.log_marked_distribution);
    Ok(())
}

/// Holds a distribution against the table.
fn held(check: &mut TableCheck, distribution: &OutcomeDistribution, expected: &[Decimal], ln_expected: &[Decimal]) {
    for class in 0..expected.len() {
        check.relative("p", distribution.p()[class], expected[class], RELATIVE);
        // Products of the factors of all classes in logarithms: a few roundings of |ln p| and one per class.
        let rounding = LOGARITHM * expected.len() as f64;
        check.logarithm("ln p", distribution.ln_p()[class], ln_expected[class], rounding.max(LOGARITHM));
    }
}

#[derive(Deserialize)]
pub(super) struct DisplacedEntry {
    k: u64,
    probabilities: Vec<f64>,
    displaced: Vec<f64>,
    points: u64,
    inclusion: f64,
    label: usize,
    sigma: NoiseScale,
    distribution: Vec<Decimal>,
    log_distribution: Vec<Decimal>,
    displaced_distribution: Vec<Decimal>,
    log_displaced_distribution: Vec<Decimal>,
}

pub(super) fn compare_displaced(check: &mut TableCheck, entry: DisplacedEntry) -> Result<()> {
    let noise = Noise::Gaussian(entry.sigma);
    check.begin(format!("k {} P {:?} P^k {:?} {noise}", entry.k, entry.probabilities, entry.displaced));
    let DisplacedEntry { points, inclusion, label, .. } = entry;
    let change = Displacement { distribution: &entry.displaced, points, inclusion, label };
    let [plain, displaced] = displaced_argmax_distributions(entry.k, &entry.probabilities, &change, noise)?;
    held(check, &plain, &entry.distribution, &entry.log_distribution);
    held(check, &displaced, &entry.displaced_distribution, &entry.log_displaced_distribution);
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct CoarseEntry {
    k: u64,
    probabilities: Vec<f64>,
    sigma: NoiseScale,
    distribution: Vec<f64>,
    marked: Option<Vec<f64>>,
    marked_distribution: Option<Vec<f64>>,
}

pub(super) fn compare_coarse(check: &mut TableCheck, entry: CoarseEntry) -> Result<()> {
    let noise = Noise::Gaussian(entry.sigma);
    check.begin(format!("k {} P {:?} {noise}", entry.k, entry.probabilities));
    let mut compare = |distribution: OutcomeDistribution, expected: &[f64]| {
        for (value, expected) in distribution.p().iter().zip(expected) {
            check.relative("p", *value, Decimal::from(*expected), COARSE);
        }
    };
    compare(multinomial_argmax_distribution(entry.k, &entry.probabilities, noise)?, &entry.distribution);
    if let (Some(marked), Some(expected)) = (&entry.marked, &entry.marked_distribution) {
        compare(marked_argmax_distribution(entry.k, &entry.probabilities, marked, noise)?, expected);
    }
    Ok(())
}
