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

#[test]
fn a_scale_of_noise_may_be_called_so() {
    for (text, written) in [
        ("laplace:scale=2", "laplace:sigma=2"),
        ("poisson:rate=0.1,of=[laplace:scale=2]", "poisson:rate=0.1,of=[laplace:sigma=2]"),
    ] {
        assert_eq!(super::parse(text).unwrap().to_string(), written);
    }
    assert!(super::parse("laplace:scale=2,sigma=2").unwrap_err().to_string().ends_with("sigma comes twice"));
    assert_eq!(super::NoiseFamily::parse("laplace:scale=?").unwrap().at(2.0).unwrap().to_string(), "laplace:sigma=2");
}
