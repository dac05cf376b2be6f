//! Evidence against a claim that grows output by output, with bets on sets that are chosen repeatedly.

use super::aim::Aim;
use super::witness::by_ratio;
use crate::divergence::gdp_delta;
use crate::quantity::Epsilon;
use crate::special::log_sum_exp;

/// Parts of the estimated best bet, in equal weights: the estimate may be too high.
const PARTS: [f64; 3] = [1.0, 0.5, 0.2];
/// No bet may lose more than this share of the wealth.
const RISK: f64 = 0.9;
/// Estimated log ratios are shrunk to this share for bets against a Rényi divergence.
const TRUST: f64 = 0.7;
/// Values of ε, as shares of a claimed μ, at which a bet against it may be placed.
const SHARES_OF_MU: [f64; 4] = [0.0, 0.5, 1.0, 2.0];
/// The logarithm of the wealth is rounded down by this, above the rounding of 2^53 factors.
const ROUNDING: f64 = 1e-6;

/// Bets against one claim on the outputs of one pair of datasets.
///
/// Bets are placed on blocks of pairs (x, y) of an output of each world. The bet of a block, and its size, may depend
/// on everything before the block, the witness included; under the claim no factor 1 + λ Z has a mean above 1:
///
/// - (ε, δ): Z = 1{x ∈ O} - e^ε 1{y ∈ O} - δ;
/// - μ: likewise with δ = δ_μ(ε), at an ε that may change from block to block;
/// - D_α ≤ d: Z = α (r(x)^{α-1} - 1) - (α-1) (r(y)^α - 1) - (e^{(α-1)d} - 1), a tangent of the divergence for any r > 0.
///
/// So the wealth is a non-negative supermartingale that starts at 1, and so are averages over the two directions and
/// over parts of the bet. By Ville's inequality it ever reaches 1/γ with probability at most γ.
///
/// # References
/// Ville (1939); Shafer (2021), "Testing by betting"; Waudby-Smith and Ramdas (2024).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wager {
    aim: Aim,
    /// ln of the wealth, of each part in each direction.
    logs: [[f64; PARTS.len()]; 2],
}

/// The gain of an outcome under the first world, its loss under the second, and the cost of every pair.
struct Payoff {
    gain: Vec<f64>,
    cost: Vec<f64>,
    price: f64,
}

/// A payoff, the size of the bet, and the growth that is expected of it.
struct Bet {
    payoff: Payoff,
    lambda: f64,
    growth: f64,
}

impl Wager {
    pub(super) const fn new(aim: Aim) -> Self {
        Self { aim, logs: [[0.0; PARTS.len()]; 2] }
    }

    /// ln of the wealth.
    pub(super) fn log_wealth(&self) -> f64 {
        let all = self.logs.iter().flatten().copied();
        log_sum_exp(all) - ((2 * PARTS.len()) as f64).ln() - ROUNDING
    }

    /// Bets on a block of pairs of outcomes, after counts of the same outcomes that came before.
    pub(super) fn bet(&mut self, before: &[Vec<u64>; 2], block: [&[usize]; 2]) {
        let mirrored = [before[1].clone(), before[0].clone()];
        for (direction, logs) in self.logs.iter_mut().enumerate() {
            let (counts, [x, y]) = if direction == 0 { (before, block) } else { (&mirrored, [block[1], block[0]]) };
            let Some(Bet { payoff, lambda, .. }) = best_bet(self.aim, counts) else { continue };
            for (&x, &y) in x.iter().zip(y) {
                let z = payoff.gain[x] - payoff.cost[y] - payoff.price;
                for (log, part) in logs.iter_mut().zip(PARTS) {
                    *log += libm::log1p(part * lambda * z);
                }
            }
        }
    }
}

/// The bet with the largest expected growth.
fn best_bet(aim: Aim, counts: &[Vec<u64>; 2]) -> Option<Bet> {
    let totals = [0, 1].map(|world| counts[world].iter().sum::<u64>() as f64);
    if totals.contains(&0.0) {
        return None;
    }
    let candidates: Vec<Payoff> = match aim {
        Aim::Epsilon(delta, epsilon) => sets(counts, epsilon, delta.get()),
        Aim::Mu(mu) => SHARES_OF_MU
            .iter()
            .filter_map(|share| {
                let epsilon = share * mu;
                // Rounded up: the claim is not to promise less than it does.
                let delta = gdp_delta(mu, Epsilon::new(epsilon).ok()?).ok()? * (1.0 + 1e-9) + 1e-15;
                Some(sets(counts, epsilon, delta))
            })
            .flatten()
            .collect(),
        Aim::Rdp(order, divergence) => tangents(counts, order.get(), divergence),
    };
    let shares = [0, 1].map(|world| {
        let cells = counts[world].len() as f64;
        counts[world].iter().map(|&count| (count as f64 + 0.5) / (totals[world] + 0.5 * cells)).collect::<Vec<f64>>()
    });
    let bets = candidates.into_iter().filter_map(|payoff| sized(payoff, &shares));
    bets.max_by(|a, b| a.growth.total_cmp(&b.growth))
}

/// The estimated best size of a bet, if it promises anything.
fn sized(payoff: Payoff, shares: &[Vec<f64>; 2]) -> Option<Bet> {
    let moments = |share: &[f64], of: &[f64]| {
        let sum = |power: i32| share.iter().zip(of).map(|(p, x)| p * x.powi(power)).sum::<f64>();
        let mean = sum(1);
        (mean, (sum(2) - mean * mean).max(0.0))
    };
    let ((gain, gain_variance), (cost, cost_variance)) =
        (moments(&shares[0], &payoff.gain), moments(&shares[1], &payoff.cost));
    let gap = gain - cost - payoff.price;
    let smallest = payoff.gain.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = payoff.cost.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let loss = largest + payoff.price - smallest;
    if !(gap > 0.0 && loss > 0.0 && loss.is_finite()) {
        return None;
    }
    let scale = gain_variance + cost_variance + gap * gap;
    let lambda = (gap / scale).min(RISK / loss);
    let growth = lambda * (gap - 0.5 * lambda * scale);
    (lambda > 0.0 && growth.is_finite()).then_some(Bet { payoff, lambda, growth })
}

/// Sets of the outcomes with the largest ratios.
fn sets(counts: &[Vec<u64>; 2], epsilon: f64, delta: f64) -> Vec<Payoff> {
    let factor = libm::exp(epsilon);
    if !factor.is_finite() {
        return Vec::new();
    }
    let order = by_ratio(counts);
    let mut gain = vec![0.0; order.len()];
    let mut found = Vec::new();
    for outcome in order {
        gain[outcome] = 1.0;
        // A set that was never seen in the first world promises nothing.
        if counts[0][outcome] > 0 {
            let cost = gain.iter().map(|inside| factor * inside).collect();
            found.push(Payoff { gain: gain.clone(), cost, price: delta });
        }
    }
    found
}

/// Tangents at estimated ratios; the largest ratios are cut.
fn tangents(counts: &[Vec<u64>; 2], order: f64, divergence: f64) -> Vec<Payoff> {
    let totals = [0, 1].map(|world| counts[world].iter().sum::<u64>() as f64 + 1.0);
    let log_ratio = |outcome: usize| {
        let share = |world: usize| (counts[world][outcome] as f64 + 1.0) / totals[world];
        TRUST * (share(0) / share(1)).ln()
    };
    let ratios: Vec<f64> = (0..counts[0].len()).map(log_ratio).collect();
    let price = libm::expm1((order - 1.0) * divergence);
    let mut cuts: Vec<f64> = ratios.iter().copied().filter(|ratio| *ratio > 0.0).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let payoff = |cut: f64| {
        let cut_ratio = |ratio: &f64| ratio.min(cut);
        Payoff {
            gain: ratios.iter().map(cut_ratio).map(|l| order * libm::expm1((order - 1.0) * l)).collect(),
            cost: ratios.iter().map(cut_ratio).map(|l| (order - 1.0) * libm::expm1(order * l)).collect(),
            price,
        }
    };
    cuts.into_iter().map(payoff).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Delta, Order};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn aims(epsilon: f64) -> [Aim; 3] {
        // Randomized response with p = 3/4: ε = ln 3, D_2 = ln(3/4 · 3 + 1/4 / 3), μ = 2 Φ⁻¹(3/4).
        let rdp = (0.75f64 * 3.0 + 0.25 / 3.0).ln() * epsilon;
        [
            Aim::Epsilon(Delta::new(0.0).unwrap(), 3f64.ln() * epsilon),
            Aim::Rdp(Order::new(2.0).unwrap(), rdp),
            Aim::Mu(2.0 * 0.674_489_750_196_081_7 * epsilon),
        ]
    }

    /// Blocks of answers of randomized response, one after another.
    fn wealth(aim: Aim, blocks: usize, stream: &mut ChaCha8Rng) -> f64 {
        let mut wager = Wager::new(aim);
        let mut before = [vec![0u64; 2], vec![0u64; 2]];
        let mut largest = 0.0f64;
        for _ in 0..blocks {
            let block = [0.75, 0.25].map(|p| (0..64).map(|_| usize::from(stream.random_bool(p))).collect::<Vec<_>>());
            wager.bet(&before, [&block[0], &block[1]]);
            largest = largest.max(wager.log_wealth());
            for (before, block) in before.iter_mut().zip(&block) {
                block.iter().for_each(|&outcome| before[outcome] += 1);
            }
        }
        largest
    }

    /// True claims are refuted with at most the failure probability, claims of two thirds of the truth soon.
    #[test]
    fn true_claims_stand_and_false_ones_fall() {
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let line = 20f64.ln();
        for (right, wrong) in aims(1.0).into_iter().zip(aims(2.0 / 3.0)) {
            let refuted = (0..400).filter(|_| wealth(right, 12, &mut stream) >= line).count();
            // At most 20 are expected; 38 have a probability below 1e-4.
            assert!(refuted < 38, "{right:?} {refuted}");
            let found = (0..20).filter(|_| wealth(wrong, 30, &mut stream) >= line).count();
            assert!(found >= 17, "{wrong:?} {found}");
        }
    }
}
