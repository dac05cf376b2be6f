//! Costs of PATE mechanisms, threshold tests, the release with smooth sensitivity, k-ary randomized response.

use super::Decimal;
use super::check::TableCheck;
use leakbound::Result;
use leakbound::accountant::{
    gnss_rdp, k_ary_randomized_response_rdp, lnmax_data_dependent, log_flip_probability_laplace,
    threshold_data_dependent,
};
use leakbound::distribution::{ThresholdForm, ThresholdTest};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale, Order};
use serde::Deserialize;

const RELATIVE: f64 = 1e-11;
const LOGARITHM: f64 = 1e-14;

#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    kind: Kind,
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "snake_case")]
enum Kind {
    Lnmax { histogram: VoteHistogram, b: NoiseScale, order: Order },
    Threshold { histogram: VoteHistogram, threshold: f64, sigma: NoiseScale, form: ThresholdForm, order: Order },
    Gnss { beta: f64, sigma: NoiseScale, order: Order },
    KRr { epsilon: Epsilon, k: u64, order: Order },
}

#[derive(Deserialize)]
struct Expected {
    epsilon: Decimal,
    ln_q: Option<Decimal>,
    ln_pass: Option<Decimal>,
    ln_fail: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck, Entry { kind, expected }: Entry) -> Result<()> {
    let given = |value: Option<Decimal>| value.expect("the table gives the logarithm");
    match kind {
        Kind::Lnmax { histogram, b, order } => {
            check.begin(format!("LNMax {histogram} b {b} order {order}"));
            let ln_q = log_flip_probability_laplace(&histogram, b);
            check.logarithm("ln q", ln_q, given(expected.ln_q), LOGARITHM);
            // A rounding of ln q is multiplied by |ln q|, as of GNMax.
            let tolerance = RELATIVE.max(8.0 * f64::EPSILON * ln_q.abs());
            check.relative("LNMax", lnmax_data_dependent(order, b, ln_q), expected.epsilon, tolerance);
        }
        Kind::Threshold { histogram, threshold, sigma, form, order } => {
            check.begin(format!("threshold {threshold} {form} {histogram} sigma {sigma} order {order}"));
            let odds = ThresholdTest::new(threshold, sigma, form)?.odds(&histogram);
            check.logarithm("ln P(pass)", odds.ln_pass, given(expected.ln_pass), LOGARITHM);
            check.logarithm("ln P(fail)", odds.ln_fail, given(expected.ln_fail), LOGARITHM);
            let tolerance = RELATIVE.max(8.0 * f64::EPSILON * odds.log_q().abs());
            let value = threshold_data_dependent(order, sigma, odds.log_q());
            check.relative("threshold", value, expected.epsilon, tolerance);
        }
        Kind::Gnss { beta, sigma, order } => {
            check.begin(format!("GNSS beta {beta} sigma {sigma} order {order}"));
            check.relative("GNSS", gnss_rdp(order, beta, sigma), expected.epsilon, RELATIVE);
        }
        Kind::KRr { epsilon, k, order } => {
            check.begin(format!("{k}-ary randomized response epsilon {epsilon} order {order}"));
            check.relative("k-RR", k_ary_randomized_response_rdp(order, epsilon, k)?, expected.epsilon, RELATIVE);
        }
    }
    Ok(())
}
