//! Laws of the noisy argmax of multinomial votes, with and without a marked vote.

use super::check::TableCheck;
use super::{Decimal, NoiseName, load, noise};
use leakbound::Error;
use leakbound::law::{Noise, OutcomeLaw, marked_argmax_law, multinomial_argmax_law};
use leakbound::quantity::NoiseScale;
use serde::Deserialize;

const RELATIVE: f64 = 1e-12;
const LOGARITHM: f64 = 2e-15;
/// `laws.json` holds doubles that differ from the generated table by 2.5e-13 at k = 250; the bound leaves as much
/// again for their laws of small classes.
const COARSE: f64 = 1e-12;

#[derive(Deserialize)]
struct Entry {
    noise: NoiseName,
    k: u64,
    probabilities: Vec<f64>,
    sigma: f64,
    marked: Vec<f64>,
    law: Vec<Decimal>,
    log_law: Vec<Decimal>,
    marked_law: Vec<Decimal>,
    log_marked_law: Vec<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        let noise = noise(entry.noise, entry.sigma);
        check.begin(format!("k {} P {:?} P' {:?} {noise}", entry.k, entry.probabilities, entry.marked));
        let plain = multinomial_argmax_law(entry.k, &entry.probabilities, noise);
        let marked = marked_argmax_law(entry.k, &entry.probabilities, &entry.marked, noise);
        if matches!(noise, Noise::Laplace(_)) {
            let refused = |law: &leakbound::Result<OutcomeLaw>| matches!(law, Err(Error::Refused { .. }));
            check.holds(refused(&plain) && refused(&marked), "Laplace noise is refused");
            check.set_aside("Laplace noise on random votes: only checked to be refused");
            continue;
        }
        for (law, expected, ln_expected) in
            [(plain, &entry.law, &entry.log_law), (marked, &entry.marked_law, &entry.log_marked_law)]
        {
            let law = match law {
                Ok(law) => law,
                Err(error) => {
                    check.fail(error.to_string());
                    continue;
                }
            };
            for class in 0..expected.len() {
                check.relative("p", law.p()[class], expected[class], RELATIVE);
                // Products of the factors of all classes in logarithms: a few roundings of |ln p| and one per class.
                let rounding = LOGARITHM * expected.len() as f64;
                check.logarithm("ln p", law.ln_p()[class], ln_expected[class], rounding.max(LOGARITHM));
            }
        }
    }
}

#[derive(Deserialize)]
struct CoarseEntry {
    k: u64,
    probabilities: Vec<f64>,
    sigma: f64,
    law: Vec<f64>,
    marked: Option<Vec<f64>>,
    marked_law: Option<Vec<f64>>,
}

pub(super) fn compare_coarse(check: &mut TableCheck) {
    for entry in load::<CoarseEntry>(check.table) {
        let noise = Noise::Gaussian(NoiseScale::new(entry.sigma).expect("a table's scale is positive"));
        check.begin(format!("k {} P {:?} {noise}", entry.k, entry.probabilities));
        let mut compare = |law: leakbound::Result<OutcomeLaw>, expected: &[f64]| match law {
            Err(error) => check.fail(error.to_string()),
            Ok(law) => {
                for (value, expected) in law.p().iter().zip(expected) {
                    check.relative("p", *value, Decimal::from(*expected), COARSE);
                }
            }
        };
        compare(multinomial_argmax_law(entry.k, &entry.probabilities, noise), &entry.law);
        if let (Some(marked), Some(expected)) = (&entry.marked, &entry.marked_law) {
            compare(marked_argmax_law(entry.k, &entry.probabilities, marked, noise), expected);
        }
    }
}
