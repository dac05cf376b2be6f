//! Costs of PATE mechanisms, GNMax in the worst case, threshold tests, the release with smooth sensitivity, k-ary
//! randomized response.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::accountant::{
    gnmax_data_dependent, gnmax_worst_case, gnss_rdp, k_ary_randomized_response_rdp, lnmax_data_dependent,
    log_flip_probability, log_flip_probability_laplace, threshold_data_dependent,
};
use leakbound::distribution::{ThresholdForm, ThresholdTest};
use leakbound::histogram::{VoteChange, VoteHistogram};
use leakbound::quantity::{Epsilon, NoiseScale, Order};
use leakbound::{Error, Result};
use serde::Deserialize;

const RELATIVE: f64 = 1e-11;
const LOGARITHM: f64 = 1e-14;
/// The width that is promised, and what the outward rounding adds.
const WIDTH: f64 = 1.001e-4;
/// The half-line alone is enclosed more narrowly.
const WIDTH_OF_LINE: f64 = 3e-6;

/// Of a cost, which is about q^(1-(α-1)/(μ₁-1)): a rounding of ln q is multiplied by |ln q|.
fn tolerance(ln_q: f64) -> f64 {
    RELATIVE.max(8.0 * f64::EPSILON * ln_q.abs())
}

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
            check.relative("LNMax", lnmax_data_dependent(order, b, ln_q), expected.epsilon, tolerance(ln_q));
        }
        Kind::Threshold { histogram, threshold, sigma, form, order } => {
            check.begin(format!("threshold {threshold} {form} {histogram} sigma {sigma} order {order}"));
            let odds = ThresholdTest::new(threshold, sigma, form)?.odds(&histogram);
            check.logarithm("ln P(pass)", odds.ln_pass, given(expected.ln_pass), LOGARITHM);
            check.logarithm("ln P(fail)", odds.ln_fail, given(expected.ln_fail), LOGARITHM);
            let value = threshold_data_dependent(order, sigma, odds.log_q());
            check.relative("threshold", value, expected.epsilon, tolerance(odds.log_q()));
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

#[derive(Deserialize)]
pub(super) struct Query {
    ln_q: Option<f64>,
    histogram: Option<VoteHistogram>,
    sigma: NoiseScale,
    order: Order,
}

#[derive(Deserialize)]
pub(super) struct Cost {
    epsilon: Decimal,
    ln_q: Option<Decimal>,
}

pub(super) fn compare_gnmax(check: &mut TableCheck, entry: Case<Query, Cost>) -> Result<()> {
    let Case { inputs: Query { ln_q, histogram, sigma, order }, expected } = entry;
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
    check.relative("cost", gnmax_data_dependent(order, sigma, ln_q), expected.epsilon, tolerance(ln_q));
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Noise {
    order: Order,
    sigma: NoiseScale,
}

#[derive(Deserialize)]
pub(super) struct Supremum {
    supremum: Option<Decimal>,
    two_classes: Decimal,
    one_class: Decimal,
}

pub(super) fn compare_worst_case(check: &mut TableCheck, entry: Case<Noise, Supremum>) -> Result<()> {
    let Case { inputs: Noise { order, sigma }, expected } = entry;
    check.begin(format!("sigma {sigma} order {order}"));
    let supremum = expected.supremum.unwrap_or(expected.two_classes);
    for (kind, [above, below], expected, width) in [
        (VoteChange::Moved, ["supremum, above", "supremum, below"], supremum, WIDTH),
        (VoteChange::Added, ["one class, above", "one class, below"], expected.one_class, WIDTH_OF_LINE),
        (VoteChange::Removed, ["one class, above", "one class, below"], expected.one_class, WIDTH_OF_LINE),
    ] {
        let worst = gnmax_worst_case(order, sigma, kind);
        check.relative(above, worst.upper, expected, width);
        check.relative(below, worst.lower, expected, width);
        check.side(above, worst.upper, expected, Side::Above);
        check.side(below, worst.lower, expected, Side::Below);
    }
    Ok(())
}
