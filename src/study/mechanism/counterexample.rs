//! A pair and a set of outputs that refute a claim.

use crate::audit::Rectangle;
use crate::black_box::{Aim, Bar, Dataset, Event, Output, Pair, PairCounterexample, RecordedClaim, picture};
use crate::bound::{Claimed, Direction};
use crate::interval::BinomialCounts;
use crate::quantity::FailureProbability;
use crate::study::number::{Number, significant};
use serde::Serialize;

/// The smallest failure probability that is tried.
const SMALLEST: f64 = 1e-300;
/// A set is rare where a smaller share than this of the outputs of each dataset is in it.
const RARE: f64 = 0.05;

/// What refutes a claim: two neighbors, and a set of outputs whose probability under one is too large for the claim.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterexampleFound {
    /// The claim in words.
    pub claim: String,
    /// The claim.
    pub claimed: RecordedClaim,
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
    /// The smallest failure probability at which this refutes the claim; none if these counts alone do not.
    pub p_value: Option<Number>,
    /// Whether it was shrunk, then confirmed on fresh outputs.
    pub shrunk: bool,
    /// Outputs of both for a figure: those of the test if it was shrunk, otherwise those of the search that chose the
    /// event.
    pub bars: Vec<EventBar>,
}

/// Outputs that a figure shows as one bar: a value, or a bin of the number that the event looks at.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventBar {
    /// The outputs in words; for a bin, where it begins.
    pub outcome: String,
    /// Where a bin begins.
    pub low: Option<Number>,
    /// Outputs of the dataset.
    pub count: u64,
    /// Outputs of its neighbor.
    pub count_neighbor: u64,
    /// Whether they lie in the event.
    pub inside: bool,
}

impl EventBar {
    fn new(bar: Bar) -> Self {
        let outcome = bar.low.map_or(bar.label, |low| significant(low, 3));
        let [count, count_neighbor] = bar.counts;
        Self { outcome, low: bar.low.map(Number), count, count_neighbor, inside: bar.inside }
    }
}

impl CounterexampleFound {
    /// From counts of outputs that had no part in choosing the event.
    pub(super) fn new(
        pair: &Pair,
        event: &Event,
        aim: Aim,
        inside: [u64; 2],
        outputs: [u64; 2],
        claim: String,
    ) -> Self {
        Self {
            claim,
            claimed: RecordedClaim::of(aim),
            dataset: pair.dataset.clone(),
            neighbor: pair.neighbor.clone(),
            event: event.to_string(),
            predicate: event.clone(),
            inside: inside[0],
            outputs: outputs[0],
            inside_neighbor: inside[1],
            outputs_neighbor: outputs[1],
            p_value: p_value(event, aim, inside, outputs).map(Number),
            shrunk: false,
            bars: [("in the event", true), ("outside", false)]
                .map(|(outcome, inside_event)| {
                    let count =
                        |world: usize| if inside_event { inside[world] } else { outputs[world] - inside[world] };
                    let (outcome, low) = (outcome.to_owned(), None);
                    EventBar { outcome, low, count: count(0), count_neighbor: count(1), inside: inside_event }
                })
                .into(),
        }
    }

    /// The p-value; 1 if these counts alone refute nothing.
    pub(super) fn p_value_or_one(&self) -> f64 {
        self.p_value.map_or(1.0, |p| p.0)
    }

    /// With these outputs in its figure.
    pub(super) fn drawn(mut self, worlds: [&[Output]; 2]) -> Self {
        self.bars = picture(&self.predicate, worlds).into_iter().map(EventBar::new).collect();
        self
    }

    /// Whether the set depends on the binary representation of numbers, and not on their size.
    #[must_use]
    pub fn is_of_bits(&self) -> bool {
        self.predicate.is_of_bits()
    }

    /// Whether few outputs of either dataset are in the set.
    #[must_use]
    pub fn is_rare(&self) -> bool {
        let worlds = [(self.inside, self.outputs), (self.inside_neighbor, self.outputs_neighbor)];
        worlds.into_iter().all(|(inside, outputs)| (inside as f64) < RARE * outputs as f64)
    }

    /// To be kept.
    #[must_use]
    pub fn recorded(&self) -> PairCounterexample {
        PairCounterexample {
            dataset: self.dataset.clone(),
            neighbor: self.neighbor.clone(),
            claim: self.claimed,
            event: self.event.clone(),
            predicate: self.predicate.clone(),
            dataset_counts: [self.inside, self.outputs],
            neighbor_counts: [self.inside_neighbor, self.outputs_neighbor],
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
        let (lower, claimed) = match aim {
            Aim::Epsilon(delta, claimed) => (rectangle.epsilon(delta, Direction::Forward).at_least(), claimed),
            Aim::Rdp(order, claimed) => {
                let [forward, reverse] = Direction::BOTH.map(|direction| rectangle.corner(order, direction).at_least());
                (forward.max(reverse), claimed)
            }
            Aim::Mu(claimed) => (rectangle.gdp().at_least(), claimed),
        };
        Claimed::new(claimed).is_ok_and(|claimed| lower.refutes(claimed))
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
