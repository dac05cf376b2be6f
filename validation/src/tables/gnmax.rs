//! Data-dependent cost of a GNMax query.

use super::check::TableCheck;
use super::{Case, Decimal};
use leakbound::accountant::{gnmax_data_dependent, log_flip_probability};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{NoiseScale, Order};
use leakbound::{Error, Result};
use serde::Deserialize;

const RELATIVE: f64 = 1e-11;
const LOGARITHM: f64 = 1e-14;

#[derive(Deserialize)]
pub(super) struct Inputs {
    ln_q: Option<f64>,
    histogram: Option<VoteHistogram>,
    sigma: NoiseScale,
    order: Order,
}

#[derive(Deserialize)]
pub(super) struct Expected {
    epsilon: Decimal,
    ln_q: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { ln_q, histogram, sigma, order }, expected } = entry;
    check.begin(format!("{ln_q:?} {histogram:?} sigma {sigma} order {order}"));
    let ln_q = match (ln_q, histogram) {
        (Some(ln_q), _) => ln_q,
        (None, Some(histogram)) => {
            let ln_q = log_flip_probability(&histogram, sigma);
            check.logarithm("ln q", ln_q, expected.ln_q.expect("the table gives ln q"), LOGARITHM);
            ln_q
        }
        (None, None) => {
            return Err(Error::Rejected { operation: "table", reason: "neither ln q nor a histogram".into() });
        }
    };
    let value = gnmax_data_dependent(order, sigma, ln_q);
    // The cost is about q^(1-(α-1)/(μ₁-1)): a rounding of ln q is multiplied by |ln q|.
    let tolerance = RELATIVE.max(8.0 * f64::EPSILON * ln_q.abs());
    check.relative("cost", value, expected.epsilon, tolerance);
    Ok(())
}
