//! A pair and a set of outputs that refute a claim.

use crate::audit::Rectangle;
use crate::black_box::{Aim, Dataset, Event, Pair};
use crate::bound::Direction;
use crate::interval::BinomialCounts;
use crate::quantity::FailureProbability;
use crate::study::claim::Claim;
use crate::study::number::Number;
use serde::Serialize;

/// The smallest failure probability that is looked at.
const SMALLEST: f64 = 1e-300;

/// What refutes a claim: two neighbors, and a set of outputs that is too much likelier under one of them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterexampleFound {
    /// The claim.
    pub claim: String,
    /// The dataset.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub dataset: Dataset,
    /// Its neighbor.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub neighbor: Dataset,
    /// The set of outputs in words.
    pub event: String,
    /// The set of outputs for a program.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub predicate: Event,
    /// Outputs of the dataset in the set.
    pub inside: u64,
    /// Outputs of the dataset.
    pub outputs: u64,
    /// Outputs of the neighbor in the set.
    pub inside_neighbor: u64,
    /// Outputs of the neighbor.
    pub outputs_neighbor: u64,
    /// The smallest failure probability at which this refutes the claim; none where these counts alone do not.
    pub p_value: Option<Number>,
}

impl CounterexampleFound {
    /// From fresh counts of the outcomes of the event's witness, or from those of a search whose evidence is known.
    pub(super) fn new(
        pair: &Pair,
        event: &Event,
        aim: Aim,
        counts: &[Vec<u64>; 2],
        claim: &Claim,
        log_evidence: Option<f64>,
    ) -> Self {
        let inside = [0, 1].map(|world| event.inside(&counts[world]));
        let outputs = [0, 1].map(|world| counts[world].iter().sum::<u64>());
        let p_value = match log_evidence {
            Some(log_evidence) => Some(libm::exp(-log_evidence).min(1.0)),
            None => p_value(event, aim, inside, outputs),
        };
        Self {
            claim: claim.claim.clone(),
            dataset: pair.dataset.clone(),
            neighbor: pair.neighbor.clone(),
            event: event.to_string(),
            predicate: event.clone(),
            inside: inside[0],
            outputs: outputs[0],
            inside_neighbor: inside[1],
            outputs_neighbor: outputs[1],
            p_value: p_value.map(Number),
        }
    }
}

/// The smallest failure probability at which the limits of both probabilities contradict the claim.
fn p_value(event: &Event, aim: Aim, inside: [u64; 2], outputs: [u64; 2]) -> Option<f64> {
    let direction = event.direction();
    let worlds = match direction {
        Direction::Forward => [0, 1],
        Direction::Reverse => [1, 0],
    };
    let [p, q] = worlds.map(|world| BinomialCounts::new(inside[world], outputs[world]).ok());
    let (p, q) = (p?, q?);
    let refutes = |log: f64| {
        let failure = FailureProbability::new(libm::exp(log)).ok();
        let Some(rectangle) = failure.and_then(|failure| Rectangle::two_tails(p, q, failure).ok()) else {
            return false;
        };
        match aim {
            Aim::Epsilon(delta, claimed) => rectangle.epsilon(delta, Direction::Forward).value > claimed,
            Aim::Rdp(order, claimed) => {
                Direction::BOTH.into_iter().any(|direction| rectangle.corner(order, direction).value > claimed)
            }
            Aim::Mu(claimed) => rectangle.gdp().value > claimed,
        }
    };
    let (mut low, mut high) = (SMALLEST.ln(), 0.5f64.ln());
    if !refutes(high) {
        return None;
    }
    if refutes(low) {
        return Some(SMALLEST);
    }
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if refutes(middle) { high = middle } else { low = middle }
    }
    Some(libm::exp(high))
}
