//! Sets of outputs that a few words describe.

use super::aim::{Aim, Goal};
use super::event::Event;
use super::feature::Features;
use super::output::Output;
use super::witness::{Trial, by_ratio, trials};
use crate::bound::Direction;
use crate::order;

/// Sets of a witness that are looked at a second time, the strongest ones.
const KEPT: usize = 12;
/// A simpler set may have evidence weaker by this factor against a claim.
const ENOUGH: f64 = 0.7;
/// Rounding its ends may weaken that by this factor.
const ROUNDED: f64 = 0.9;
/// The significant digits that are tried.
const DIGITS: std::ops::RangeInclusive<usize> = 1..=6;

/// A set, how hard it is to describe, and the strength of its evidence against the claim.
struct Simple {
    event: Event,
    difficulty: usize,
    strength: f64,
}

/// The set of outputs that is easiest to describe among those with about the strongest evidence against a claim.
///
/// Sets are found with one half of the outputs and compared with the other; it takes fresh outputs to test one.
pub fn simplest(worlds: [&[Output]; 2], aim: Aim, features: Features) -> Option<Event> {
    let found: Vec<Simple> = trials(worlds, Goal { aims: &[aim], claimed: true, features })
        .iter()
        .flat_map(|trial| sets(trial, aim))
        .collect();
    let strongest = found.iter().map(|set| set.strength).fold(0.0, f64::max);
    // Beyond 1 the strength counts standard deviations.
    let enough = if strongest > 1.0 { 1.0 + ENOUGH * (strongest - 1.0) } else { strongest };
    let best = found
        .into_iter()
        .filter(|set| set.strength >= enough && set.strength > 0.0)
        .min_by(|a, b| a.difficulty.cmp(&b.difficulty).then(b.strength.total_cmp(&a.strength)))?;
    Some(rounded(best.event, worlds, aim))
}

/// Outcomes that a set may consist of, with the difficulty of describing them: single ones, ranges of bins, and those
/// of the largest ratios.
fn ranges(trial: &Trial) -> Vec<(Vec<usize>, usize)> {
    let bins = trial.witness.bins();
    let outcomes = trial.witness.outcomes();
    let mut found: Vec<(Vec<usize>, usize)> = Vec::new();
    for first in bins.clone() {
        for last in first..bins.end {
            let ends = usize::from(first > bins.start) + usize::from(last + 1 < bins.end);
            found.push(((first..=last).collect(), ends));
        }
    }
    found.extend((0..outcomes).filter(|outcome| !bins.contains(outcome)).map(|outcome| (vec![outcome], 1)));
    let order = by_ratio(&trial.made);
    for end in 2..order.len() {
        for part in [&order[..end], &order[end..]] {
            let mut part = part.to_vec();
            part.sort_unstable();
            let neighbors = part.windows(2).filter(|pair| pair[0] + 1 == pair[1] && bins.contains(&pair[0])).count();
            let difficulty = 2 * (part.len() - neighbors);
            found.push((part, difficulty));
        }
    }
    found
}

/// Sets of outcomes of a witness, strongest by the half that made it, with their strength by the other half.
fn sets(trial: &Trial, aim: Aim) -> Vec<Simple> {
    let strength = |counts: &[Vec<u64>; 2], outcomes: &[usize], reverse: bool| {
        let mut worlds = [0, 1].map(|world| {
            let inside: u64 = outcomes.iter().map(|&outcome| counts[world][outcome]).sum();
            (inside as f64, counts[world].iter().sum::<u64>() as f64)
        });
        if reverse {
            worlds.reverse();
        }
        aim.strength(worlds.map(|world| world.0), worlds.map(|world| world.1), Direction::Forward)
    };
    let mut found: Vec<(Vec<usize>, usize, bool, f64)> = ranges(trial)
        .into_iter()
        .flat_map(|(outcomes, difficulty)| [(outcomes.clone(), difficulty, false), (outcomes, difficulty, true)])
        .map(|(outcomes, difficulty, reverse)| {
            let shown = strength(&trial.made, &outcomes, reverse);
            (outcomes, difficulty, reverse, shown)
        })
        .collect();
    order::sort(&mut found, |a, b| b.3.total_cmp(&a.3));
    // The strongest ones, and the strongest of those that are easy to describe.
    let (easy, hard): (Vec<_>, Vec<_>) = found.into_iter().partition(|set| set.1 <= 1);
    let view = trial.witness.difficulty();
    let second = |(mut outcomes, difficulty, reverse, _): (Vec<usize>, usize, bool, f64)| {
        let strength = strength(&trial.shown, &outcomes, reverse);
        // What was never seen carries no information.
        outcomes.retain(|&outcome| [&trial.made, &trial.shown].iter().any(|c| c[0][outcome] + c[1][outcome] > 0));
        let event = Event::new(trial.witness.clone(), outcomes, reverse);
        Simple { event, difficulty: view + difficulty, strength }
    };
    easy.into_iter().take(KEPT).chain(hard.into_iter().take(KEPT)).map(second).collect()
}

/// The same set with bins that touch as one, and its ends rounded as far as it stays about as strong.
fn rounded(event: Event, worlds: [&[Output]; 2], aim: Aim) -> Event {
    let strength = |event: &Event| {
        let mut counts = worlds.map(|world| event.count(world).map(|count| count as f64));
        if event.direction() == Direction::Reverse {
            counts.reverse();
        }
        let [inside, all] = [counts.map(|[inside, _]| inside), counts.map(|[inside, outside]| inside + outside)];
        aim.strength(inside, all, Direction::Forward)
    };
    let Some(joined) = event.joined() else { return event };
    let enough = 1.0 + ROUNDED * (strength(&joined) - 1.0);
    DIGITS.filter_map(|digits| joined.rounded(digits)).find(|next| strength(next) >= enough).unwrap_or(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Delta;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    #[test]
    fn events_are_short_and_strong() {
        let mut stream = ChaCha8Rng::seed_from_u64(5);
        let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
        let aim = Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0);
        let shifted = |normal: &mut dyn FnMut() -> f64, shift: f64| -> Vec<Output> {
            (0..4000).map(|_| Output::Number(normal() + shift)).collect()
        };
        let (a, b) = (shifted(&mut normal, 3.0), shifted(&mut normal, 0.0));
        let event = simplest([&a, &b], aim, Features::Auto).unwrap();
        let words = event.to_string();
        // One end, and few digits of it.
        assert!(words.starts_with("output in ") && words.contains("inf") && words.len() < 26, "{words}");
        assert!(event.is_sound() && event.count(&a)[0] != event.count(&b)[0]);
        let both = |worlds: [&[Output]; 2]| simplest(worlds, aim, Features::Auto).unwrap().to_string();
        let mut answers = |yes: f64| -> Vec<Output> {
            (0..1000).map(|_| Output::Text(if stream.random_bool(yes) { "yes" } else { "no" }.into())).collect()
        };
        let (a, b) = (answers(0.99), answers(0.5));
        assert_eq!(both([&a, &b]), "the output is \"no\"");
        assert!(simplest([&[], &[]], aim, Features::Auto).is_none());
    }
}
