//! All answers together by composition of privacy losses: nothing is lost to the choice of a Rényi order.

use super::meaning::{ComposedEpsilonAt, CostMeaning, EpsilonAtDelta, LossComposition};
use super::voter_moves::{VoterMoves, voters};
use crate::bound::Direction;
use crate::distribution::OutputPair;
use crate::divergence::{Bracket, ComposedDirection, EnclosedLoss, PrivacyLoss, compose_losses};
use crate::error::{Error, Result};
use crate::histogram::{VoteChange, VoteHistogram};
use crate::mechanism::NoisyArgmax;
use crate::parallel;
use crate::quantity::{Delta, Order};
use crate::record::{RecordedQuery, ScenarioQuery};
use crate::study::number::Number;
use crate::study::progress::Meter;
use std::collections::BTreeMap;

/// The target for the relative width.
const WIDTH: f64 = 1e-3;
/// Neighbors of one histogram that are looked at.
pub const MOST_NEIGHBORS: usize = 2_000;

/// What is composed here, in messages.
pub const BY_LOSSES: &str = "composition by privacy-loss distributions";

/// What one query, or many of the same, may cost.
pub struct Losses {
    /// By direction: from above every pair that may be meant, from below one of them.
    pub enclosed: [EnclosedLoss; 2],
    pub times: u64,
}

/// One answer per recorded query, conditional on the votes, when one vote of each may move: from above whichever vote
/// moves where; from below for the move with the largest divergence of the given order. ε at `delta`, and the profile
/// at `deltas`.
pub fn recorded(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    order: Order,
    (deltas, delta): (&[Delta], Delta),
    meter: &Meter<'_>,
) -> Result<LossComposition> {
    // Classes are alike: histograms that are permutations of each other cost the same.
    let mut different: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for query in queries {
        let mut counts = query.histogram.counts().to_vec();
        counts.sort_unstable();
        *different.entry(counts).or_default() += 1;
    }
    let losses = parallel::try_map(different, |(counts, times)| {
        let losses = of_votes(mechanism, &VoteHistogram::new(counts)?, order, times)?;
        meter.add_in_passes(times)?;
        Ok(losses)
    })?;
    compose(&losses.into_iter().flatten().collect::<Vec<_>>(), CostMeaning::ExactGivenVotes, deltas, delta)
}

/// None if no vote can move.
fn of_votes(mechanism: NoisyArgmax, votes: &VoteHistogram, order: Order, times: u64) -> Result<Option<Losses>> {
    let changes = votes.neighbors(VoteChange::Moved);
    let reason = format_args!("a histogram has {} different neighbors; {MOST_NEIGHBORS} are looked at", changes.len());
    Error::check_possible(changes.len() <= MOST_NEIGHBORS, BY_LOSSES, reason)?;
    let p = mechanism.distribution(votes)?;
    let mut all = [Vec::new(), Vec::new()];
    let mut largest: [Option<(f64, PrivacyLoss)>; 2] = [None, None];
    for change in changes {
        let pair = OutputPair::new(p.clone(), mechanism.distribution(&votes.neighbor(change)?)?)?;
        for ((best, all), direction) in largest.iter_mut().zip(&mut all).zip(Direction::BOTH) {
            let (loss, divergence) = (pair.privacy_loss(direction), pair.renyi(direction, order));
            if best.as_ref().is_none_or(|best| divergence > best.0) {
                *best = Some((divergence, loss.clone()));
            }
            all.push(loss);
        }
    }
    let [Some((_, forward)), Some((_, reverse))] = largest else { return Ok(None) };
    let [above, above_reverse] = all.map(|all| PrivacyLoss::dominating(&all));
    Ok(above.zip(above_reverse).map(|(above, above_reverse)| Losses {
        enclosed: [
            EnclosedLoss { at_least: forward, at_most: above },
            EnclosedLoss { at_least: reverse, at_most: above_reverse },
        ],
        times,
    }))
}

/// The least ε of the answers together when one teacher or party changes any of its votes, at each δ: for one such pair
/// of recordings in each direction, the one with the largest divergences of the given order. None if individual votes
/// are not recorded.
pub fn one_voter(
    mechanism: NoisyArgmax,
    queries: &[RecordedQuery],
    order: Order,
    (deltas, delta): (&[Delta], Delta),
    meter: &Meter<'_>,
) -> Result<Option<Vec<EpsilonAtDelta>>> {
    if voters(queries) == 0 {
        return Ok(None);
    }
    let moves = VoterMoves::new(mechanism, queries, &[order], meter)?;
    let mut composed = Vec::new();
    for direction in Direction::BOTH {
        let losses = moves.losses(0, direction)?;
        if !losses.is_empty() {
            composed.push(ComposedDirection::of_known(&losses, delta, WIDTH)?);
        }
    }
    let at = |&delta: &Delta| EpsilonAtDelta {
        delta: delta.get(),
        epsilon: Number(composed.iter().map(|composed| composed.epsilon(delta).lower).fold(0.0, f64::max)),
    };
    Ok(Some(deltas.iter().map(at).collect()))
}

/// One answer per query of a scenario, between its two worlds.
pub fn scenario(queries: &[ScenarioQuery], deltas: &[Delta], delta: Delta) -> Result<LossComposition> {
    let pairs = parallel::try_map(queries, |query| query.model.output_pair(query.noise))?;
    let losses = |pair: &OutputPair| Losses {
        enclosed: Direction::BOTH.map(|direction| EnclosedLoss::known(pair.privacy_loss(direction))),
        times: 1,
    };
    let losses: Vec<Losses> = pairs.iter().map(losses).collect();
    compose(&losses, CostMeaning::ExactOfScenario, deltas, delta)
}

/// All together, enclosed from both sides.
pub fn compose(losses: &[Losses], meaning: CostMeaning, deltas: &[Delta], delta: Delta) -> Result<LossComposition> {
    // The neighbor is one dataset, so all answers have the same direction.
    let losses: Vec<(&[EnclosedLoss; 2], u64)> = losses.iter().map(|one| (&one.enclosed, one.times)).collect();
    let composed = if losses.is_empty() { None } else { Some(compose_losses(&losses, delta, WIDTH)?) };
    let at = |delta: Delta| {
        let epsilon = composed.as_ref().map_or(Bracket { lower: 0.0, upper: 0.0 }, |composed| composed.epsilon(delta));
        ComposedEpsilonAt { delta: delta.get(), lower: Number(epsilon.lower), upper: Number(epsilon.upper) }
    };
    let profile = deltas.iter().map(|&delta| at(delta)).collect();
    Ok(LossComposition { meaning, epsilon: at(delta), profile, one_voter: None })
}
