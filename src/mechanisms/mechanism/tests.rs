//! Helpers shared by tests of several mechanisms.

use super::{Bins, parse};
use crate::distribution::OutputPair;
use crate::divergence::{ComposedDirection, EnclosedLoss, PrivacyLoss};
use crate::histogram::VoteHistogram;
use crate::quantity::{Delta, Epsilon, Order};

/// No record, and one.
pub(super) fn records() -> [VoteHistogram; 2] {
    [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap())
}

/// A vote for either of two classes.
pub(super) fn either_vote() -> [VoteHistogram; 2] {
    [vec![1, 0], vec![0, 1]].map(|votes| VoteHistogram::new(votes).unwrap())
}

/// The outputs of a mechanism without a record and with one.
pub(super) fn pair(text: &str, order: Option<Order>) -> OutputPair {
    let [without, with] = records();
    parse(text).unwrap().output_pair(&without, &with, Bins::at(order)).unwrap()
}

/// ε at δ of a loss composed this many times, from below and from above.
pub(super) fn epsilons(loss: EnclosedLoss, times: u64, delta: Delta) -> [f64; 2] {
    let of = |loss: PrivacyLoss| ComposedDirection::of_known(&[(loss, times)], delta, 1e-3).unwrap().epsilon(delta);
    [of(loss.at_least).lower, of(loss.at_most).upper]
}

/// δ at ε of a loss composed this many times, from below and from above, if it is not much below `least`.
pub(super) fn deltas(loss: EnclosedLoss, times: u64, least: f64, epsilon: f64) -> [f64; 2] {
    let (least, epsilon) = (Delta::new(least).unwrap(), Epsilon::new(epsilon).unwrap());
    let of = |loss: PrivacyLoss| ComposedDirection::of_known(&[(loss, times)], least, 1e-4).unwrap().delta(epsilon);
    [of(loss.at_least).lower, of(loss.at_most).upper]
}
