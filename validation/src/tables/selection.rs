//! The exponential mechanism and permute-and-flip: probabilities and divergences.

use super::check::TableCheck;
use super::hockey_stick::condition;
use super::{Decimal, load, order};
use leakbound::distribution::{OutcomeDistribution, exponential_distribution, permute_and_flip_distribution};
use leakbound::divergence::{hockey_stick, renyi_divergence};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::{Epsilon, NoiseScale};
use serde::Deserialize;

const PROBABILITY: f64 = 1e-13;
const RELATIVE: f64 = 1e-12;

#[derive(Deserialize)]
struct Entry {
    kind: Rule,
    inputs: Inputs,
    expected: Expected,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    Exponential,
    PermuteAndFlip,
}

#[derive(Deserialize)]
struct Inputs {
    scale: f64,
    histogram: Vec<u64>,
    neighbor: Vec<u64>,
}

#[derive(Deserialize)]
struct Expected {
    p: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

#[derive(Deserialize)]
struct Divergence {
    order: f64,
    forward: Decimal,
    reverse: Decimal,
}

#[derive(Deserialize)]
struct Delta {
    epsilon: f64,
    forward: Decimal,
    reverse: Decimal,
}

fn distribution(rule: Rule, histogram: &[u64], scale: f64) -> leakbound::Result<OutcomeDistribution> {
    let (histogram, scale) = (VoteHistogram::new(histogram.to_vec())?, NoiseScale::new(scale)?);
    match rule {
        Rule::Exponential => exponential_distribution(&histogram, scale),
        Rule::PermuteAndFlip => permute_and_flip_distribution(&histogram, scale),
    }
}

pub(super) fn compare(check: &mut TableCheck) {
    for Entry { kind, inputs, expected } in load::<Entry>(check.table) {
        let Inputs { scale, histogram, neighbor } = inputs;
        check.begin(format!("{kind:?} {histogram:?} {neighbor:?} scale {scale}"));
        let (p, q) = match (distribution(kind, &histogram, scale), distribution(kind, &neighbor, scale)) {
            (Ok(p), Ok(q)) => (p, q),
            (Err(error), _) | (_, Err(error)) => {
                check.fail(error.to_string());
                continue;
            }
        };
        for (value, expected) in p.p().iter().zip(expected.p) {
            check.relative("probability", *value, expected, PROBABILITY);
        }
        for Divergence { order: a, forward, reverse } in expected.divergences {
            for (p, q, expected) in [(&p, &q, forward), (&q, &p, reverse)] {
                let value = renyi_divergence(p, q, order(a)).expect("the distributions have the same classes");
                check.relative("divergence", value, expected, RELATIVE);
            }
        }
        for Delta { epsilon, forward, reverse } in expected.hockey_stick {
            let epsilon = Epsilon::new(epsilon).expect("a table's epsilon is not negative");
            for (p, q, expected) in [(&p, &q, forward), (&q, &p, reverse)] {
                let value = hockey_stick(p, q, epsilon).expect("the distributions have the same classes");
                let tolerance = RELATIVE * expected.value + condition(p, q, epsilon);
                check.absolute("delta (absolute)", value, expected, tolerance.max(f64::MIN_POSITIVE));
            }
        }
    }
}
