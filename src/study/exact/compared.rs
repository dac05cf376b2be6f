//! Quantities of the outputs of a mechanism under a dataset and a neighbor, and their suprema over neighbors.

use crate::bound::{AtLeast, Direction, Exact};
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::divergence::LEAST_ERROR;
use crate::error::{Error, Result};
use crate::histogram::{Neighbor, VoteHistogram};
use crate::mechanism::{Bins, Mechanism, NoisyArgmax};
use crate::quantity::{Delta, Epsilon, Order, Probability};
use crate::study::claim::Quantity;

/// A quantity that has a value in each direction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Renyi(Order),
    Delta(Epsilon),
    Epsilon(Delta),
    TruePositiveRate(Probability),
}

/// A mechanism on a dataset, and the ways in which its outputs are cut into bins: real numbers into bins that resolve a
/// Rényi order, one way for each order, and all other outputs in one way.
pub(super) struct Outputs<'a> {
    mechanism: &'a dyn Mechanism,
    histogram: &'a VoteHistogram,
    orders: Vec<Option<Order>>,
    /// By order.
    dataset: Vec<OutcomeDistribution>,
}

impl<'a> Outputs<'a> {
    pub(super) fn new(
        mechanism: &'a dyn Mechanism,
        histogram: &'a VoteHistogram,
        wanted: impl Iterator<Item = Order>,
    ) -> Result<Self> {
        let mut outputs = Self { mechanism, histogram, orders: vec![None], dataset: Vec::new() };
        // Its distribution takes the longest to compute.
        if mechanism.downcast::<NoisyArgmax>().is_none() && mechanism.is_cut(histogram)? {
            for order in wanted.map(Some) {
                if !outputs.orders.contains(&order) {
                    outputs.orders.push(order);
                }
            }
        }
        outputs.dataset = outputs.distributions(histogram)?;
        Ok(outputs)
    }

    /// Whether outputs are real numbers.
    pub(super) fn are_cut(&self) -> bool {
        self.orders.len() > 1
    }

    fn distributions(&self, data: &VoteHistogram) -> Result<Vec<OutcomeDistribution>> {
        self.orders.iter().map(|&order| self.mechanism.output_distribution(data, Bins::at(order))).collect()
    }

    /// With this neighbor.
    pub(super) fn against(&self, neighbor: &VoteHistogram) -> Result<Compared<'_>> {
        if neighbor.classes() != self.histogram.classes() {
            return Err(Error::Length {
                quantity: "histogram of the neighbor",
                found: neighbor.classes(),
                expected: format!("{} classes, as the other histogram", self.histogram.classes()),
            });
        }
        let both = self.dataset.iter().cloned().zip(self.distributions(neighbor)?);
        let pairs = both.map(|(dataset, neighbor)| OutputPair::new(dataset, neighbor)).collect::<Result<_>>()?;
        Ok(Compared { orders: &self.orders, pairs })
    }
}

/// The outputs under a dataset and under its neighbor.
pub(super) struct Compared<'a> {
    orders: &'a [Option<Order>],
    /// By order.
    pairs: Vec<OutputPair>,
}

impl Compared<'_> {
    /// The pair for all that has no order.
    pub(super) fn pair(&self) -> &OutputPair {
        &self.pairs[0]
    }

    fn of_order(&self, order: Order) -> &OutputPair {
        let place = self.orders.iter().position(|&known| known == Some(order));
        &self.pairs[place.unwrap_or(0)]
    }

    /// The largest relative error of a probability.
    pub(super) fn error(&self) -> f64 {
        self.pairs.iter().map(OutputPair::error).fold(0.0, f64::max)
    }

    /// Quantities, forward and reverse.
    pub(super) fn values(&self, wanted: &[Wanted]) -> Vec<[Exact; 2]> {
        let power = Direction::BOTH.map(|direction| self.pair().test_power(direction));
        // Both rates of a test are off by the errors of their outcomes, and the curve is concave.
        let share = 4.0 * self.pair().error().max(LEAST_ERROR);
        let value = |wanted, direction: Direction| match wanted {
            Wanted::Renyi(order) => self.of_order(order).exact_renyi(direction, order),
            Wanted::Delta(epsilon) => {
                let value = self.pair().delta(direction, epsilon);
                Exact { value, error: value - self.pair().delta_at_least(direction, epsilon).get() }
            }
            Wanted::Epsilon(delta) => self.pair().exact_epsilon(direction, delta),
            Wanted::TruePositiveRate(rate) => {
                let value = power[direction as usize].at(rate);
                Exact { value, error: share * value }
            }
        };
        wanted.iter().map(|&wanted| Direction::BOTH.map(|direction| value(wanted, direction))).collect()
    }

    /// A lower bound of a claimed quantity, the larger of both directions.
    pub(super) fn claimed(&self, quantity: Quantity) -> AtLeast {
        let [forward, reverse] = Direction::BOTH.map(|direction| match quantity {
            Quantity::Rdp(order) => self.of_order(order).renyi_at_least(direction, order),
            Quantity::Epsilon(delta) => self.pair().epsilon_at_least(direction, delta),
            Quantity::Mu => self.pair().mu_at_least(),
        });
        forward.max(reverse)
    }
}

/// The largest value of each quantity in each direction, with the first change that attains it; there is a change, and
/// `values` are by change and quantity.
pub(super) fn suprema(changes: &[Neighbor], values: &[Vec<[Exact; 2]>]) -> Vec<[(Exact, Neighbor); 2]> {
    let supremum = |quantity: usize| {
        Direction::BOTH.map(|direction| {
            let at = |change: usize| values[change][quantity][direction as usize];
            let larger = |best, change| if at(change).value > at(best).value { change } else { best };
            let best = (1..changes.len()).fold(0, larger);
            (at(best), changes[best])
        })
    };
    (0..values[0].len()).map(supremum).collect()
}
