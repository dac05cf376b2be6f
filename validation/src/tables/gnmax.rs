//! Data-dependent cost of a GNMax query.

use super::check::TableCheck;
use super::{Decimal, load, order};
use leakbound::accountant::{gnmax_data_dependent, log_flip_probability};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::NoiseScale;
use serde::Deserialize;

const RELATIVE: f64 = 1e-11;
const LOGARITHM: f64 = 1e-14;

#[derive(Deserialize)]
struct Entry {
    inputs: Inputs,
    expected: Expected,
}

#[derive(Deserialize)]
struct Inputs {
    ln_q: Option<f64>,
    histogram: Option<Vec<u64>>,
    sigma: f64,
    order: f64,
}

#[derive(Deserialize)]
struct Expected {
    epsilon: Decimal,
    ln_q: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { inputs, expected } in load::<Entry>(check.table) {
        let sigma = NoiseScale::new(inputs.sigma).expect("a table's scale is positive");
        check.begin(format!("{:?} {:?} sigma {sigma} order {}", inputs.ln_q, inputs.histogram, inputs.order));
        let ln_q = match (inputs.ln_q, inputs.histogram) {
            (Some(ln_q), _) => ln_q,
            (None, Some(histogram)) => {
                let histogram = VoteHistogram::new(histogram).expect("a table's histogram is one");
                let ln_q = log_flip_probability(&histogram, sigma);
                check.logarithm("ln q", ln_q, expected.ln_q.expect("the table gives ln q"), LOGARITHM);
                ln_q
            }
            (None, None) => {
                check.fail("neither ln q nor a histogram".into());
                continue;
            }
        };
        let value = gnmax_data_dependent(order(inputs.order), sigma, ln_q);
        // The cost is about q^(1-(α-1)/(μ₁-1)): a rounding of ln q is multiplied by |ln q|.
        let tolerance = RELATIVE.max(8.0 * f64::EPSILON * ln_q.abs());
        check.relative("cost", value, expected.epsilon, tolerance);
    }
}
