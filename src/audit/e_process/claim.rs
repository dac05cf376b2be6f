//! Bets against (ε, δ).

use super::bets::RISK;
use super::history::Block;
use super::ratio::Levels;
use crate::bound::Direction;
use crate::quantity::{Delta, Epsilon};
use crate::special::log_sum_exp;

/// Fractions of the estimated best bet, equally weighted: the estimate may be too high.
const PARTS: [f64; 3] = [1.0, 0.5, 0.2];

/// ln of the largest e-value against P(A) ≤ e^ε Q(A) + δ; see `EProcess::log_e_value_of_epsilon`.
pub(super) fn log_e<'a>(
    blocks: impl Iterator<Item = &'a Block>,
    epsilon: Epsilon,
    delta: Delta,
    direction: Direction,
) -> f64 {
    let (ratio, delta) = (libm::exp(epsilon.get()), delta.get());
    let mut largest = 0.0f64;
    if !ratio.is_finite() {
        return largest;
    }
    let (mut logs, mut slack) = ([0.0f64; PARTS.len()], 0.0);
    for block in blocks {
        let reversed = direction == Direction::Reverse;
        let levels = if reversed { &block.levels.reversed() } else { &block.levels };
        let Some((inside, bet)) = best(levels, epsilon.get(), ratio, delta) else { continue };
        for (log, part) in logs.iter_mut().zip(PARTS) {
            let lambda = part * bet;
            for &(s, s_prime, count) in &block.pairs {
                let (x, y) = if reversed { (s_prime, s) } else { (s, s_prime) };
                let gain = f64::from(u8::from(inside[usize::from(x)]));
                let cost = if inside[usize::from(y)] { ratio } else { 0.0 };
                let step = libm::log1p(lambda * (gain - cost - delta));
                *log += count as f64 * step;
                // e^ε, λ and the logarithm are off by a few roundings each, relative to factors of at least 1 - RISK.
                slack += count as f64 * (lambda * (gain + cost + delta) * 40.0 + step.abs()) * 4.0 * f64::EPSILON;
            }
        }
        let terms = logs.iter().map(|log| log - (PARTS.len() as f64).ln());
        largest = largest.max(log_sum_exp(terms) - slack - 1e-12);
    }
    largest
}

/// The levels bet on, and the estimated best bet.
fn best(levels: &Levels, epsilon: f64, ratio: f64, delta: f64) -> Option<(Vec<bool>, f64)> {
    let inside: Vec<bool> = levels.log_ratio.iter().map(|&l| l > epsilon).collect();
    let sum = |distribution: &[f64]| {
        distribution.iter().zip(&inside).filter(|(_, inside)| **inside).map(|(p, _)| p).sum::<f64>()
    };
    let (p, q) = (sum(&levels.p), sum(&levels.q));
    let gap = p - ratio * q - delta;
    if !(levels.confidence > 0.0 && gap > 0.0) {
        return None;
    }
    let scale = p * (1.0 - p).max(0.0) + ratio * ratio * q * (1.0 - q).max(0.0) + gap * gap;
    let bet = (gap / scale).min(RISK / (ratio + delta));
    (bet > 0.0).then_some((inside, bet))
}
