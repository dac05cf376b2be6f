//! ε of all answers if contexts were fixed beforehand: privacy losses of positions, composed.

use super::loss::privacy_loss;
use crate::divergence::{Bracket, EnclosedLoss, LossCell, compose_losses};
use crate::error::Result;
use crate::quantity::Delta;
use crate::token::Released;

/// The most answers that are composed: time grows with the power 1.5 of their number.
const MOST_ANSWERS: usize = 1_000;
/// The most answers times neighbors whose losses are all kept.
const MOST_LOSSES: usize = 16_000;
/// How narrow the enclosure of ε is meant to be.
const RELATIVE: f64 = 2e-3;
/// Tokens of similar losses l are one cell: those whose asinh(l/s) differ by less than this, for the typical loss s.
const WIDTH: f64 = 0.05;
/// Cells on either side of 0; tokens beyond the last one are in it.
const SIDE: i32 = 240;
const CELLS: usize = 2 * SIDE as usize + 1;

/// The losses of one position against a neighbor, forward and reverse.
pub(super) type BothLosses = [EnclosedLoss; 2];

/// Whether the losses of this many answers are composed.
pub(super) const fn is_composed(answers: usize, neighbors: usize) -> bool {
    answers > 0 && answers <= MOST_ANSWERS && answers * neighbors <= MOST_LOSSES
}

/// \[neighbor\]: the losses of an answer.
pub(super) fn losses(released: &Released) -> Vec<BothLosses> {
    released.neighbors().map(|other| losses_of(released.whole(), other)).collect()
}

/// Tokens of a cell.
#[derive(Clone, Copy)]
struct Tokens {
    p: f64,
    q: f64,
    losses: [f64; 2],
}

fn losses_of(p: &[f64], q: &[f64]) -> BothLosses {
    let mut cells = vec![Tokens { p: 0.0, q: 0.0, losses: [f64::INFINITY, f64::NEG_INFINITY] }; CELLS];
    // Where ratios are close to 1, 4 Σ (√p - √q)² is the mean of their squared logarithms.
    let typical = p.iter().zip(q).map(|(p, q)| (p.sqrt() - q.sqrt()).powi(2)).sum::<f64>().sqrt() * 2.0;
    let (mut only_p, mut only_q) = (0.0, 0.0);
    for (&p, &q) in p.iter().zip(q) {
        if p == 0.0 || q == 0.0 {
            only_p += p;
            only_q += q;
            continue;
        }
        let loss = privacy_loss(p, q);
        let place = if loss == 0.0 { 0.0 } else { (loss / typical).asinh() / WIDTH };
        let place = place.round().clamp(f64::from(-SIDE), f64::from(SIDE)) as i32;
        let cell = &mut cells[(place + SIDE) as usize];
        cell.p += p;
        cell.q += q;
        cell.losses = [cell.losses[0].min(loss), cell.losses[1].max(loss)];
    }
    let error = 1e-14 + p.len() as f64 * f64::EPSILON;
    let mut forward: Vec<LossCell> = cells
        .iter()
        .filter(|cell| cell.p > 0.0)
        .map(|cell| LossCell::of_probabilities([cell.p, cell.q], error, cell.losses))
        .collect();
    forward.push(LossCell::of_probabilities([only_p, 0.0], error, [f64::INFINITY; 2]));
    forward.push(LossCell::of_probabilities([0.0, only_q], error, [f64::NEG_INFINITY; 2]));
    let reverse: Vec<LossCell> = forward.iter().map(|cell| cell.exchanged()).collect();
    [EnclosedLoss::of_cells(&forward), EnclosedLoss::of_cells(&reverse)]
}

/// ε at δ of all answers together, of the larger direction.
pub(super) fn epsilon(answers: &[BothLosses], delta: Delta) -> Result<Bracket> {
    let all: Vec<(&BothLosses, u64)> = answers.iter().map(|both| (both, 1)).collect();
    Ok(compose_losses(&all, delta, RELATIVE)?.epsilon(delta))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Direction;
    use crate::distribution::OutcomeDistribution;
    use crate::divergence::{ComposedDirection, PrivacyLoss};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Cells enclose the losses of all tokens closely.
    #[test]
    fn cells_enclose_all_tokens() {
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let delta = Delta::new(1e-5).unwrap();
        for spread in [0.01, 0.3, 3.0] {
            let mut pairs = Vec::new();
            for _ in 0..5 {
                let mut draw = |spread: f64| -> Vec<f64> {
                    let weights: Vec<f64> =
                        (0..2_000).map(|_| (spread * 4.0 * (stream.random::<f64>() - 0.5)).exp()).collect();
                    let sum: f64 = weights.iter().sum();
                    weights.iter().map(|weight| weight / sum).collect()
                };
                let (p, change) = (draw(3.0), draw(spread));
                let sum: f64 = p.iter().zip(&change).map(|(p, change)| p * change).sum();
                let q: Vec<f64> = p.iter().zip(&change).map(|(p, change)| p * change / sum).collect();
                pairs.push([p, q]);
            }
            let enclosed: Vec<BothLosses> = pairs.iter().map(|[p, q]| losses_of(p, q)).collect();
            let found = epsilon(&enclosed, delta).unwrap();
            let exact = Direction::BOTH.map(|direction| {
                let of = |values: &[f64]| OutcomeDistribution::from_probabilities(values).unwrap();
                let loss = |[p, q]: &[Vec<f64>; 2]| {
                    let [p, q] = if direction == Direction::Forward { [p, q] } else { [q, p] };
                    (PrivacyLoss::of_distributions(&of(p), &of(q)).unwrap(), 1)
                };
                let losses: Vec<(PrivacyLoss, u64)> = pairs.iter().map(loss).collect();
                ComposedDirection::of_known(&losses, delta, 1e-4).unwrap().epsilon(delta)
            });
            let (lower, upper) = (exact[0].lower.max(exact[1].lower), exact[0].upper.max(exact[1].upper));
            println!("{spread}: {found:?} around {lower} to {upper}");
            assert!(found.lower <= upper && lower <= found.upper);
            assert!(found.upper - found.lower < 0.01 * upper, "{found:?}");
        }
        // What one side alone gives counts with its probability.
        let apart = losses_of(&[0.5, 0.5, 0.0], &[0.5, 0.0, 0.5]);
        for loss in &apart {
            let [least, most] = [loss.at_least.infinite(), loss.at_most.infinite()];
            assert!(least <= 0.5 && 0.5 <= most && most - least < 1e-12, "{least} {most}");
        }
        assert_eq!(epsilon(&[apart], delta).unwrap().upper, f64::INFINITY);
    }
}
