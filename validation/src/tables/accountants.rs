//! RDP of mechanisms, and their conversion to (ε, δ).

use super::check::{Side, TableCheck};
use super::conversions::{compare_delta, compare_epsilon};
use super::{Decimal, load, order};
use leakbound::accountant::{
    gaussian_rdp, k_ary_randomized_response_rdp, laplace_mechanism_rdp, randomized_response_rdp,
    subsampled_gaussian_rdp,
};
use leakbound::divergence::{RdpCurve, gdp_delta};
use leakbound::quantity::{Epsilon, NoiseScale, Order, Probability};
use serde::Deserialize;

const RELATIVE: f64 = 1e-13;
/// The exponent of φ(z₁) has an error of 1e-16 z₁²/2 and z₁² reaches a thousand.
const GDP: f64 = 1e-12;

#[derive(Deserialize)]
struct Entry {
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
    RdpGaussian { sigma: f64, sensitivity: f64, alpha: f64 },
    RdpLaplace { scale: f64, sensitivity: f64, alpha: f64 },
    RdpRandomizedResponse { p_truth: f64, alpha: f64 },
    RdpKRr { epsilon: f64, k: u64, alpha: f64 },
    RdpSubsampledGaussianPoisson { q: f64, sigma: f64, alpha: f64 },
    RdpToDpEpsilon { sigma: f64, steps: f64, delta: f64, orders: Vec<f64> },
    RdpToDpDelta { sigma: f64, steps: f64, epsilon: f64, orders: Vec<f64> },
    AnalyticGaussianDelta { sigma: f64, epsilon: f64 },
}

fn scale(sigma: f64) -> NoiseScale {
    NoiseScale::new(sigma).expect("a table's scale is positive")
}

fn gaussian_curve(sigma: f64, steps: f64, orders: &[f64]) -> RdpCurve {
    let orders: Vec<Order> = orders.iter().map(|&a| order(a)).collect();
    RdpCurve::from_fn(&orders, |order| gaussian_rdp(order, scale(sigma), 1.0)).repeated(steps)
}

pub(super) fn compare(check: &mut TableCheck) {
    for entry in load::<Entry>(check.table) {
        let expected = entry.expected;
        match entry.kind {
            Kind::RdpGaussian { sigma, sensitivity, alpha } => {
                check.begin(format!("Gaussian sigma {sigma} sensitivity {sensitivity} order {alpha}"));
                check.relative("Gaussian", gaussian_rdp(order(alpha), scale(sigma), sensitivity), expected, RELATIVE);
            }
            Kind::RdpLaplace { scale: b, sensitivity, alpha } => {
                check.begin(format!("Laplace b {b} sensitivity {sensitivity} order {alpha}"));
                let value = laplace_mechanism_rdp(order(alpha), scale(b), sensitivity);
                check.relative("Laplace", value, expected, RELATIVE);
            }
            Kind::RdpRandomizedResponse { p_truth: p, alpha } => {
                check.begin(format!("randomized response {p} order {alpha}"));
                let truth = Probability::new(p).expect("a table's truth is a probability");
                let value = randomized_response_rdp(order(alpha), truth);
                check.relative("randomized response", value, expected, RELATIVE);
            }
            Kind::RdpKRr { epsilon, k, alpha } => {
                check.begin(format!("{k}-ary randomized response epsilon {epsilon} order {alpha}"));
                let value =
                    Epsilon::new(epsilon).and_then(|epsilon| k_ary_randomized_response_rdp(order(alpha), epsilon, k));
                match value {
                    Ok(value) => check.relative("k-RR", value, expected, RELATIVE),
                    Err(error) => check.fail(error.to_string()),
                }
            }
            Kind::RdpSubsampledGaussianPoisson { q, sigma, alpha } => {
                check.begin(format!("subsampled Gaussian rate {q} sigma {sigma} order {alpha}"));
                let rate = Probability::new(q).expect("a table's rate is a probability");
                let value = subsampled_gaussian_rdp(order(alpha), rate, scale(sigma), 1.0);
                // The accountant rounds up by 1e-12.
                check.relative("subsampled Gaussian", value, expected, 3e-12);
                check.side("subsampled Gaussian", value, expected, Side::Above);
            }
            Kind::RdpToDpEpsilon { sigma, steps, delta, orders } => {
                check.begin(format!("Gaussian sigma {sigma} steps {steps} delta {delta:e}"));
                let usable = entry.clamped_expected.unwrap_or(expected);
                compare_epsilon(check, &gaussian_curve(sigma, steps, &orders), delta, usable, entry.best_order, false);
            }
            Kind::RdpToDpDelta { sigma, steps, epsilon, orders } => {
                check.begin(format!("Gaussian sigma {sigma} steps {steps} epsilon {epsilon}"));
                let usable = entry.clamped_expected.unwrap_or(expected);
                let curve = gaussian_curve(sigma, steps, &orders);
                compare_delta(check, &curve, epsilon, usable, entry.log_expected, entry.best_order);
            }
            Kind::AnalyticGaussianDelta { sigma, epsilon } => {
                check.begin(format!("analytic Gaussian sigma {sigma} epsilon {epsilon}"));
                match Epsilon::new(epsilon).and_then(|epsilon| gdp_delta(1.0 / sigma, epsilon)) {
                    Ok(delta) => check.relative("gdp delta", delta, expected, GDP),
                    Err(error) => check.fail(error.to_string()),
                }
            }
        }
    }
}
