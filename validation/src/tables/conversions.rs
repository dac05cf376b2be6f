//! From an RDP curve to ε at δ and δ at ε.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::divergence::RdpCurve;
use leakbound::quantity::{Delta, Epsilon, Order};
use serde::Deserialize;

const RELATIVE: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Entry {
    kind: Kind,
    inputs: Inputs,
    best_order: f64,
    log_expected: Option<Decimal>,
    clamped_expected: Decimal,
}

#[derive(Deserialize, Clone, Copy)]
enum Kind {
    #[serde(rename = "rdp_to_dp_epsilon")]
    Epsilon,
    #[serde(rename = "rdp_to_dp_epsilon_classic")]
    EpsilonClassic,
    #[serde(rename = "rdp_to_dp_delta")]
    Delta,
    #[serde(rename = "rdp_to_dp_delta_classic")]
    DeltaClassic,
}

#[derive(Deserialize)]
struct Inputs {
    curve: String,
    orders: Vec<Order>,
    rdp: Vec<f64>,
    delta: Option<Delta>,
    epsilon: Option<Epsilon>,
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    let Entry { kind, inputs, best_order, log_expected, clamped_expected } = entry;
    let Inputs { curve: name, orders, rdp, delta, epsilon } = inputs;
    check.begin(format!("{name} delta {delta:?} epsilon {epsilon:?}"));
    let curve = RdpCurve::new(orders, rdp)?;
    let delta = || delta.expect("a table's delta stands where ε is asked for");
    let epsilon = || epsilon.expect("a table's ε stands where delta is asked for");
    match kind {
        Kind::Epsilon => compare_epsilon(check, &curve, delta(), clamped_expected, Some(best_order), false),
        Kind::EpsilonClassic => compare_epsilon(check, &curve, delta(), clamped_expected, Some(best_order), true),
        Kind::Delta => compare_delta(check, &curve, epsilon(), clamped_expected, log_expected, Some(best_order)),
        Kind::DeltaClassic => check.set_aside("delta by the classic conversion is not offered"),
    }
    Ok(())
}

/// Compares the smallest ε at δ, and the order that gives it where ε is not clamped to 0.
pub(super) fn compare_epsilon(
    check: &mut TableCheck,
    curve: &RdpCurve,
    delta: Delta,
    expected: Decimal,
    best_order: Option<f64>,
    classic: bool,
) {
    let (epsilon, order) = if classic { curve.classic_epsilon(delta) } else { curve.epsilon(delta) };
    check.relative(if classic { "epsilon, classic" } else { "epsilon" }, epsilon.get(), expected, RELATIVE);
    if expected.value > 0.0 {
        check.holds(best_order.is_none_or(|best| best == order.get()), "the best order");
    }
}

/// Compares the smallest δ at ε. Its exponent (α-1)(ρ-ε) is a product of rounded numbers, so that the relative error
/// of δ is a few units in the last place times |ln δ|, as far as that exceeds the tolerance.
pub(super) fn compare_delta(
    check: &mut TableCheck,
    curve: &RdpCurve,
    epsilon: Epsilon,
    expected: Decimal,
    log_expected: Option<Decimal>,
    best_order: Option<f64>,
) {
    let (delta, order) = curve.delta(epsilon);
    let size = log_expected.map_or(0.0, |ln| ln.value.abs());
    check.side("delta", delta, expected, Side::Above);
    // The exponent is a difference of terms that are three times as large at the best order, rounded up by four units.
    check.relative("delta", delta, expected, RELATIVE.max(24.0 * f64::EPSILON * (1.0 + size)));
    // Below the range of a double all orders are equal, and so they are where the best delta is 1.
    if expected.value > 0.0 && expected.value < 1.0 && !expected.underflows {
        check.holds(best_order.is_none_or(|best| best == order.get()), "the best order");
    }
}
