//! Lower bounds of ε, μ and δ from counts: never above their value in real arithmetic, and hardly below.

use super::check::{Side, TableCheck};
use super::{Decimal, load};
use leakbound::Result;
use leakbound::audit::{
    Rectangle, Tails, gdp_bounds, jeffreys_epsilon, joint_beta_epsilon, joint_beta_region_epsilon, katz_log_epsilon,
};
use leakbound::bound::{Direction, LowerBound};
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::Deserialize;

/// How far a bound may lie below its value: 1e-11 of 1 + |value| from the margins of quantiles and limits.
const SLACK: f64 = 1e-11;
/// The margin of the joint posterior.
const JOINT_SLACK: f64 = 1.2e-9;

#[derive(Deserialize)]
struct Entry {
    inputs: Inputs,
    expected: Expected,
}

#[derive(Deserialize)]
struct Inputs {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
    delta: f64,
    g: f64,
    epsilon: f64,
}

#[derive(Deserialize)]
struct Expected {
    jeffreys: Decimal,
    jeffreys_four: Decimal,
    katz_log: Decimal,
    clopper_pearson: Decimal,
    mu: Decimal,
    gdp: Decimal,
    delta_at: Decimal,
    joint_beta: Option<Decimal>,
    joint_region: Option<Decimal>,
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { inputs, expected } in load::<Entry>(check.table) {
        let Inputs { x1, n1, x2, n2, delta, g, .. } = inputs;
        check.begin(format!("{x1}/{n1} against {x2}/{n2}, delta {delta:e}, g {g:e}"));
        match bounds(&inputs) {
            Err(error) => check.fail(error.to_string()),
            Ok(found) => {
                let Found { jeffreys, jeffreys_four, katz_log, clopper_pearson, mu, gdp, delta_at, .. } = found;
                bound(check, "jeffreys", jeffreys, expected.jeffreys, SLACK);
                bound(check, "jeffreys, four tails", jeffreys_four, expected.jeffreys_four, SLACK);
                bound(check, "katz-log", katz_log, expected.katz_log, SLACK);
                bound(check, "clopper-pearson", clopper_pearson, expected.clopper_pearson, SLACK);
                // The documented margin is 1e-12 (1 + |Φ⁻¹(p)| + |Φ⁻¹(q)|), and a quantile reaches 38.
                bound(check, "mu", mu, expected.mu, 8.0 * SLACK);
                // ε(δ) grows by up to μ + Φ⁻¹ for each unit of μ.
                bound(check, "gdp", gdp, expected.gdp, 100.0 * SLACK);
                bound(check, "delta", delta_at, expected.delta_at, SLACK);
                for (quantity, value, expected) in [
                    ("joint-beta", found.joint_beta, expected.joint_beta),
                    ("joint-beta, region", found.joint_region, expected.joint_region),
                ] {
                    match expected {
                        Some(expected) => bound(check, quantity, value, expected, JOINT_SLACK),
                        None => check.set_aside("joint posterior not in the table"),
                    }
                }
            }
        }
    }
}

struct Found {
    jeffreys: LowerBound,
    jeffreys_four: LowerBound,
    katz_log: LowerBound,
    clopper_pearson: LowerBound,
    mu: LowerBound,
    gdp: LowerBound,
    delta_at: LowerBound,
    joint_beta: LowerBound,
    joint_region: LowerBound,
}

fn bounds(inputs: &Inputs) -> Result<Found> {
    let (p, q) = (BinomialCounts::new(inputs.x1, inputs.n1)?, BinomialCounts::new(inputs.x2, inputs.n2)?);
    let (delta, failure) = (Delta::new(inputs.delta)?, FailureProbability::new(inputs.g)?);
    let forward = Direction::Forward;
    let rectangle = Rectangle::two_tails(p, q, failure)?;
    let [mu, gdp] = gdp_bounds(&rectangle, delta)?;
    Ok(Found {
        jeffreys: jeffreys_epsilon(p, q, delta, forward, failure, Tails::Two)?,
        jeffreys_four: jeffreys_epsilon(p, q, delta, forward, failure, Tails::Four)?,
        katz_log: katz_log_epsilon(p, q, delta, forward, failure, Tails::Two),
        clopper_pearson: rectangle.epsilon(delta, forward),
        mu,
        gdp,
        delta_at: rectangle.delta(Epsilon::new(inputs.epsilon)?, forward),
        joint_beta: joint_beta_epsilon(p, q, delta, forward, failure, Tails::Two)?,
        joint_region: joint_beta_region_epsilon(p, q, delta, failure)?,
    })
}

fn bound(check: &mut TableCheck, quantity: &'static str, bound: LowerBound, expected: Decimal, slack: f64) {
    check.side(quantity, bound.value, expected, Side::Below);
    check.absolute(quantity, bound.value, expected, slack * (1.0 + expected.value.abs()));
}
