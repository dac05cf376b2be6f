//! RDP of mechanisms, and their conversion to (ε, δ).

use super::Decimal;
use super::check::{Side, TableCheck};
use super::conversions::{compare_delta, compare_epsilon};
use leakbound::Result;
use leakbound::accountant::{
    gaussian_rdp, k_ary_randomized_response_rdp, laplace_mechanism_rdp, randomized_response_rdp,
    subsampled_gaussian_rdp,
};
use leakbound::divergence::{RdpCurve, gdp_delta};
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
