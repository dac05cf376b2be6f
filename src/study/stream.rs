//! Lower bounds from a stream of outputs, valid at any time.

use super::Warning;
use super::bounds::usual_failure;
use super::claim::{Claim, epsilon_words, rdp_words, with_claimed};
use super::number::Number;
use super::rows::BoundRow;
use crate::audit::{BinRule, EProcess, OutputBins, PairStream, StreamBins, StreamCounts};
use crate::bound::{AtLeast, Claimed, Direction};
use crate::error::Result;
use crate::quantity::{Delta, Epsilon, FailureProbability, Order};
use crate::record::OutcomeNames;
use serde::Serialize;

/// Claims are tested each time the pairs have grown by one part in this many.
const LOOKS: u64 = 16;

/// Outputs of the pilot for each bin, unless another number is set.
const PILOT_PER_BIN: u64 = 20;

/// What does a stream of outputs prove so far?
///
/// The bounds hold at all times simultaneously, so outputs are counted one by one and the stream may end as soon as a
/// claim is refuted. This is why it is not a [`Study`](super::Study), which has all of its data when it runs:
/// [`start`](Self::start) gives counts, [`StreamCounts::push`] counts an output, [`is_refuted`](Self::is_refuted) tests
/// the claims, and [`finish`](Self::finish) gives the answer, as often as you want it.
///
/// Every order, and the claimed ε, in every direction has an equal share of the failure probability. Fix all of these
/// settings before the first output is seen.
///
/// ```
/// # use leakbound::audit::{OutputWorld, StreamOutput};
/// # use leakbound::bound::Claimed;
/// # use leakbound::prelude::*;
/// # use leakbound::study::StreamStudy;
/// let claim_rdp = vec![(Order::new(2.0)?, Claimed::new(0.01)?)];
/// let study = StreamStudy { claim_rdp, ..StreamStudy::default() };
/// let mut counts = study.start()?;
/// // "Yes" is outcome 1: in 80 % of the outputs of the dataset and in 50 % of those of its neighbor.
/// for i in 0..2_000 {
///     counts.push(OutputWorld::Dataset, StreamOutput::Outcome(usize::from(i % 10 < 8)))?;
///     counts.push(OutputWorld::Neighbor, StreamOutput::Outcome(i % 2))?;
/// }
/// assert!(study.is_refuted(&counts));
/// let answer = study.finish(&counts, 2, None);
/// // The divergence is 0.31.
/// assert!(answer.bounds[0].rdp_lower.0 > 0.2 && answer.bounds[0].rdp_lower.0 < 0.31);
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StreamStudy {
    /// Rényi orders; those of the claims are added, and without either the order is 2.
    pub orders: Vec<Order>,
    /// Directions of the divergences.
    pub directions: Vec<Direction>,
    /// The probability that any bound or refutation is ever wrong.
    pub failure_probability: FailureProbability,
    /// Claim: one output is (ε, δ)-differentially private.
    pub claim_epsilon: Option<(Epsilon, Delta)>,
    /// Claims: the Rényi divergence of one output at an order is at most a value.
    pub claim_rdp: Vec<(Order, Claimed)>,
    /// Pairs of outputs for which the bets are optimized; bounds are valid everywhere.
    pub horizon: Option<u64>,
    /// Bins, if outputs are numbers.
    pub bins: Option<BinRule>,
    /// Outputs of both worlds together that choose quantile bins; if none, 20 for each bin.
    pub pilot_outputs: Option<u64>,
    /// The seed that pairs outputs.
    pub seed: u64,
}

impl Default for StreamStudy {
    /// Both directions with a failure probability of 0.05, without orders and claims: the order is 2.
    fn default() -> Self {
        Self {
            orders: Vec::new(),
            directions: Direction::BOTH.to_vec(),
            failure_probability: usual_failure(),
            claim_epsilon: None,
            claim_rdp: Vec::new(),
            horizon: None,
            bins: None,
            pilot_outputs: None,
            seed: 0,
        }
    }
}

/// The bins of a stream of numbers, and the first outputs that chose them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamBinsRow {
    /// Outputs of the dataset that chose the bins and are not bounded.
    pub pilot_outputs: u64,
    /// Those of its neighbor.
    pub pilot_outputs_neighbor: u64,
    /// The bins as intervals, from below; none while the pilot lasts.
    pub labels: Vec<String>,
}

/// The answer of a [`StreamStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamAnswer {
    /// Outputs of the dataset so far, those of earlier runs included.
    pub outputs: u64,
    /// Outputs of its neighbor so far.
    pub outputs_neighbor: u64,
    /// Pairs made of them.
    pub pairs: u64,
    /// Different outcomes so far, or bins.
    pub outcomes: usize,
    /// Bins of outputs that are numbers.
    pub bins: Option<StreamBinsRow>,
    /// The line after which a claim was refuted and reading stopped.
    pub stopped_at_line: Option<u64>,
    /// Rényi bounds.
    pub bounds: Vec<BoundRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(StreamAnswer, "leakbound.audit-stream/1", claims, warnings);

impl StreamStudy {
    /// Counts without any output.
    ///
    /// # Errors
    /// Those of [`EProcess::with_horizon`] and [`StreamBins::new`].
    pub fn start(&self) -> Result<StreamCounts> {
        let process = EProcess::new(OutcomeNames::MOST)?;
        let process = match self.horizon {
            Some(pairs) => process.with_horizon(pairs)?,
            None => process,
        };
        let bins = match &self.bins {
            Some(BinRule::Quantiles(bins)) => {
                let pilot = self.pilot_outputs.unwrap_or(PILOT_PER_BIN * *bins as u64);
                Some(StreamBins::new(*bins, pilot)?)
            }
            Some(BinRule::Edges(bins)) => Some(StreamBins::declared(bins.clone())),
            None => None,
        };
        Ok(StreamCounts { outputs: [0, 0], bins, pairs: PairStream::new(process, self.seed) })
    }

    /// Whether a claim is refuted by the outputs so far.
    #[must_use]
    pub fn is_refuted(&self, counts: &StreamCounts) -> bool {
        self.refuted(counts.pairs.process()).contains(&true)
    }

    /// The same after each output of a long stream: claims are tested at `next_look` pairs, which is then raised by
    /// about 6%.
    pub fn look(&self, counts: &StreamCounts, next_look: &mut u64) -> bool {
        let pairs = counts.pairs.process().pairs();
        // Without a claim there is nothing to stop for.
        if pairs < *next_look || self.claim_epsilon.is_none() && self.claim_rdp.is_empty() {
            return false;
        }
        *next_look = pairs + (pairs / LOOKS).max(1);
        self.is_refuted(counts)
    }

    /// The answer so far, for outputs with this many different outcomes; the number is not used if outputs are in bins.
    #[must_use]
    pub fn finish(&self, counts: &StreamCounts, outcomes: usize, stopped_at_line: Option<u64>) -> StreamAnswer {
        let process = counts.pairs.process();
        let bins = counts.bins.as_ref();
        StreamAnswer {
            outputs: counts.outputs[0],
            outputs_neighbor: counts.outputs[1],
            pairs: process.pairs(),
            outcomes: bins.map_or(outcomes, |bins| bins.bins().map_or(0, OutputBins::bins)),
            bins: bins.map(|bins| StreamBinsRow {
                pilot_outputs: bins.pilot()[0],
                pilot_outputs_neighbor: bins.pilot()[1],
                labels: bins.bins().map_or_else(Vec::new, OutputBins::labels),
            }),
            stopped_at_line,
            bounds: self.bounds(process),
            claims: self.claims(process),
            warnings: warnings(counts),
        }
    }

    /// The orders that are bounded.
    fn all_orders(&self) -> Vec<Order> {
        let mut orders = with_claimed(&self.orders, &self.claim_rdp);
        if orders.is_empty() && self.claim_epsilon.is_none() {
            orders.extend(Order::new(2.0));
        }
        orders
    }

    /// The share of one order, or of ε, in one direction.
    fn share(&self) -> FailureProbability {
        let events = self.all_orders().len() + usize::from(self.claim_epsilon.is_some());
        self.failure_probability.split(events * self.directions.len())
    }

    /// Whether each claim is refuted, that of ε first.
    fn refuted(&self, process: &EProcess) -> Vec<bool> {
        let share = self.share();
        let any = |rejects: &dyn Fn(Direction) -> bool| self.directions.iter().any(|&direction| rejects(direction));
        let enough = -share.get().ln();
        let epsilon =
            |(epsilon, delta)| any(&|direction| process.log_e_value_of_epsilon(epsilon, delta, direction) >= enough);
        let rdp = |&(order, claimed): &(Order, Claimed)| {
            any(&|direction| process.rejects(order, direction, claimed.get(), share))
        };
        self.claim_epsilon.map(epsilon).into_iter().chain(self.claim_rdp.iter().map(rdp)).collect()
    }

    fn bounds(&self, process: &EProcess) -> Vec<BoundRow> {
        let (share, orders) = (self.share(), self.all_orders());
        let row = |direction: Direction, order: Order| {
            let bound = process.lower_bound(order, direction, share);
            BoundRow {
                failure_probability: self.failure_probability.get(),
                ..BoundRow::new("", direction, order, &bound)
            }
        };
        self.directions.iter().flat_map(|&direction| orders.iter().map(move |&order| row(direction, order))).collect()
    }

    fn claims(&self, process: &EProcess) -> Vec<Claim> {
        let share = self.share();
        let epsilon =
            self.claim_epsilon.map(|(epsilon, delta)| (epsilon_words(epsilon, delta), None, Claimed::from(epsilon)));
        let rdp = self.claim_rdp.iter().map(|&(order, claimed)| {
            let bound = |&direction: &Direction| process.lower_bound(order, direction, share).at_least();
            (rdp_words(order, claimed), self.directions.iter().map(bound).max(), claimed)
        });
        let claim = |((claim, lower, claimed), refuted): ((String, Option<AtLeast>, Claimed), bool)| Claim {
            claim,
            // A refuted ε is known to be exceeded, by an unknown amount.
            lower: Number(lower.map_or(if refuted { claimed.get() } else { 0.0 }, AtLeast::get)),
            query: String::new(),
            refuted,
            failure_probability: self.failure_probability.get(),
        };
        epsilon.into_iter().chain(rdp).zip(self.refuted(process)).map(claim).collect()
    }
}

fn warnings(counts: &StreamCounts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let ([s, s_prime], pairs) = (counts.pairs.waiting(), counts.pairs.process().pairs());
    // Outputs without a partner count for nothing.
    if s.max(s_prime) > pairs / 10 + 1 {
        let (most, world, other) = if s > 0 { (s, "s", "s_prime") } else { (s_prime, "s_prime", "s") };
        warnings.push(Warning {
            code: "unpaired",
            message: format!(
                "{most} outputs of {world} wait for outputs of {other} and do not count yet ({pairs} pairs)"
            ),
            hint: format!("record as many outputs of {other}"),
        });
    }
    if counts.bins.as_ref().is_some_and(|bins| bins.bins().is_none()) {
        warnings.push(Warning {
            code: "pilot-lasts",
            message: "the outputs so far are all part of the pilot that chooses the bins: nothing is bounded yet"
                .into(),
            hint: "record more outputs, or take a shorter pilot from the start (`pilot-outputs`)".into(),
        });
    }
    warnings
}
