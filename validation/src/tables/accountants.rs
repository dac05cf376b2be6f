//! RDP of mechanisms and of the best of a random number of runs, and their conversion to (ε, δ).

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::accountant::{
    Runs, gaussian_rdp, k_ary_randomized_response_rdp, laplace_mechanism_rdp, randomized_response_rdp,
    subsampled_gaussian_rdp,
};
use leakbound::divergence::{RdpCurve, bernoulli_renyi, gdp_delta};
use leakbound::quantity::{Delta, Epsilon, NoiseScale, Order, Probability};
use serde::Deserialize;

const RELATIVE: f64 = 1e-13;
/// The exponent of φ(z₁) has an error of 1e-16 z₁²/2 and z₁² reaches a thousand.
const GDP: f64 = 1e-12;

#[derive(Deserialize)]
pub(super) struct Entry {
    #[serde(flatten)]
    kind: Kind,
    expected: Decimal,
    best_order: Option<f64>,
    log_expected: Option<Decimal>,
    clamped_expected: Option<Decimal>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "snake_case")]
enum Kind {
    RdpGaussian { sigma: NoiseScale, sensitivity: f64, alpha: Order },
    RdpLaplace { scale: NoiseScale, sensitivity: f64, alpha: Order },
    RdpRandomizedResponse { p_truth: Probability, alpha: Order },
    RdpKRr { epsilon: Epsilon, k: u64, alpha: Order },
    RdpSubsampledGaussianPoisson { q: Probability, sigma: NoiseScale, alpha: Order },
    RdpToDpEpsilon { sigma: NoiseScale, steps: f64, delta: Delta, orders: Vec<Order> },
    RdpToDpDelta { sigma: NoiseScale, steps: f64, epsilon: Epsilon, orders: Vec<Order> },
    AnalyticGaussianDelta { sigma: NoiseScale, epsilon: Epsilon },
}

fn gaussian_curve(sigma: NoiseScale, steps: f64, orders: &[Order]) -> RdpCurve {
    RdpCurve::from_fn(orders, |order| gaussian_rdp(order, sigma, 1.0)).repeated(steps)
}

pub(super) fn compare(check: &mut TableCheck, entry: Entry) -> Result<()> {
    let expected = entry.expected;
    let usable = entry.clamped_expected.unwrap_or(expected);
    match entry.kind {
        Kind::RdpGaussian { sigma, sensitivity, alpha } => {
            check.begin(format!("Gaussian sigma {sigma} sensitivity {sensitivity} order {alpha}"));
            check.relative("Gaussian", gaussian_rdp(alpha, sigma, sensitivity), expected, RELATIVE);
        }
        Kind::RdpLaplace { scale, sensitivity, alpha } => {
            check.begin(format!("Laplace b {scale} sensitivity {sensitivity} order {alpha}"));
            check.relative("Laplace", laplace_mechanism_rdp(alpha, scale, sensitivity), expected, RELATIVE);
        }
        Kind::RdpRandomizedResponse { p_truth, alpha } => {
            check.begin(format!("randomized response {p_truth} order {alpha}"));
            check.relative("randomized response", randomized_response_rdp(alpha, p_truth), expected, RELATIVE);
        }
        Kind::RdpKRr { epsilon, k, alpha } => {
            check.begin(format!("{k}-ary randomized response epsilon {epsilon} order {alpha}"));
            check.relative("k-RR", k_ary_randomized_response_rdp(alpha, epsilon, k)?, expected, RELATIVE);
        }
        Kind::RdpSubsampledGaussianPoisson { q, sigma, alpha } => {
            check.begin(format!("subsampled Gaussian rate {q} sigma {sigma} order {alpha}"));
            let value = subsampled_gaussian_rdp(alpha, q, sigma, 1.0);
            // The accountant rounds up by 1e-12.
            check.relative("subsampled Gaussian", value, expected, 3e-12);
            check.side("subsampled Gaussian", value, expected, Side::Above);
        }
        Kind::RdpToDpEpsilon { sigma, steps, delta, orders } => {
            check.begin(format!("Gaussian sigma {sigma} steps {steps} delta {delta}"));
            compare_epsilon(check, &gaussian_curve(sigma, steps, &orders), delta, usable, entry.best_order, false);
        }
        Kind::RdpToDpDelta { sigma, steps, epsilon, orders } => {
            check.begin(format!("Gaussian sigma {sigma} steps {steps} epsilon {epsilon}"));
            let curve = gaussian_curve(sigma, steps, &orders);
            compare_delta(check, &curve, epsilon, usable, entry.log_expected, entry.best_order);
        }
        Kind::AnalyticGaussianDelta { sigma, epsilon } => {
            check.begin(format!("analytic Gaussian sigma {sigma} epsilon {epsilon}"));
            check.relative("gdp delta", gdp_delta(1.0 / sigma.get(), epsilon)?, expected, GDP);
        }
    }
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Conversion {
    kind: ConversionKind,
    inputs: ConversionInputs,
    best_order: f64,
    log_expected: Option<Decimal>,
    clamped_expected: Decimal,
}

#[derive(Deserialize, Clone, Copy)]
enum ConversionKind {
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
struct ConversionInputs {
    curve: String,
    orders: Vec<Order>,
    rdp: Vec<f64>,
    delta: Option<Delta>,
    epsilon: Option<Epsilon>,
}

pub(super) fn compare_conversion(check: &mut TableCheck, entry: Conversion) -> Result<()> {
    let Conversion { kind, inputs, best_order, log_expected, clamped_expected } = entry;
    let ConversionInputs { curve: name, orders, rdp, delta, epsilon } = inputs;
    check.begin(format!("{name} delta {delta:?} epsilon {epsilon:?}"));
    let curve = RdpCurve::new(orders, rdp)?;
    let delta = || delta.expect("a table's delta stands where ε is asked for");
    let epsilon = || epsilon.expect("a table's ε stands where delta is asked for");
    match kind {
        ConversionKind::Epsilon => compare_epsilon(check, &curve, delta(), clamped_expected, Some(best_order), false),
        ConversionKind::EpsilonClassic => {
            compare_epsilon(check, &curve, delta(), clamped_expected, Some(best_order), true)
        }
        ConversionKind::Delta => {
            compare_delta(check, &curve, epsilon(), clamped_expected, log_expected, Some(best_order))
        }
        ConversionKind::DeltaClassic => check.set_aside("delta by the classic conversion is not offered"),
    }
    Ok(())
}

/// Compares the smallest ε at δ, and the order that gives it where ε is not clamped to 0.
fn compare_epsilon(
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
fn compare_delta(
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

/// The ratio of the number of runs is moved up by 1e-11.
const OF_BEST: f64 = 1e-9;

#[derive(Deserialize)]
pub(super) struct BestOfRuns {
    runs: RunsName,
    mean: f64,
    shape: Option<f64>,
    /// σ of Gaussian noise on a count.
    gaussian: Option<f64>,
    /// The probability of the truth of randomized response.
    truth: Option<f64>,
    orders: Vec<Order>,
    expected: OfRuns,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RunsName {
    Poisson,
    NegativeBinomial,
}

#[derive(Deserialize)]
struct OfRuns {
    values: Vec<Decimal>,
    exact: Option<Vec<Decimal>>,
}

pub(super) fn compare_best_of_runs(check: &mut TableCheck, entry: BestOfRuns) -> Result<()> {
    check.begin(format!("mean {}, shape {:?}, {:?} {:?}", entry.mean, entry.shape, entry.gaussian, entry.truth));
    let runs = match entry.runs {
        RunsName::Poisson => Runs::poisson(entry.mean)?,
        RunsName::NegativeBinomial => Runs::negative_binomial(entry.shape.unwrap_or(f64::NAN), entry.mean)?,
    };
    let one = |order: Order| {
        let gaussian = entry.gaussian.map(|sigma| order.get() / (2.0 * sigma * sigma));
        let response = entry.truth.map(|p| bernoulli_renyi((p, 1.0 - p), (1.0 - p, p), order));
        gaussian.or(response).unwrap_or(f64::INFINITY)
    };
    let best = runs.best_of(&RdpCurve::from_fn(&entry.orders, one));
    for (&value, &expected) in best.values().iter().zip(&entry.expected.values) {
        check.relative("theorem", value, expected, OF_BEST);
        // The curve of one run is itself rounded.
        check.holds(value >= expected.value * (1.0 - 1e-14), "a bound is rounded up");
    }
    for (&value, &expected) in best.values().iter().zip(entry.expected.exact.iter().flatten()) {
        check.side("selection of which the distribution is known", value, expected, Side::Above);
    }
    Ok(())
}
