//! The exponential mechanism and permute-and-flip: probabilities and divergences.

use super::Decimal;
use super::check::TableCheck;
use super::pairs::{Delta, Divergence, RELATIVE};
use leakbound::Result;
use leakbound::distribution::{OutputPair, exponential_distribution, permute_and_flip_distribution};
use leakbound::histogram::VoteHistogram;
use leakbound::quantity::NoiseScale;
use serde::Deserialize;

const PROBABILITY: f64 = 1e-13;

#[derive(Deserialize)]
pub(super) struct Entry {
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
    scale: NoiseScale,
    histogram: VoteHistogram,
    neighbor: VoteHistogram,
}

#[derive(Deserialize)]
struct Expected {
    p: Vec<Decimal>,
    divergences: Vec<Divergence>,
    hockey_stick: Vec<Delta>,
}

pub(super) fn compare(check: &mut TableCheck, Entry { kind, inputs, expected }: Entry) -> Result<()> {
    let Inputs { scale, histogram, neighbor } = inputs;
    check.begin(format!("{kind:?} {histogram} {neighbor} scale {scale}"));
    let distribution = |histogram: &VoteHistogram| match kind {
        Rule::Exponential => exponential_distribution(histogram, scale),
        Rule::PermuteAndFlip => permute_and_flip_distribution(histogram, scale),
    };
    let pair = OutputPair::new(distribution(&histogram)?, distribution(&neighbor)?)?;
    for (value, expected) in pair.dataset().p().iter().zip(expected.p) {
        check.relative("probability", *value, expected, PROBABILITY);
    }
    for row in expected.divergences {
        for (direction, expected) in row.both() {
            check.relative("divergence", pair.renyi(direction, row.order), expected, RELATIVE);
        }
    }
    expected.hockey_stick.iter().for_each(|row| row.compare(check, &pair));
    Ok(())
}
