//! Costs of PATE mechanisms, threshold tests, the release with smooth sensitivity, k-ary randomized response.

use super::check::TableCheck;
use super::{Decimal, load, order};
use leakbound::accountant::{
    gnss_rdp, k_ary_randomized_response_rdp, lnmax_data_dependent, log_flip_probability_laplace,
    threshold_data_dependent,
};
use leakbound::distribution::{ThresholdForm, ThresholdTest};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale};
use serde::Deserialize;

const RELATIVE: f64 = 1e-11;
const LOGARITHM: f64 = 1e-14;

#[derive(Deserialize)]
struct Entry {
    #[serde(flatten)]
    kind: Kind,
    expected: Expected,
}

#[derive(Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "snake_case")]
enum Kind {
    Lnmax { histogram: Vec<u64>, b: f64, order: f64 },
    Threshold { histogram: Vec<u64>, threshold: f64, sigma: f64, form: ThresholdForm, order: f64 },
    Gnss { beta: f64, sigma: f64, order: f64 },
    KRr { epsilon: f64, k: u64, order: f64 },
}

#[derive(Deserialize)]
struct Expected {
    epsilon: Decimal,
    ln_q: Option<Decimal>,
    ln_pass: Option<Decimal>,
    ln_fail: Option<Decimal>,
}

fn scale(value: f64) -> NoiseScale {
    NoiseScale::new(value).expect("a table's scale is positive")
}

fn votes(histogram: Vec<u64>) -> VoteHistogram {
    VoteHistogram::new(histogram).expect("a table's histogram is one")
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { kind, expected } in load::<Entry>(check.table) {
        let given = |value: Option<Decimal>| value.expect("the table gives the logarithm");
        match kind {
            Kind::Lnmax { histogram, b, order: a } => {
                check.begin(format!("LNMax {histogram:?} b {b} order {a}"));
                let ln_q = log_flip_probability_laplace(&votes(histogram), scale(b));
                check.logarithm("ln q", ln_q, given(expected.ln_q), LOGARITHM);
                // A rounding of ln q is multiplied by |ln q|, as of GNMax.
                let tolerance = RELATIVE.max(8.0 * f64::EPSILON * ln_q.abs());
                check.relative("LNMax", lnmax_data_dependent(order(a), scale(b), ln_q), expected.epsilon, tolerance);
            }
            Kind::Threshold { histogram, threshold, sigma, form, order: a } => {
                check.begin(format!("threshold {threshold} {form} {histogram:?} sigma {sigma} order {a}"));
                let test = ThresholdTest::new(threshold, scale(sigma), form).expect("a table's threshold is a number");
                let odds = test.odds(&votes(histogram));
                check.logarithm("ln P(pass)", odds.ln_pass, given(expected.ln_pass), LOGARITHM);
                check.logarithm("ln P(fail)", odds.ln_fail, given(expected.ln_fail), LOGARITHM);
                let tolerance = RELATIVE.max(8.0 * f64::EPSILON * odds.log_q().abs());
                let value = threshold_data_dependent(order(a), scale(sigma), odds.log_q());
                check.relative("threshold", value, expected.epsilon, tolerance);
            }
            Kind::Gnss { beta, sigma, order: a } => {
                check.begin(format!("GNSS beta {beta} sigma {sigma} order {a}"));
                check.relative("GNSS", gnss_rdp(order(a), beta, scale(sigma)), expected.epsilon, RELATIVE);
            }
            Kind::KRr { epsilon, k, order: a } => {
                check.begin(format!("{k}-ary randomized response epsilon {epsilon} order {a}"));
                let value =
                    Epsilon::new(epsilon).and_then(|epsilon| k_ary_randomized_response_rdp(order(a), epsilon, k));
                match value {
                    Ok(value) => check.relative("k-RR", value, expected.epsilon, RELATIVE),
                    Err(error) => check.fail(error.to_string()),
                }
            }
        }
    }
}
