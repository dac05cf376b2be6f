//! Lower bounds of ε, μ and δ from counts and from one training run: never above their value in real arithmetic, and
//! hardly below.

use super::check::{Side, TableCheck};
use super::{Case, Decimal};
use leakbound::Result;
use leakbound::audit::{
    Rectangle, Tails, gdp_bounds, jeffreys_epsilon, joint_beta_epsilon, joint_beta_region_epsilon, katz_log_epsilon,
    one_run_epsilon, one_run_mu, one_run_p_value,
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
pub(super) struct Inputs {
    x1: u64,
    n1: u64,
    x2: u64,
    n2: u64,
    delta: Delta,
    g: FailureProbability,
    epsilon: Epsilon,
}

#[derive(Deserialize)]
pub(super) struct Expected {
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

pub(super) fn compare(check: &mut TableCheck, entry: Case<Inputs, Expected>) -> Result<()> {
    let Case { inputs: Inputs { x1, n1, x2, n2, delta, g, epsilon }, expected } = entry;
    check.begin(format!("{x1}/{n1} against {x2}/{n2}, delta {delta}, g {g}"));
    let (p, q) = (BinomialCounts::new(x1, n1)?, BinomialCounts::new(x2, n2)?);
    let forward = Direction::Forward;
    let jeffreys = |tails| jeffreys_epsilon(p, q, delta, forward, g, tails);
    let rectangle = Rectangle::two_tails(p, q, g)?;
    let [mu, gdp] = gdp_bounds(&rectangle, delta)?;
    bound(check, "jeffreys", jeffreys(Tails::Two)?, expected.jeffreys, SLACK);
    bound(check, "jeffreys, four tails", jeffreys(Tails::Four)?, expected.jeffreys_four, SLACK);
    let katz_log = katz_log_epsilon(p, q, delta, forward, g, Tails::Two);
    bound(check, "katz-log", katz_log, expected.katz_log, SLACK);
    bound(check, "clopper-pearson", rectangle.epsilon(delta, forward), expected.clopper_pearson, SLACK);
    // The documented margin is 1e-12 (1 + |Φ⁻¹(p)| + |Φ⁻¹(q)|), and a quantile reaches 38.
    bound(check, "mu", mu, expected.mu, 8.0 * SLACK);
    // ε(δ) grows by up to μ + Φ⁻¹ for each unit of μ.
    bound(check, "gdp", gdp, expected.gdp, 100.0 * SLACK);
    bound(check, "delta", rectangle.delta(epsilon, forward), expected.delta_at, SLACK);
    for (quantity, value, expected) in [
        ("joint-beta", joint_beta_epsilon(p, q, delta, forward, g, Tails::Two)?, expected.joint_beta),
        ("joint-beta, region", joint_beta_region_epsilon(p, q, delta, g)?, expected.joint_region),
    ] {
        match expected {
            Some(expected) => bound(check, quantity, value, expected, JOINT_SLACK),
            None => check.set_aside("joint posterior not in the table"),
        }
    }
    Ok(())
}

fn bound(check: &mut TableCheck, quantity: &'static str, bound: LowerBound, expected: Decimal, slack: f64) {
    check.side(quantity, bound.value, expected, Side::Below);
    check.absolute(quantity, bound.value, expected, slack * (1.0 + expected.value.abs()));
}

#[derive(Deserialize)]
pub(super) struct OneRun {
    #[serde(flatten)]
    kind: Kind,
    expected: Decimal,
}

#[derive(Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "snake_case")]
enum Kind {
    PValue { right: u64, guesses: u64, canaries: u64, epsilon: Epsilon, delta: Delta },
    Epsilon { right: u64, guesses: u64, canaries: u64, delta: Delta, failure: FailureProbability },
    Mu { right: u64, guesses: u64, canaries: u64, failure: FailureProbability },
}

pub(super) fn compare_one_run(check: &mut TableCheck, OneRun { kind, expected }: OneRun) -> Result<()> {
    match kind {
        Kind::PValue { right, guesses, canaries, epsilon, delta } => {
            check.begin(format!("{right} of {guesses}, {canaries} canaries, epsilon {epsilon} delta {delta}"));
            let p = one_run_p_value(BinomialCounts::new(right, guesses)?, canaries, epsilon, delta)?.get();
            // What is above 1 is cut there.
            if p == 1.0 {
                check.holds(expected.value > 1.0 - 1e-10, "a p-value of 1");
            } else {
                check.relative("p-value", p, expected, 2e-11);
                check.side("p-value", p, expected, Side::Above);
            }
        }
        Kind::Epsilon { right, guesses, canaries, delta, failure } => {
            check.begin(format!("{right} of {guesses}, {canaries} canaries, delta {delta}, failure {failure}"));
            let bound = one_run_epsilon(BinomialCounts::new(right, guesses)?, canaries, delta, failure)?;
            check.relative("epsilon", bound.value, expected, 1e-9);
            check.side("epsilon", bound.value, expected, Side::Below);
        }
        Kind::Mu { right, guesses, canaries, failure } => {
            check.begin(format!("{right} of {guesses}, {canaries} canaries, failure {failure}"));
            let bound = one_run_mu(BinomialCounts::new(right, guesses)?, canaries, failure)?;
            // Bisected to 1e-9, with a slack of 1e-9 in the comparison of sums.
            check.logarithm("mu", bound.value, expected, 1e-8);
            check.side("mu", bound.value, expected, Side::Below);
        }
    }
    Ok(())
}
