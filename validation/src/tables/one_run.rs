//! Audits by one training run.

use super::Decimal;
use super::check::{Side, TableCheck};
use leakbound::Result;
use leakbound::audit::{one_run_epsilon, one_run_mu, one_run_p_value};
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Entry {
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

pub(super) fn compare(check: &mut TableCheck, Entry { kind, expected }: Entry) -> Result<()> {
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
