//! Blocks of pairs, and what bets on them have become.

use super::bets::{Aim, Bet, COMPONENTS, RISK, bets, estimated_claim};
use super::ratio::{LEVELS, Levels};
use crate::bound::Direction;
use crate::special::log_sum_exp;
use serde::{Deserialize, Serialize};

/// Pairs between two looks at the bets: what was estimated before, and how often each pair of levels came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) levels: Levels,
    /// Level of the output of the dataset, of its neighbour, and how many such pairs.
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
pub(super) struct Book<'a> {
    direction: Direction,
    weights: [f64; COMPONENTS],
    blocks: Vec<(&'a Block, [Bet; COMPONENTS])>,
    estimate: f64,
}

impl<'a> Book<'a> {
    pub(super) fn new(blocks: impl Iterator<Item = &'a Block>, a: f64, direction: Direction, aim: Aim) -> Self {
        let place = |block: &'a Block| match direction {
            Direction::Forward => (block, bets(&block.levels, a, aim)),
            Direction::Reverse => (block, bets(&block.levels.reversed(), a, aim)),
        };
        let blocks: Vec<_> = blocks.map(place).collect();
        let last = blocks.last().map_or(0.0, |(block, _)| match direction {
            Direction::Forward => estimated_claim(&block.levels, a),
            Direction::Reverse => estimated_claim(&block.levels.reversed(), a),
        });
        Self { direction, weights: aim.weights(), blocks, estimate: last }
    }

    /// (α-1) D as it was estimated last.
    pub(super) const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// ln of the largest e-value at the end of a block so far against F - 1 ≤ m, less what rounding may have added; at
    /// least 0, the e-value before the first pair. Decreases in m.
    pub(super) fn log_e(&self, m: f64) -> f64 {
        let mut components = [Component::default(); COMPONENTS];
        let mut largest = 0.0f64;
        if !m.is_finite() {
            return largest;
        }
        for (block, bets) in &self.blocks {
            for (component, bet) in components.iter_mut().zip(bets) {
                component.bet(block, bet, m, self.direction);
            }
            let terms = components.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
            largest = largest.max(log_sum_exp(terms.map(|(component, weight)| weight.ln() + component.value())));
        }
        largest
    }
}

/// One component of the mixture: ln of its capital, and bounds of the rounding error.
#[derive(Debug, Clone, Copy, Default)]
struct Component {
    log: f64,
    sum_of_sizes: f64,
    slack: f64,
}

impl Component {
    fn bet(&mut self, block: &Block, bet: &Bet, m: f64, direction: Direction) {
        let lambda = bet.lambda.min(RISK / (m + bet.loss));
        if !(lambda > 0.0) {
            return;
        }
        let mut length = 0u64;
        let small = lambda * (bet.size + m) <= SMALL;
        for &(s, s_prime, count) in &block.pairs {
            let (x, y) = match direction {
                Direction::Forward => (s, s_prime),
                Direction::Reverse => (s_prime, s),
            };
            let share = lambda * (bet.gain[x as usize] - bet.cost[y as usize] - m);
            let step = if small { log1p_of_small(share) } else { libm::log1p(share) };
            self.log += count as f64 * step;
            self.sum_of_sizes += count as f64 * step.abs();
            length += count;
        }
        // gain, cost and m are each off by at most so many roundings of themselves, relative to a factor ≥ 1 - RISK.
        // Where λ gain is large so is the factor, so that their quotient stays below 1 + 2 RISK/(1 - RISK) = 19.
        let relative = lambda * (bet.size + m) / (1.0 - lambda * (bet.loss + m));
        self.slack += length as f64 * relative.min(19.0) * (4.0 + bet.exponent) * f64::EPSILON;
    }

    /// Rounded down: sums of at most some thousand terms, each off by a few roundings.
    fn value(&self) -> f64 {
        self.log - self.slack - 1e-12 * (1.0 + self.sum_of_sizes)
    }
}

/// Where [`log1p_of_small`] has all digits.
const SMALL: f64 = 0.2;

/// ln(1 + u) = 2 artanh(s), s = u/(2 + u), by its series: |s| ≤ 1/9 leaves 3e-17 of it. Bets on small leakages need
/// nothing else, and it takes a third of the time of a logarithm.
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
