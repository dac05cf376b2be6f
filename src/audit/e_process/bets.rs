//! The size of bets in a block, from the data before it.

use super::ratio::{LEVELS, Levels};

/// A bet never risks more than this share of the capital.
pub(super) const RISK: f64 = 0.9;
/// Components of the mixture: the shortfall η for which each is best, that is, the bound (1-η)² D.
const SHORTFALLS: [f64; 7] = [0.8, 0.45, 0.25, 0.13, 0.07, 0.035, 0.015];
/// Each component has this share of the weight of the one before.
const DECAY: f64 = 0.75;
/// The weight of the component for a declared number of pairs.
const WEIGHT_OF_HORIZON: f64 = 0.7;
/// Number of components, including that for the horizon.
pub(super) const COMPONENTS: usize = SHORTFALLS.len() + 1;
/// The best shortfall at a known number n of pairs is 2 √(L/(n χ²)) for small signals; a slightly larger one does
/// better while χ² is being learned.
const SHORTFALL_FACTOR: f64 = 2.3;
/// Exponents are limited to this, so that nothing overflows.
const LARGEST_EXPONENT: f64 = 600.0;

/// The horizon, in pairs, and the logarithm of the e-value for which bets are placed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    pub(super) horizon: Option<u64>,
    /// Whether there are no bets for other horizons.
    pub(super) alone: bool,
    pub(super) log_e: f64,
}

impl Aim {
    /// Prior weights of the components.
    pub(super) fn weights(self) -> [f64; COMPONENTS] {
        let horizon = match (self.horizon, self.alone) {
            (None, _) => 0.0,
            (Some(_), false) => WEIGHT_OF_HORIZON,
            (Some(_), true) => 1.0,
        };
        let mut weights: [f64; COMPONENTS] = std::array::from_fn(|k| DECAY.powi(k as i32));
        let sum: f64 = weights[..SHORTFALLS.len()].iter().sum();
        weights.iter_mut().for_each(|weight| *weight *= (1.0 - horizon) / sum);
        weights[SHORTFALLS.len()] = horizon;
        weights
    }
}

/// A bet on F - 1 ≥ g(x) - h(y) on average, with g and h minus their values at ratio 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bet {
    /// α (r^{α-1} - 1) of each level.
    pub(super) gain: [f64; LEVELS],
    /// (α-1)(r^α - 1) of each level.
    pub(super) cost: [f64; LEVELS],
    /// The largest loss of one pair before the claim is subtracted: max cost - min gain.
    pub(super) loss: f64,
    /// The largest of |gain| + |cost|, for the rounding error.
    pub(super) size: f64,
    /// The largest |exponent|, for the rounding error.
    pub(super) exponent: f64,
    /// Bet per unit.
    pub(super) lambda: f64,
}

impl Bet {
    pub(super) const NONE: Self =
        Self { gain: [0.0; LEVELS], cost: [0.0; LEVELS], loss: 0.0, size: 0.0, exponent: 0.0, lambda: 0.0 };
}

fn present(levels: &Levels) -> impl Iterator<Item = usize> + '_ {
    (0..levels.p.len()).filter(|&i| levels.p[i] > 0.0 && levels.q[i] > 0.0)
}

/// (α-1) D as estimated without shrinkage: about 1/confidence times that of the shrunk distributions; 0 if the estimate
/// is not trusted at all.
pub(super) fn estimated_claim(levels: &Levels, a: f64) -> f64 {
    if !(levels.confidence > 0.0) {
        return 0.0;
    }
    let excess: f64 = present(levels)
        .map(|i| levels.q[i] * libm::expm1((a * (levels.p[i] / levels.q[i]).ln()).min(LARGEST_EXPONENT)))
        .sum();
    libm::log1p(excess.max(0.0)) / levels.confidence
}

/// The bets of all components for order `a`.
pub(super) fn bets(levels: &Levels, a: f64, aim: Aim) -> [Bet; COMPONENTS] {
    let mut bets = [Bet::NONE; COMPONENTS];
    if !(levels.confidence > 0.0) {
        return bets;
    }
    let claim = estimated_claim(levels, a);
    let signal: f64 =
        present(levels).map(|i| levels.q[i] * levels.log_ratio[i].powi(2)).sum::<f64>() / levels.confidence;
    for (k, bet) in bets.iter_mut().enumerate() {
        let shortfall = match (SHORTFALLS.get(k), aim.horizon) {
            (Some(_), Some(_)) if aim.alone => continue,
            (Some(&shortfall), _) => shortfall,
            (None, Some(pairs)) => (SHORTFALL_FACTOR * (1.1 * aim.log_e / (pairs as f64 * signal)).sqrt()).min(0.9),
            (None, None) => continue,
        };
        let rest = 1.0 - shortfall;
        *bet = best(levels, a, rest, libm::expm1(claim * rest * rest));
    }
    bets
}

/// The bet against F - 1 ≤ m with ratios r = exp(rest · l), where the largest ratios are cut at the level with the
/// fastest expected growth: λ gap - λ² (variance + gap²)/2 at the best λ.
fn best(levels: &Levels, a: f64, rest: f64, m: f64) -> Bet {
    let count = levels.log_ratio.len();
    let limit = LARGEST_EXPONENT / a;
    let mut full = Bet::NONE;
    for (i, &log_ratio) in levels.log_ratio.iter().enumerate() {
        let l = (rest * log_ratio).clamp(-limit, limit);
        full.gain[i] = a * libm::expm1((a - 1.0) * l);
        full.cost[i] = (a - 1.0) * libm::expm1(a * l);
        full.exponent = full.exponent.max(a * l.abs());
    }
    let (mut best, mut fastest) = (Bet::NONE, 0.0);
    for top in (0..count).filter(|&top| levels.log_ratio[top] > 0.0) {
        let mut bet = full;
        for i in 0..count {
            bet.gain[i] = full.gain[i].min(full.gain[top]);
            bet.cost[i] = full.cost[i].min(full.cost[top]);
        }
        let mean =
            |distribution: &[f64], of: &[f64; LEVELS]| -> f64 { distribution.iter().zip(of).map(|(p, x)| p * x).sum() };
        let square = |distribution: &[f64], of: &[f64; LEVELS]| -> f64 {
            distribution.iter().zip(of).map(|(p, x)| p * x * x).sum()
        };
        let (gain, cost) = (mean(&levels.p, &bet.gain), mean(&levels.q, &bet.cost));
        let gap = gain - cost - m;
        let variance = square(&levels.p, &bet.gain) - gain * gain + square(&levels.q, &bet.cost) - cost * cost;
        let largest = |of: &[f64; LEVELS]| of[..count].iter().fold(0.0f64, |x, &y| x.max(y));
        let smallest = |of: &[f64; LEVELS]| of[..count].iter().fold(0.0f64, |x, &y| x.min(y));
        bet.loss = largest(&bet.cost) - smallest(&bet.gain);
        bet.size = largest(&bet.gain).max(-smallest(&bet.gain)) + largest(&bet.cost).max(-smallest(&bet.cost));
        let scale = variance.max(0.0) + gap * gap;
        bet.lambda = (gap / scale).min(RISK / (m + bet.loss));
        let growth = bet.lambda * (gap - 0.5 * bet.lambda * scale);
        // Orders so large that something overflowed place no bet.
        if gap > 0.0 && growth > fastest && bet.lambda > 0.0 && bet.size.is_finite() && growth.is_finite() {
            (best, fastest) = (bet, growth);
        }
    }
    best
}
