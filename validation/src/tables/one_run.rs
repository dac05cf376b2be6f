//! Audits by one training run.

use super::check::{Side, TableCheck};
use super::{Decimal, load};
use leakbound::audit::{one_run_epsilon, one_run_mu, one_run_p_value};
use leakbound::interval::BinomialCounts;
use leakbound::quantity::{Delta, Epsilon, FailureProbability};
use serde::Deserialize;

#[derive(Deserialize)]
struct Entry {
    #[serde(flatten)]
    kind: Kind,
    expected: Decimal,
}

#[derive(Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "snake_case")]
enum Kind {
    PValue { right: u64, guesses: u64, canaries: u64, epsilon: f64, delta: f64 },
    Epsilon { right: u64, guesses: u64, canaries: u64, delta: f64, failure: f64 },
    Mu { right: u64, guesses: u64, canaries: u64, failure: f64 },
}

fn counts(right: u64, guesses: u64) -> BinomialCounts {
    BinomialCounts::new(right, guesses).expect("a table's guesses are counts")
}

fn delta(value: f64) -> Delta {
    Delta::new(value).expect("a table's delta is one")
}

fn failure(value: f64) -> FailureProbability {
    FailureProbability::new(value).expect("a table's failure probability is one")
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { kind, expected } in load::<Entry>(check.table) {
        match kind {
            Kind::PValue { right, guesses, canaries, epsilon, delta: d } => {
                check.begin(format!("{right} of {guesses}, {canaries} canaries, epsilon {epsilon} delta {d}"));
                let epsilon = Epsilon::new(epsilon).expect("a table's epsilon is one");
                let p = one_run_p_value(counts(right, guesses), canaries, epsilon, delta(d));
                match p {
                    // What is above 1 is cut there.
                    Ok(p) if p.get() == 1.0 => check.holds(expected.value > 1.0 - 1e-10, "a p-value of 1"),
                    Ok(p) => {
                        check.relative("p-value", p.get(), expected, 2e-11);
                        check.side("p-value", p.get(), expected, Side::Above);
                    }
                    Err(error) => check.fail(error.to_string()),
                }
            }
            Kind::Epsilon { right, guesses, canaries, delta: d, failure: f } => {
                check.begin(format!("{right} of {guesses}, {canaries} canaries, delta {d}, failure {f}"));
                match one_run_epsilon(counts(right, guesses), canaries, delta(d), failure(f)) {
                    Ok(bound) => {
                        check.relative("epsilon", bound.value, expected, 1e-9);
                        check.side("epsilon", bound.value, expected, Side::Below);
                    }
                    Err(error) => check.fail(error.to_string()),
                }
            }
            Kind::Mu { right, guesses, canaries, failure: f } => {
                check.begin(format!("{right} of {guesses}, {canaries} canaries, failure {f}"));
                match one_run_mu(counts(right, guesses), canaries, failure(f)) {
                    Ok(bound) => {
                        // Bisected to 1e-9, with a slack of 1e-9 in the comparison of sums.
                        check.logarithm("mu", bound.value, expected, 1e-8);
                        check.side("mu", bound.value, expected, Side::Below);
                    }
                    Err(error) => check.fail(error.to_string()),
                }
            }
        }
    }
}
