//! Blocks of pairs, and the results of the bets on them.

use super::bets::{Aim, Bet, COMPONENTS, RISK, bets, estimated_claim};
use super::ratio::{LEVELS, Levels};
use crate::bound::Direction;
use crate::special::log_sum_exp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The pairs between two updates of the bets: the estimate before them, and how often each pair of levels occurred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) levels: Levels,
    /// Level of the output of the dataset, level of that of its neighbor, and number of such pairs.
    pub(super) pairs: Vec<(u8, u8, u64)>,
}

impl Block {
    pub(super) fn new(levels: &Levels, table: &[u64; LEVELS * LEVELS]) -> Self {
        let pair = |at: usize| ((at / LEVELS) as u8, (at % LEVELS) as u8, table[at]);
        let pairs = (0..table.len()).filter(|&at| table[at] > 0).map(pair).collect();
        Self { levels: levels.clone(), pairs }
    }

    pub(super) fn length(&self) -> u64 {
        self.pairs.iter().fold(0, |sum, pair| sum.saturating_add(pair.2))
    }
}

/// The bets on every block for one divergence.
pub(super) struct Book {
    weights: [f64; COMPONENTS],
    blocks: Vec<Placed>,
    estimate: f64,
}

impl Book {
    pub(super) fn new<'a>(blocks: impl Iterator<Item = &'a Block>, a: f64, direction: Direction, aim: Aim) -> Self {
        let levels = |block: &'a Block| match direction {
            Direction::Forward => Cow::Borrowed(&block.levels),
            Direction::Reverse => Cow::Owned(block.levels.reversed()),
        };
        let blocks: Vec<&Block> = blocks.collect();
        let estimate = blocks.last().map_or(0.0, |block| estimated_claim(&levels(block), a));
        let place = |block: &&'a Block| Placed::new(block, &bets(&levels(block), a, aim), direction);
        Self { weights: aim.weights(), blocks: blocks.iter().map(place).collect(), estimate }
    }

    /// (α-1) D by the last estimate.
    pub(super) const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// ln of the largest e-value at the end of a block so far against F - 1 ≤ m, minus the possible effect of rounding;
    /// at least 0, the e-value before the first pair. Decreases in m.
    pub(super) fn log_e(&self, m: f64) -> f64 {
        if !m.is_finite() {
            return 0.0;
        }
        let mut components = [Component::default(); COMPONENTS];
        let mut largest = 0.0f64;
        for block in &self.blocks {
            for wager in &block.wagers {
                components[wager.component].bet(wager, &block.counts, m);
            }
            let terms = components.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
            largest = largest.max(log_sum_exp(terms.map(|(component, weight)| weight.ln() + component.value())));
        }
        largest
    }
}

/// Numbers processed together; they do not interact before the end, so the compiler vectorizes them.
const LANES: usize = 8;

/// A block and the bets on it.
struct Placed {
    /// How often each pair of levels occurred, in groups that are processed together; zeros at the end.
    counts: Vec<[f64; LANES]>,
    wagers: Vec<Wager>,
}

/// The bet of one component on a block.
struct Wager {
    component: usize,
    bet: Bet,
    /// Gain minus cost of each pair of levels, in the order of their counts.
    nets: Vec<[f64; LANES]>,
    pairs: f64,
}

impl Placed {
    fn new(block: &Block, bets: &[Bet; COMPONENTS], direction: Direction) -> Self {
        let lanes = |value: &dyn Fn(&(u8, u8, u64)) -> f64| -> Vec<[f64; LANES]> {
            let chunk = |chunk: &[(u8, u8, u64)]| std::array::from_fn(|lane| chunk.get(lane).map_or(0.0, value));
            block.pairs.chunks(LANES).map(chunk).collect()
        };
        let pairs = block.length() as f64;
        let placed = bets.iter().enumerate().filter(|(_, bet)| bet.lambda > 0.0);
        let wagers = placed.map(|(component, bet)| {
            let net = |&(s, s_prime, _): &(u8, u8, u64)| {
                let (x, y) = if direction == Direction::Forward { (s, s_prime) } else { (s_prime, s) };
                bet.gain[usize::from(x)] - bet.cost[usize::from(y)]
            };
            Wager { component, bet: *bet, nets: lanes(&net), pairs }
        });
        let wagers = wagers.collect();
        Self { counts: lanes(&|pair| pair.2 as f64), wagers }
    }
}

/// The logarithm of one product.
#[derive(Debug, Clone, Copy, Default)]
struct Component {
    log: f64,
    /// Σ count |ln factor|, to which the rounding error of the sum is relative.
    sum_of_sizes: f64,
    /// The possible rounding error of the factors.
    slack: f64,
}

impl Component {
    fn bet(&mut self, wager: &Wager, counts: &[[f64; LANES]], m: f64) {
        let bet = &wager.bet;
        let lambda = bet.lambda.min(RISK / (m + bet.loss));
        if !(lambda > 0.0) {
            return;
        }
        let (mut log, mut size) = ([0.0; LANES], [0.0; LANES]);
        let small = lambda * (bet.size + m) <= SMALL;
        for (nets, counts) in wager.nets.iter().zip(counts) {
            let shares = nets.map(|net| lambda * (net - m));
            let steps = if small { shares.map(log1p_of_small) } else { shares.map(libm::log1p) };
            for lane in 0..LANES {
                log[lane] += counts[lane] * steps[lane];
                size[lane] += counts[lane] * steps[lane].abs();
            }
        }
        self.log += log.iter().sum::<f64>();
        self.sum_of_sizes += size.iter().sum::<f64>();
        // gain, cost and m are each off by at most this many roundings of themselves, relative to a factor ≥ 1 - RISK.
        // If λ gain is large, so is the factor, and their quotient stays below 1 + 2 RISK/(1 - RISK) = 19.
        let relative = lambda * (bet.size + m) / (1.0 - lambda * (bet.loss + m));
        self.slack += wager.pairs * relative.min(19.0) * (4.0 + bet.exponent) * f64::EPSILON;
    }

    /// A lower bound of the logarithm, rounding included.
    fn value(&self) -> f64 {
        self.log - self.slack - 1e-12 * (1.0 + self.sum_of_sizes)
    }
}

/// The range in which [`log1p_of_small`] has all digits.
const SMALL: f64 = 0.2;

/// ln(1 + u) = 2 artanh(s), s = u/(2 + u), by its series: |s| ≤ 1/9 leaves 3e-17 of it. Bets on small leakages need
/// nothing more, and it takes a third of the time of a logarithm.
#[inline]
fn log1p_of_small(u: f64) -> f64 {
    let s = u / (2.0 + u);
    let square = s * s;
    let series = [1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0];
    let tail = series.into_iter().fold(0.0, |sum, term| (sum + term) * square);
    2.0 * s * (1.0 + tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_the_logarithm_has_all_digits() {
        for step in -2_000i32..=2_000 {
            let u = SMALL * f64::from(step) / 2_000.0;
            let (series, exact) = (log1p_of_small(u), libm::log1p(u));
            assert!((series - exact).abs() <= 1e-15 * exact.abs(), "{u}: {series} {exact}");
        }
    }
}
