//! Two distributions given by the user.

use super::binned::record;
use super::draw::pick;
use super::one_by_one::one_by_one;
use super::{
    Bins, BothLosses, DataKind, LargestLoss, Mechanism, MechanismKind, Parameter, Parameters, draw, rejected, required,
};
use crate::accountant::{Statement, Theorem, WorstCases};
use crate::bound::Direction;
use crate::distribution::{OutcomeDistribution, OutputPair};
use crate::error::Result;
use crate::histogram::VoteHistogram;
use crate::quantity::Delta;
use crate::simulate::Sampler;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// The largest number of outputs of a list.
const MOST_OUTPUTS: usize = 10_000;

/// A mechanism given by the probabilities of its outputs without and with a record.
///
/// Both lists must sum to 1 within 1e-9, and are divided by their sums: the mechanism has the resulting probabilities.
/// Probabilities of 0 are allowed. If only one list has one, the losses are infinite, and so are Rényi divergences.
///
/// Its theorem is the divergence itself, in each direction, rounded up: [`OutputPair::renyi_up`].
///
/// ```
/// # use leakbound::bound::Direction;
/// # use leakbound::mechanism::{Categorical, parse};
/// # use leakbound::quantity::Order;
/// let mechanism = Categorical::new(vec![0.5, 0.3, 0.2], vec![0.2, 0.3, 0.5])?;
/// let bound = mechanism.theorem().at(Order::new(2.0)?, Direction::Forward).unwrap().value;
/// let exact = (0.25f64 / 0.2 + 0.3 + 0.04 / 0.5).ln();
/// assert!(exact <= bound && bound < exact * (1.0 + 1e-12));
/// assert_eq!(parse("categorical:p=0.5/0.3/0.2,q=0.2/0.3/0.5")?.downcast::<Categorical>(), Some(&mechanism));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    /// As given, without the record and with it.
    given: [Vec<f64>; 2],
    outputs: Arc<OutputPair>,
}

/// An output of the distribution `p`, or, with the record, of `q`.
pub const CATEGORICAL: &MechanismKind = &MechanismKind {
    name: "categorical",
    example: "categorical:p=0.5/0.3/0.2,q=0.2/0.3/0.5",
    data: DataKind::OneRecord,
    parameters: &[Parameter::list("p"), Parameter::list("q")],
    releases: Some(
        "an output of your own mechanism: `p` and `q` list the probabilities of all outputs, without the record and \
         with it, in JSON as arrays; each list has a sum of 1 within 1e-9",
    ),
    theorems: &[&ITSELF],
    // There is no noise.
    noise_hides: false,
    read: |parameters| {
        let list = |name: &str| parameters.list(name).map(<[f64]>::to_vec);
        Ok(Arc::new(Categorical::new(list("p")?, list("q")?)?))
    },
    draw_data: draw::no_record,
    draw: |stream, _| Some(Arc::new(Categorical::drawn(stream)?)),
};

static ITSELF: Statement = Statement::for_any_data(
    "categorical",
    "a mechanism of your own with few outputs, whose probabilities you know",
    "Rényi (1961), the divergence of the two lists itself, rounded up",
);

impl Categorical {
    /// From the probabilities of every output without the record and with it.
    ///
    /// # Errors
    /// [`Error::Rejected`](crate::Error::Rejected) for lists of different lengths, for no output or more than 10,000,
    /// for a probability outside [0, 1] and for a sum that is not 1 within 1e-9.
    pub fn new(p: Vec<f64>, q: Vec<f64>) -> Result<Self> {
        required(p.len() == q.len(), format_args!("p has {} outputs and q has {}", p.len(), q.len()))?;
        required(p.len() <= MOST_OUTPUTS, format_args!("p has {} outputs; {MOST_OUTPUTS} are the most", p.len()))?;
        let distribution = |name: &str, list: &[f64]| {
            OutcomeDistribution::from_probabilities(list).map_err(|error| rejected(format!("{name}: {error}")))
        };
        let outputs = OutputPair::new(distribution("p", &p)?, distribution("q", &q)?)?;
        Ok(Self { given: [p, q], outputs: Arc::new(outputs) })
    }

    /// Few outputs: equal, close, rare or impossible.
    fn drawn(stream: &mut ChaCha8Rng) -> Option<Self> {
        let outcomes = *pick(stream, &[2, 2, 3, 3, 4, 6]);
        let power = *pick(stream, &[1, 1, 4, 12]);
        let p = weights(stream, outcomes, power);
        let mut q = weights(stream, outcomes, power);
        match stream.random_range(0..6u32) {
            // Close to p.
            0 | 1 => {
                let near = draw::between(stream, 1e-6, 0.5);
                q.iter_mut().zip(&p).for_each(|(q, p)| *q = p * (1.0 + near * (*q - 0.5)));
            }
            // Reversed.
            2 => q = p.iter().rev().copied().collect(),
            _ => {}
        }
        let mut lists = [p, q];
        for list in &mut lists {
            if stream.random_bool(0.05) {
                let place = stream.random_range(0..outcomes);
                list[place] = 0.0;
            }
            let total: f64 = list.iter().sum();
            list.iter_mut().for_each(|weight| *weight /= total);
        }
        let [p, q] = lists;
        Self::new(p, q).ok()
    }

    /// The divergence in each direction.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        self.theorem_from(0)
    }

    /// The same, forward from the data with this number of records.
    fn theorem_from(&self, records: usize) -> Theorem {
        let outputs = Arc::clone(&self.outputs);
        Theorem::new(&ITSELF, move |order, direction| {
            outputs.renyi_up(Direction::BOTH[direction as usize ^ records], order)
        })
    }

    fn outputs(&self, data: &VoteHistogram) -> Result<OutcomeDistribution> {
        Ok(if record(data)? == 0 { self.outputs.dataset().clone() } else { self.outputs.neighbor().clone() })
    }
}

fn weights(stream: &mut ChaCha8Rng, outcomes: usize, power: i32) -> Vec<f64> {
    (0..outcomes).map(|_| (1.0 - stream.random::<f64>()).powi(power)).collect()
}

impl Mechanism for Categorical {
    fn kind(&self) -> &'static MechanismKind {
        CATEGORICAL
    }

    fn parameters(&self) -> Parameters {
        let [p, q] = &self.given;
        Parameters::default().with_list("p", p).with_list("q", q)
    }

    fn theorems_for(&self, data: &VoteHistogram, _: &WorstCases) -> Vec<Theorem> {
        record(data).map(|records| self.theorem_from(records)).into_iter().collect()
    }

    fn largest_loss(&self, _: &VoteHistogram) -> LargestLoss {
        let none = Delta::new(0.0).map(|none| {
            let [forward, reverse] =
                Direction::BOTH.map(|direction| self.outputs.exact_epsilon(direction, none).at_most());
            LargestLoss::of(forward.max(reverse).get())
        });
        none.unwrap_or(LargestLoss::Unknown)
    }

    fn output_distribution(&self, data: &VoteHistogram, _: Bins) -> Result<OutcomeDistribution> {
        self.outputs(data)
    }

    fn sampler(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: Bins) -> Result<Box<dyn Sampler>> {
        let worlds = [record(data)?, record(neighbor)?];
        let lists = worlds.map(|world| self.given[world].clone());
        let totals = lists.each_ref().map(|list| list.iter().sum::<f64>());
        // A number below the sum of the probabilities, and the output at which the cumulative sum reaches it.
        Ok(one_by_one(lists[0].len(), move |world, stream| {
            let mut left = stream.random::<f64>() * totals[world.index()];
            let mut output = 0;
            for (place, &p) in lists[world.index()].iter().enumerate().filter(|(_, p)| **p > 0.0) {
                output = place;
                left -= p;
                if left < 0.0 {
                    break;
                }
            }
            output
        }))
    }

    fn enclosed_losses(&self, data: &VoteHistogram, neighbor: &VoteHistogram, _: usize) -> Result<BothLosses> {
        (self as &dyn Mechanism).known_losses(data, neighbor)
    }

    /// Two outputs reported as one, and rounder probabilities.
    fn simpler(&self) -> Vec<Arc<dyn Mechanism>> {
        let [p, q] = &self.given;
        let mut all = Vec::new();
        let mut push = |p: Option<Vec<f64>>, q: Option<Vec<f64>>| {
            if let (Some(p), Some(q)) = (p, q)
                && let Ok(mechanism) = Self::new(p, q)
            {
                all.push(Arc::new(mechanism) as _);
            }
        };
        for first in 0..p.len().saturating_sub(1).min(MOST_MERGES) {
            push(Some(merged(p, first)), Some(merged(q, first)));
        }
        for digits in [1, 2, 3] {
            push(rounded(p, digits), Some(q.clone()));
            push(Some(p.clone()), rounded(q, digits));
            push(rounded(p, digits), rounded(q, digits));
        }
        all
    }
}

/// The largest number of pairs of outputs that are merged on trial.
const MOST_MERGES: usize = 12;

/// An output and the next one, merged.
fn merged(list: &[f64], first: usize) -> Vec<f64> {
    let mut fewer = list.to_vec();
    fewer[first] += fewer.remove(first + 1);
    fewer[first] = fewer[first].min(1.0);
    fewer
}

/// This many decimals each, the last one the remainder; `None` if that is below 0.
fn rounded(list: &[f64], digits: i32) -> Option<Vec<f64>> {
    let unit = 10f64.powi(digits);
    let mut whole: Vec<f64> = list.iter().map(|p| (p * unit).round()).collect();
    let last = whole.pop()?;
    let left = unit - whole.iter().sum::<f64>();
    whole.push(if left >= 0.0 { left } else { last });
    (left >= 0.0).then(|| whole.into_iter().map(|count| count / unit).collect())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::quantity::{Delta, Epsilon, Order};

    #[test]
    fn lists_that_are_no_distributions_are_rejected_in_one_line() {
        for (text, words) in [
            ("categorical:p=0.5/0.5", "q is missing"),
            ("categorical:p=0.5/0.5,q=0.2/0.3/0.5", "p has 2 outputs and q has 3"),
            ("categorical:p=0.5/0.4,q=0.5/0.5", "p: sum of probabilities = 0.9 is not in [1 - 1e-9, 1 + 1e-9]"),
            ("categorical:p=1.5/-0.5,q=0.5/0.5", "p: probability = 1.5 is not in [0, 1]"),
            ("categorical:p=0.5//0.5,q=0.5/0.5/0", "p: `0.5//0.5` is not a list of numbers, such as 0.5/0.5"),
            ("categorical:p=nan/1,q=0.5/0.5", "p: probability = NaN is not in [0, 1]"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
    }

    /// A list of one output reveals nothing; an output that is impossible on one side reveals everything.
    #[test]
    fn extreme_lists() {
        let [without, with] = [vec![0], vec![1]].map(|count| VoteHistogram::new(count).unwrap());
        let order = Order::new(2.0).unwrap();
        let bound = |text: &str, data: &VoteHistogram, direction: Direction| {
            let theorems = parse(text).unwrap().theorems_for(data, &WorstCases::default());
            theorems[0].at(order, direction).unwrap().value
        };
        assert!(bound("categorical:p=1,q=1", &without, Direction::Forward) < 1e-14);
        let text = "categorical:p=0.9/0.1,q=1/0";
        assert_eq!(bound(text, &without, Direction::Forward), f64::INFINITY);
        let expected = (1.0f64 / 0.9).ln();
        let found = bound(text, &without, Direction::Reverse);
        assert!(found >= expected && found < expected * (1.0 + 1e-12), "{found}");
        // Forward is from the given data.
        assert_eq!(bound(text, &with, Direction::Forward), found);
        let [forward, reverse] = parse(text).unwrap().enclosed_losses(&without, &with, 10).unwrap();
        assert!(forward.at_most.largest() == f64::INFINITY && (forward.at_least.infinite() - 0.1).abs() < 1e-15);
        assert_eq!(reverse.at_most.infinite(), 0.0);
        let pair = parse(text).unwrap().output_pair(&without, &with, Bins::at(None)).unwrap();
        assert_eq!(pair.epsilon(Direction::Forward, Delta::new(0.05).unwrap()), Epsilon::INFINITE);
    }
}
