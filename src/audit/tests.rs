//! Building blocks for tests of this room.

use crate::counts::PairedCounts;
use crate::distribution::OutcomeDistribution;
use crate::interval::BinomialCounts;
use crate::quantity::{FailureProbability, Order};

/// Argmax of votes 14, 12, 10, 8, 6 and 13, 13, 10, 8, 6 with noise 2, rounded.
pub(super) const FIG6: [[f64; 5]; 2] = [
    [0.725_072_6, 0.222_155_5, 0.046_394_1, 0.005_950_1, 0.000_427_7],
    [0.469_361_7, 0.469_361_7, 0.053_740_4, 0.007_023_5, 0.000_512_7],
];
/// Argmax of votes 90, 88, 40, 20, 12 and 89, 89, 40, 20, 12 with noise 40, rounded.
pub(super) const LOW: [[f64; 5]; 2] =
    [[0.449_758, 0.423_810, 0.075_764, 0.030_373, 0.020_295], [0.436_762, 0.436_761, 0.075_790, 0.030_384, 0.020_303]];

pub(super) fn order(a: f64) -> Order {
    Order::new(a).unwrap()
}

pub(super) fn failure(f: f64) -> FailureProbability {
    FailureProbability::new(f).unwrap()
}

pub(super) fn distribution(p: &[f64]) -> OutcomeDistribution {
    OutcomeDistribution::from_probabilities(p).unwrap()
}

pub(super) fn binomial(successes: u64, trials: u64) -> BinomialCounts {
    BinomialCounts::new(successes, trials).unwrap()
}

/// Counts of outcomes that are named by their numbers.
pub(super) fn counts(counts: Vec<u64>, neighbor: Vec<u64>) -> PairedCounts {
    PairedCounts::new((0..counts.len()).map(|outcome| outcome.to_string()).collect(), counts, neighbor).unwrap()
}

/// A bound is wrong in no more runs than its failure probability allows, plus this many standard errors.
pub(super) fn assert_rarely_wrong(wrong: usize, runs: usize, failure: f64, errors: f64) {
    let expected = runs as f64 * failure;
    println!("{wrong} of {runs}");
    assert!((wrong as f64) < expected + errors * (expected * (1.0 - failure)).sqrt(), "{wrong} of {runs}");
}
