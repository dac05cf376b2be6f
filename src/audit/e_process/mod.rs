//! An e-process: a lower bound that may be checked after every output.

mod bets;
mod claim;
mod history;
mod ratio;
mod state;
#[cfg(test)]
mod tests;

use super::method::{Bounds, Draws, Guarantee, MethodRow, Needs, sure};
use crate::bound::{Direction, LowerBound, Validity};
use crate::counts::{MAX_COUNT, PairedCounts};
use crate::distribution::OutcomeDistribution;
use crate::error::{Error, Result};
use crate::quantity::{Delta, Epsilon, FailureProbability, Order};
use crate::variate::draw_counts;
use bets::Aim;
use history::{Block, Book};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use ratio::{LEVELS, Levels};
use serde::{Deserialize, Serialize};
use state::State;

pub(super) const E_PROCESS: MethodRow = MethodRow {
    name: "e-process",
    when: "Outputs arrive one by one, and you want to stop as soon as the bound is high enough.",
    guarantee: Guarantee::OwnEvent,
    needs: Needs::Nothing,
    draws: Draws::Order,
    bounds: Bounds::Renyi(|task| {
        let counts = task.counts;
        let fewer = counts.trials().min(counts.trials_neighbor());
        let mut process = EProcess::new(counts.outcomes())?.with_fixed_length(fewer)?;
        if let Some((pair, outputs)) = task.guide.pair_with_outputs() {
            process = process.with_distributions(pair.dataset(), pair.neighbor(), outputs)?;
        }
        process.observe_counts(counts, task.seed)?;
        let share = task.share_of_goal();
        Ok(sure(move |order, direction| process.lower_bound(order, direction, share)))
    }),
};

/// The largest number of outcomes.
const MAX_OUTCOMES: usize = 1 << 20;
/// A block is this many times shorter than everything before it; bets are updated after each block.
const BLOCK_SHARE: u64 = 4;
/// The same if the length is fixed.
const BLOCK_SHARE_ALONE: u64 = 1;
/// Bounds are within this relative tolerance of the crossing.
const TOLERANCE: f64 = 1e-6;
/// The failure probability for which [`EProcess::log_e_value`] is tuned.
const USUAL_FAILURE: f64 = 0.05;

/// Anytime-valid lower bounds of the Rényi divergences of two distributions, from a stream of pairs of outputs.
///
/// Pairs (x_t, y_t) of an output of P = A(S) and one of Q = A(S') are observed one after the other. The bound may be
/// read after every pair, and the stream stopped as soon as it is high enough: the failure probability covers all times
/// simultaneously. One history serves all orders and directions, but **each order in each direction is a separate
/// event**: the caller divides the failure probability among those read.
///
/// # The e-process
/// For every r ≥ 0 the tangent of x ↦ x^α at r gives, outcome by outcome,
/// F = Σ P^α Q^{1-α} ≥ E_P(g) - E_Q(h) with g = α r^{α-1}, h = (α-1) r^α. Let r_t and λ_t ≥ 0 depend only on earlier
/// pairs and not on m, and Z_t = g_t(x_t) - h_t(y_t) - 1 ≥ -b_t. For the claim D_α ≤ d let m = e^{(α-1)d} - 1 and
///
/// E_t(d) = Σ_k w_k Π_{s≤t} (1 + min(λ_{k,s}, c/(m + b_{k,s})) (Z_{k,s} - m)), c = 0.9.
///
/// - Every factor is at least 1 - c > 0. If D_α ≤ d, then E(Z_s | past) ≤ F - 1 ≤ m, so every product is a non-negative
///   supermartingale with start 1, and so is their average with weights w_k. By Ville's inequality P(sup_t E_t(d) ≥
///   1/γ) ≤ γ.
/// - Every factor decreases in m: with λ fixed it is linear in m, and with λ = c/(m + b) it is
///   1 - c + c (Z + b)/(m + b) with Z + b ≥ 0; the two meet where λ = c/(m + b). So E_t decreases in d, and the claims
///   d with sup_t E_t(d) ≥ 1/γ are an interval that starts at 0. Its end is the bound. It exceeds D_α only if the true
///   claim d = D_α is rejected, which has probability at most γ.
///
/// # The bets
/// This does not matter for validity. P/Q is estimated from earlier pairs, a pilot or a distribution; log ratios are
/// shrunk toward 0 and grouped into at most 7 levels. The components of the mixture bet on the bounds (1-η)² D for
/// seven η between 0.8 and 0.015, where D is the estimate, with r = (P/Q)^{1-η}; one more component uses the η that is
/// best for a number of pairs declared by [`with_horizon`](Self::with_horizon). Bets are updated each time the number
/// of pairs has grown by a quarter.
///
/// # Example
/// ```
/// # use leakbound::audit::EProcess;
/// # use leakbound::prelude::*;
/// let (p, q) = ([0.7, 0.2, 0.1], [0.5, 0.4, 0.1]);
/// let counts = PairedCounts::new(
///     ["a", "b", "c"].map(String::from).to_vec(),
///     p.map(|p| (10_000.0 * p) as u64).to_vec(),
///     q.map(|q| (10_000.0 * q) as u64).to_vec(),
/// )?;
/// let mut process = EProcess::new(3)?;
/// process.observe(0, 1)?; // one output of each world
/// process.observe_counts(&counts, 7)?; // ten thousand more, in a random order
/// let bound = process.lower_bound(Order::new(2.0)?, Direction::Forward, FailureProbability::new(0.05)?);
/// let exact = (0.7f64 * 0.7 / 0.5 + 0.2 * 0.2 / 0.4 + 0.1).ln(); // 0.166
/// assert!(bound.value > 0.8 * exact && bound.value < exact);
/// # Ok::<(), leakbound::Error>(())
/// ```
///
/// # References
/// Ville (1939); Shafer (2021), "Testing by betting"; Waudby-Smith and Ramdas (2024), "Estimating means of bounded
/// random variables by betting", for predictable plug-in bets; the tangent is that of the variational k-cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct EProcess {
    horizon: Option<u64>,
    /// Whether all bets are for the horizon.
    alone: bool,
    /// Prior information from a pilot or distribution, as counts.
    start: [Vec<f64>; 2],
    /// Outputs of both worlds in the pairs so far.
    seen: [Vec<u64>; 2],
    pairs: u64,
    blocks: Vec<Block>,
    open: Open,
}

/// The block that is being filled.
#[derive(Debug, Clone, PartialEq)]
struct Open {
    levels: Levels,
    /// Level of each outcome.
    map: Vec<u8>,
    table: [u64; LEVELS * LEVELS],
    /// Pairs still to come.
    left: u64,
}

impl EProcess {
    /// A new process for this many outcomes, numbered from 0. Outcomes that never occur cost nothing.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 2^20 outcomes.
    pub fn new(outcomes: usize) -> Result<Self> {
        let fits = (1..=MAX_OUTCOMES).contains(&outcomes);
        Error::check_length(fits, "outcomes of an e-process", outcomes, "1 to 1048576 outcomes")?;
        let zeros = || vec![0.0; outcomes];
        let (map, levels) = Levels::estimate(&[], &[]);
        let map = if map.is_empty() { vec![0; outcomes] } else { map };
        Ok(Self {
            horizon: None,
            alone: false,
            start: [zeros(), zeros()],
            seen: [vec![0; outcomes], vec![0; outcomes]],
            pairs: 0,
            blocks: Vec::new(),
            open: Open { levels, map, table: [0; LEVELS * LEVELS], left: 1 },
        })
    }

    /// Bases the first bets on the counts of a pilot, which must not be observed again.
    ///
    /// # Errors
    /// [`Error::Length`] if the pilot has a different number of outcomes, [`Error::Rejected`] after the first pair.
    pub fn with_pilot(self, pilot: &PairedCounts) -> Result<Self> {
        let count = |world: &[u64]| world.iter().map(|&count| count as f64).collect();
        self.with_start([count(pilot.counts()), count(pilot.counts_neighbor())])
    }

    /// Bases the bets on expected distributions, as if each had been seen in this many outputs; the more outputs, the
    /// longer they outweigh the evidence. A wrong distribution costs power, never validity.
    ///
    /// # Errors
    /// As [`with_pilot`](Self::with_pilot).
    pub fn with_distributions(self, p: &OutcomeDistribution, q: &OutcomeDistribution, outputs: u64) -> Result<Self> {
        let count = |distribution: &OutcomeDistribution| distribution.p().iter().map(|p| p * outputs as f64).collect();
        self.with_start([count(p), count(q)])
    }

    fn with_start(mut self, start: [Vec<f64>; 2]) -> Result<Self> {
        self.before_the_first_pair("a pilot of an e-process")?;
        for world in &start {
            Error::check_size("pilot", world.len(), self.outcomes(), " outcomes, as the e-process")?;
        }
        self.start = start;
        (self.open.map, self.open.levels) = self.estimate();
        Ok(self)
    }

    /// Declares how many pairs are planned: one component of the mixture, with 70% of the weight, then bets for that
    /// number. The bound stays valid at any other number.
    ///
    /// # Errors
    /// [`Error::Domain`] unless the number is in [1, 2^53], [`Error::Rejected`] after the first pair.
    pub fn with_horizon(mut self, pairs: u64) -> Result<Self> {
        self.before_the_first_pair("a horizon of an e-process")?;
        Error::check_domain((1..=MAX_COUNT).contains(&pairs), "planned pairs", pairs as f64, "[1, 2^53]")?;
        self.horizon = Some(pairs);
        Ok(self)
    }

    /// Declares how many pairs there are, for recorded outputs: like [`with_horizon`](Self::with_horizon), but with the
    /// whole weight on the component for that number, and with fewer, longer blocks. A bound then takes a tenth of the
    /// time and is tighter at the end. It is also valid at every other time, but weak.
    /// # Errors
    /// As [`with_horizon`](Self::with_horizon).
    pub fn with_fixed_length(mut self, pairs: u64) -> Result<Self> {
        self.alone = true;
        self.with_horizon(pairs)
    }

    /// Bets must be placed before the outputs they concern are seen.
    fn before_the_first_pair(&self, operation: &'static str) -> Result<()> {
        if self.pairs() == 0 {
            return Ok(());
        }
        let reason = format!("it must be known before the first pair, and {} have been observed", self.pairs());
        Err(Error::rejected(operation, reason))
    }

    /// The number of outcomes.
    #[must_use]
    pub fn outcomes(&self) -> usize {
        self.open.map.len()
    }

    /// Pairs observed so far.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Takes one output of the dataset S and one of its neighbor S'.
    ///
    /// # Errors
    /// [`Error::Domain`] if an outcome is not in [0, outcomes), [`Error::Rejected`] after 2^53 pairs.
    pub fn observe(&mut self, x: usize, y: usize) -> Result<()> {
        let (Some(&level_x), Some(&level_y)) = (self.open.map.get(x), self.open.map.get(y)) else {
            return Err(Error::Domain { quantity: "outcome", value: x.max(y) as f64, domain: "[0, outcomes)" });
        };
        if self.open.left == 0 {
            return Err(full());
        }
        self.seen[0][x] += 1;
        self.seen[1][y] += 1;
        self.open.table[usize::from(level_x) * LEVELS + usize::from(level_y)] += 1;
        self.pairs += 1;
        self.open.left -= 1;
        if self.open.left == 0 {
            self.close();
        }
        Ok(())
    }

    /// Takes recorded counts of unknown order, in an order and a pairing drawn at random; surplus outputs of one world
    /// are left over. Returns the number of pairs.
    ///
    /// Given its counts, an independent and identically distributed sequence is in a uniformly random order; so a
    /// uniformly random order of recorded counts has the distribution of such a sequence, and the test stays valid. The
    /// order is drawn block by block with multivariate hypergeometric draws. It is a function of counts and seed;
    /// trying several seeds and taking the best bound is not valid.
    ///
    /// # Errors
    /// [`Error::Length`] if the counts have more outcomes, [`Error::Rejected`] beyond 2^53 pairs in total.
    pub fn observe_counts(&mut self, counts: &PairedCounts, seed: u64) -> Result<u64> {
        let (found, most) = (counts.outcomes(), self.outcomes());
        let expected = format_args!("at most {most} outcomes, as the e-process");
        Error::check_length(found <= most, "counts", found, expected)?;
        let pairs = counts.trials().min(counts.trials_neighbor());
        if self.open.left == 0 || pairs > MAX_COUNT - self.pairs() {
            return Err(full());
        }
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let mut stocks = [counts.counts().to_vec(), counts.counts_neighbor().to_vec()];
        let mut left = [counts.trials(), counts.trials_neighbor()];
        let mut missing = pairs;
        while missing > 0 {
            let length = missing.min(self.open.left);
            let mut levels = [[0u64; LEVELS]; 2];
            for world in 0..2 {
                draw_counts(&mut stocks[world], left[world], length, &mut stream, |outcome, count| {
                    self.seen[world][outcome] += count;
                    levels[world][usize::from(self.open.map[outcome])] += count;
                });
                left[world] -= length;
            }
            let [first, mut second] = levels;
            let mut unpaired = length;
            for (x, &count) in first.iter().enumerate() {
                draw_counts(&mut second, unpaired, count, &mut stream, |y, both| {
                    self.open.table[x * LEVELS + y] += both;
                });
                unpaired -= count;
            }
            missing -= length;
            self.pairs += length;
            self.open.left -= length;
            if self.open.left == 0 {
                self.close();
            }
        }
        Ok(pairs)
    }

    fn close(&mut self) {
        self.blocks.push(Block::new(&self.open.levels, &self.open.table));
        let (map, levels) = self.estimate();
        let share = if self.alone { BLOCK_SHARE_ALONE } else { BLOCK_SHARE };
        let left = (self.pairs / share).max(1).min(MAX_COUNT - self.pairs);
        self.open = Open { levels, map, table: [0; LEVELS * LEVELS], left };
    }

    fn estimate(&self) -> (Vec<u8>, Levels) {
        let [x, y] = [0, 1].map(|world| -> Vec<f64> {
            self.start[world].iter().zip(&self.seen[world]).map(|(start, &seen)| start + seen as f64).collect()
        });
        Levels::estimate(&x, &y)
    }

    /// ln of the largest e-value so far against the claim D_α ≤ `divergence`, at least 0 (the e-value before the first
    /// pair): the claim is refuted with failure probability γ once this reaches ln 1/γ. Decreases in `divergence`, and
    /// is rounded down. The maximum is over the current time and the ends of all blocks.
    ///
    /// ```
    /// # use leakbound::audit::EProcess;
    /// # use leakbound::prelude::*;
    /// let process = EProcess::new(2)?;
    /// assert_eq!(process.log_e_value(Order::new(2.0)?, Direction::Forward, 0.0), 0.0);
    /// # Ok::<(), leakbound::Error>(())
    /// ```
    #[must_use]
    pub fn log_e_value(&self, order: Order, direction: Direction, divergence: f64) -> f64 {
        if !(divergence >= 0.0) {
            return 0.0;
        }
        let now = self.now();
        self.book(&now, order, direction, USUAL_FAILURE.recip().ln()).log_e(excess(order, divergence))
    }

    /// Whether the claim D_α ≤ `divergence` is refuted with this failure probability, that is, whether
    /// [`Self::lower_bound`] is at least `divergence`, at a fraction of the cost. Claim and failure probability must be
    /// fixed without looking at the stream.
    #[must_use]
    pub fn rejects(&self, order: Order, direction: Direction, divergence: f64, failure: FailureProbability) -> bool {
        let now = self.now();
        let target = -failure.get().ln();
        // No divergence is below 0.
        divergence < 0.0 || self.book(&now, order, direction, target).log_e(excess(order, divergence)) >= target
    }

    /// Lower bound of D_α: all claims below it are rejected; 0 if none is. Rounded down by at most a relative 1e-6.
    ///
    /// `failure` must be fixed without looking at the stream; it holds for all times simultaneously, for this order and
    /// direction. The bound is at most 700/(α-1).
    #[must_use]
    pub fn lower_bound(&self, order: Order, direction: Direction, failure: FailureProbability) -> LowerBound {
        let now = self.now();
        let target = -failure.get().ln();
        let book = self.book(&now, order, direction, target);
        let rejected = |divergence: f64| book.log_e(excess(order, divergence)) - target;
        let value = (1.0 - 1e-9) * last_rejected(rejected, book.estimate() / (order.get() - 1.0));
        LowerBound::new(value, failure, E_PROCESS.name, Validity::FiniteSample)
    }

    /// ln of the largest e-value so far against the claim P(A) ≤ e^ε Q(A) + δ for all sets A of outcomes (forward; the
    /// worlds exchanged for reverse), at least 0: the claim is refuted with failure probability γ once this reaches
    /// ln 1/γ. Claim and direction must be fixed without looking at the stream.
    ///
    /// With a set A_t that depends only on earlier pairs, Z_t = 1{x_t ∈ A_t} - e^ε 1{y_t ∈ A_t} - δ has mean at most 0
    /// if the claim holds, and is at least -(e^ε + δ). So Π (1 + λ_t Z_t) with 0 ≤ λ_t ≤ 0.9/(e^ε + δ) is a
    /// non-negative supermartingale, and Ville's inequality applies to averages of such products. A_t contains the
    /// levels whose estimated ratio is above e^ε.
    #[must_use]
    pub fn log_e_value_of_epsilon(&self, epsilon: Epsilon, delta: Delta, direction: Direction) -> f64 {
        let now = self.now();
        claim::log_e(self.blocks.iter().chain(&now), epsilon, delta, direction)
    }

    /// The current, incomplete block.
    fn now(&self) -> Option<Block> {
        let block = Block::new(&self.open.levels, &self.open.table);
        (!block.pairs.is_empty()).then_some(block)
    }

    fn book(&self, now: &Option<Block>, order: Order, direction: Direction, log_e: f64) -> Book {
        let aim = Aim { horizon: self.horizon, alone: self.alone, log_e };
        Book::new(self.blocks.iter().chain(now), order.get(), direction, aim)
    }
}

/// e^{(α-1)d} - 1.
fn excess(order: Order, divergence: f64) -> f64 {
    libm::expm1((order.get() - 1.0) * divergence)
}

fn full() -> Error {
    Error::rejected("observing a pair", "2^53 pairs have been observed")
}

/// The largest d found with `rejected`(d) ≥ 0, for a function that decreases from d = 0 on; 0 if there is none.
/// Searches below `guess` first. Ends on the rejected side, within a relative [`TOLERANCE`] of the crossing: inverse
/// quadratic interpolation inside a bracket, at worst bisection.
fn last_rejected(rejected: impl Fn(f64) -> f64, guess: f64) -> f64 {
    let at_zero = rejected(0.0);
    if !(at_zero >= 0.0) {
        return 0.0;
    }
    let (mut low, mut high) = ((0.0, at_zero), if guess > 1e-6 && guess < 1e6 { guess } else { 1e-6 });
    let mut high = loop {
        let value = rejected(high);
        if value < 0.0 || value.is_nan() {
            break (high, value);
        }
        low = (high, value);
        high *= 8.0;
        if !(high < f64::MAX) {
            return low.0;
        }
    };
    // The end of the bracket that was discarded last.
    let mut left = None;
    for step in 0..200 {
        let tolerance = TOLERANCE * high.0;
        if high.0 - low.0 <= tolerance || high.0 < f64::MIN_POSITIVE {
            break;
        }
        let middle = 0.5 * (low.0 + high.0);
        let next = interpolated_root(low, high, left);
        // A kink or a flat stretch would slow down interpolation.
        let near = next > low.0 - tolerance && next < high.0 + tolerance;
        let next = if step % 8 != 7 && near { next } else { middle };
        // A root near an end is passed to the other side, to close the bracket.
        let next = next.clamp(low.0 + 0.3 * tolerance, high.0 - 0.3 * tolerance);
        let point = (next, rejected(next));
        left =
            Some(if point.1 >= 0.0 { std::mem::replace(&mut low, point) } else { std::mem::replace(&mut high, point) });
    }
    low.0
}

/// Where x as a quadratic function of y, through three points, or as a linear one through two, is at y = 0. May lie
/// anywhere or be NaN.
fn interpolated_root(a: (f64, f64), b: (f64, f64), third: Option<(f64, f64)>) -> f64 {
    let secant = a.0 + (b.0 - a.0) * a.1 / (a.1 - b.1);
    let Some(c) = third else { return secant };
    let quadratic = a.0 * b.1 * c.1 / ((a.1 - b.1) * (a.1 - c.1))
        + b.0 * a.1 * c.1 / ((b.1 - a.1) * (b.1 - c.1))
        + c.0 * a.1 * b.1 / ((c.1 - a.1) * (c.1 - b.1));
    if quadratic.is_finite() { quadratic } else { secant }
}
