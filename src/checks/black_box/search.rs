//! The pair of neighbors, and the witness, that show most of a claim's violation.

use super::aim::{Aim, Goal};
use super::neighbors::Pair;
use super::output::Output;
use super::sampler::Sampler;
use super::trouble::Trouble;
use super::wager::Wager;
use super::witness::{Chosen, Witness, soonest_at_best};
use crate::error::{Error, Result};
use crate::order;
use crate::quantity::FailureProbability;

/// Runs of each world that a pair gets first.
pub(super) const FIRST: u64 = 32;
/// Pairs of the first wave; each wave is twice as long.
const WAVE: usize = 12;
/// Of this many pairs of a wave, one stays.
const KEPT: usize = 2;
/// Runs of each world that a pair gets before the others of its wave are left for the next wave.
const LAST: u64 = 64;
/// Outputs of each world that are kept for a pair, and from which its witness is made.
const MEMORY: usize = 20_000;
/// Pairs that are tried sooner have more of the failure probability.
const EARLY: f64 = 4.0;
/// From this many runs of each world on, no pair is examined for what it may hide.
const DEEPEST: u64 = 8192;
/// ln of the Bayes factor below which all evidence against a claim may be luck.
const DISMISSED: f64 = -2.0;
/// The fewest runs of each world that are worth a look.
const LEAST: u64 = 8;

/// A pair with what was seen of it.
#[derive(Debug)]
pub struct Candidate {
    /// The pair.
    pub pair: Pair,
    /// Outputs of both worlds, the first ones.
    pub seen: [Vec<Output>; 2],
    /// Runs of each world.
    pub runs: u64,
    /// The event that was chosen.
    pub chosen: Option<Chosen>,
    /// What was chosen when the memory was full, and counts of the outputs since then.
    remembered: Option<(Chosen, [Vec<u64>; 2])>,
    /// Why one of both worlds, by its place, has no outputs.
    pub trouble: Option<(usize, Trouble)>,
    wagers: Vec<Wager>,
    /// ln of the largest wealth of each wager.
    evidence: Vec<f64>,
    /// The fewest runs of each world that refute a claim, for all that these outputs can tell.
    hidden: f64,
    /// ln of the share of the failure probability.
    log_weight: f64,
}

/// How the search ended.
#[derive(Debug)]
pub struct Found {
    /// All pairs, in the order of their score.
    pub candidates: Vec<Candidate>,
    /// The claims that are refuted, by their place among the aims.
    pub refuted: Vec<usize>,
    /// Runs of each world.
    pub runs: u64,
    /// Whether the time was over.
    pub over: bool,
}

impl Candidate {
    pub(super) fn new(pair: Pair, aims: &[Aim], log_weight: f64) -> Self {
        Self {
            pair,
            seen: [Vec::new(), Vec::new()],
            runs: 0,
            chosen: None,
            remembered: None,
            trouble: None,
            wagers: aims.iter().map(|&aim| Wager::new(aim)).collect(),
            evidence: vec![0.0; aims.len()],
            hidden: 0.0,
            log_weight,
        }
    }

    /// The strength of the evidence against the claim; the pair with the largest score is tested.
    pub fn score(&self) -> f64 {
        self.chosen.as_ref().map_or(0.0, |chosen| chosen.score)
    }

    /// ln of the evidence against a claim, in which the other pairs and claims have their share.
    pub fn log_evidence(&self, aim: usize) -> f64 {
        self.evidence[aim] + self.log_weight
    }

    /// ln of the Bayes factor against a claim; `-inf` without evidence against any.
    fn doubt(&self) -> f64 {
        self.chosen.as_ref().map_or(f64::NEG_INFINITY, |chosen| chosen.doubt.log_factor)
    }

    /// Whether this many further runs of each world promise to refute a claim.
    fn promises(&self, within: u64) -> bool {
        self.chosen.as_ref().is_some_and(|chosen| chosen.doubt.soonest <= within as f64)
    }

    /// Whether a claim may be violated so much that further runs would refute it, whatever was seen so far.
    fn is_open(&self, within: u64) -> bool {
        self.trouble.is_none() && self.hidden <= within as f64
    }

    /// The probability, by the bets, that a claim is violated, if it was ½ before.
    fn belief(&self) -> f64 {
        let largest = self.wagers.iter().map(Wager::log_wealth).fold(f64::NEG_INFINITY, f64::max);
        1.0 / (1.0 + libm::exp(-largest))
    }

    /// Bets on outputs by what was seen before them.
    fn bet(&mut self, fresh: &[Vec<Output>; 2]) {
        let Some(chosen) = &self.chosen else { return };
        let outcomes = [0, 1]
            .map(|world| fresh[world].iter().map(|output| chosen.witness.outcome(output)).collect::<Vec<usize>>());
        for (wager, evidence) in self.wagers.iter_mut().zip(&mut self.evidence) {
            wager.bet(&chosen.pilot, [&outcomes[0], &outcomes[1]]);
            *evidence = evidence.max(wager.log_wealth());
        }
    }

    /// Counts outputs that are not remembered any longer.
    fn count(&mut self, fresh: &[Vec<Output>; 2]) {
        let Some((chosen, further)) = &mut self.remembered else { return };
        for (further, fresh) in further.iter_mut().zip(fresh) {
            fresh.iter().for_each(|output| further[chosen.witness.outcome(output)] += 1);
        }
    }

    /// This many more runs of each world: bets on them come first, learning from them second.
    pub fn run(&mut self, runs: u64, sampler: &mut Sampler<'_>, goal: Goal<'_>) -> Result<()> {
        let mut left = runs;
        while left > 0 {
            // Outputs of a long block are not held in memory together.
            let now = left.min(MEMORY as u64);
            left -= now;
            let mut fresh = [Vec::new(), Vec::new()];
            for (world, dataset) in [&self.pair.dataset, &self.pair.neighbor].into_iter().enumerate() {
                match sampler.outputs(dataset, now)? {
                    Ok(outputs) => fresh[world] = outputs,
                    Err(trouble) => {
                        self.trouble = Some((world, trouble));
                        self.chosen = None;
                        return Ok(());
                    }
                }
            }
            self.bet(&fresh);
            self.count(&fresh);
            for (seen, fresh) in self.seen.iter_mut().zip(fresh) {
                let room = MEMORY.saturating_sub(seen.len());
                seen.extend(fresh.into_iter().take(room));
            }
        }
        self.runs += runs;
        self.chosen = match &self.remembered {
            None => Witness::choose([&self.seen[0], &self.seen[1]], goal),
            // Few further outputs show less than those that are remembered.
            Some((chosen, further)) if further[0].iter().sum::<u64>() < MEMORY as u64 => Some(chosen.clone()),
            Some((chosen, further)) => Some(chosen.with(further, goal.aims)),
        };
        if self.remembered.is_none() && self.seen.iter().all(|seen| seen.len() == MEMORY) {
            let none = |chosen: &Chosen| [0, 1].map(|world| vec![0; chosen.pilot[world].len()]);
            self.remembered = self.chosen.clone().map(|chosen| (chosen.clone(), none(&chosen)));
        }
        let nothing = [0, 1].map(|world| vec![self.seen[world].len() as u64]);
        let counts = self.chosen.as_ref().map_or(&nothing, |chosen| &chosen.pilot);
        self.hidden = soonest_at_best(counts, goal.aims);
        Ok(())
    }
}

/// The search among pairs.
pub struct Search<'a> {
    /// What is sought.
    pub goal: Goal<'a>,
    /// The failure probability of the whole search.
    pub failure: FailureProbability,
    /// Runs of each world, those of the test included.
    pub total: u64,
    /// The most runs of each world before the second look.
    pub budget: u64,
    /// The most runs of each world of the second look.
    pub looks: u64,
    /// The most runs of each world of the whole search.
    pub most: u64,
    /// Whether it ends as soon as a claim is refuted.
    pub stop_early: bool,
    /// Runs of each world that the winner must have had.
    pub pilot: u64,
}

/// Runs of each world that were spent on looks, and on the best pair.
#[derive(Default)]
struct Spent {
    looks: u64,
    best: u64,
}

impl Search<'_> {
    /// Tries pairs in waves: in each wave the better half of the pairs gets twice the runs, until the last one had
    /// enough; two of each wave stay in the race. A few runs show only frequent leaks, so all pairs that may leak
    /// rarely are then examined again. The winner gets the runs it needs as a pilot, or all that are left if the search
    /// is the test.
    ///
    /// # Errors
    /// As [`Sampler::each_batch`].
    pub fn run(&self, pairs: Vec<Pair>, sampler: &mut Sampler<'_>) -> Result<Found> {
        let weight = |place: usize| 1.0 / (place as f64 + EARLY);
        let all: f64 = (0..pairs.len()).map(weight).sum::<f64>() * self.goal.aims.len().max(1) as f64;
        let make = |(place, pair)| Candidate::new(pair, self.goal.aims, (weight(place) / all).ln());
        let mut waiting = pairs.into_iter().enumerate().map(make).collect::<Vec<_>>().into_iter();
        let mut found = Found { candidates: Vec::new(), refuted: Vec::new(), runs: 0, over: false };
        let mut wave = WAVE;
        loop {
            let mut racing: Vec<Candidate> = waiting.by_ref().take(wave).collect();
            if racing.is_empty() || self.is_done(self.budget, &found, sampler) {
                found.candidates.extend(racing);
                break;
            }
            wave *= 2;
            let mut each = FIRST;
            while !racing.is_empty() {
                for candidate in &mut racing {
                    let runs = each.min(self.budget - found.runs);
                    self.spend(candidate, runs, sampler, &mut found)?;
                    if self.is_done(self.budget, &found, sampler) {
                        break;
                    }
                }
                // A pair without outputs has no more runs to come: it leaves the race.
                let sound = racing.iter().filter(|candidate| candidate.trouble.is_none()).count();
                order::sort(&mut racing, |a, b| {
                    (a.trouble.is_some().cmp(&b.trouble.is_some())).then(b.score().total_cmp(&a.score()))
                });
                let stay = if racing.len() <= KEPT && each >= LAST || self.is_done(self.budget, &found, sampler) {
                    0
                } else {
                    racing.len().div_ceil(2).max(KEPT.min(racing.len()))
                };
                found.candidates.extend(racing.split_off(stay.min(sound)));
                // Two rounds of the first length: the first one has no witness to bet on.
                each = racing.first().map_or(each, |first| first.runs);
            }
        }
        found.candidates.extend(waiting);
        self.finish(&mut found, sampler)?;
        found.over |= sampler.is_over();
        Ok(found)
    }

    /// The second look at all pairs, and the runs of the best one that the winner needs; alternating if the search is
    /// the test, with more runs of the best one the better its bets went.
    fn finish(&self, found: &mut Found, sampler: &mut Sampler<'_>) -> Result<()> {
        let mut spent = Spent::default();
        loop {
            self.rank(found);
            let Some(best) = found.candidates.first() else { return Ok(()) };
            if best.trouble.is_some() || self.is_done(self.most, found, sampler) {
                return Ok(());
            }
            let looked = self.look(found, &spent);
            let Some((place, runs)) = looked.or_else(|| self.better(found)) else { return Ok(()) };
            if looked.is_some() {
                spent.looks += runs
            } else {
                spent.best += runs
            }
            let mut candidate = found.candidates.remove(place);
            let outcome = self.spend(&mut candidate, runs, sampler, found);
            found.candidates.insert(place, candidate);
            outcome?;
        }
    }

    /// First the pair with the most evidence against a claim, unless that is dismissed; then the one that shows most of
    /// a claim, which alone counts once a claim is refuted or without claims. Pairs without outputs come last.
    fn rank(&self, found: &mut Found) {
        let by_score = self.shows(found);
        let doubt = |candidate: &Candidate| match candidate.doubt() {
            doubt if !by_score && doubt > DISMISSED => doubt,
            _ => DISMISSED,
        };
        order::sort(&mut found.candidates, |a, b| {
            let last = |candidate: &Candidate| (candidate.trouble.is_some(), candidate.chosen.is_none());
            (last(a).cmp(&last(b))).then(doubt(b).total_cmp(&doubt(a))).then(b.score().total_cmp(&a.score()))
        });
    }

    /// Whether a pair is chosen only by the leakage it shows: there is nothing to refute, or it was refuted.
    fn shows(&self, found: &Found) -> bool {
        self.looks == 0 || !found.refuted.is_empty()
    }

    /// The pair that gets more runs, and twice its runs: the best one, and then each other one with evidence against a
    /// claim, up to the runs that the winner must have had.
    fn better(&self, found: &Found) -> Option<(usize, u64)> {
        let left = self.most - found.runs;
        if self.stop_early {
            return found.candidates.first().map(|best| (0, best.runs.max(FIRST).min(left)));
        }
        let shows = self.shows(found);
        let wanting = |(place, candidate): (usize, &Candidate)| {
            let doubted = place == 0 || !shows && candidate.doubt() > f64::NEG_INFINITY;
            let runs = candidate.runs.max(FIRST).min(left).min(self.pilot.saturating_sub(candidate.runs));
            (doubted && runs > 0).then_some((place, runs))
        };
        found.candidates.iter().enumerate().find_map(wanting)
    }

    /// The pair that is looked at again, and its runs of each world; none if it is the best pair's turn.
    ///
    /// A pair has its turns until no violation that it may hide could be shown with the runs that are left. Those with
    /// the fewest runs get twice their number, or equal shares of the runs left for looks: of all runs of the search,
    /// while none promises anything.
    fn look(&self, found: &Found, spent: &Spent) -> Option<(usize, u64)> {
        let within = self.total - found.runs;
        let best = found.candidates.first()?;
        let promises = best.promises(within);
        let belief = if promises { best.belief() } else { 0.0 };
        let turn = (spent.looks as f64) < (spent.looks + spent.best) as f64 * (1.0 - belief);
        if self.shows(found) || self.stop_early && promises && !turn {
            return None;
        }
        let open = |candidate: &Candidate| candidate.is_open(within) && candidate.runs < DEEPEST;
        let fewest =
            found.candidates.iter().filter(|candidate| open(candidate)).map(|candidate| candidate.runs).min()?;
        let due = |candidate: &&Candidate| open(candidate) && candidate.runs == fewest;
        let waiting = found.candidates.iter().filter(due).count() as u64;
        let kept = if self.stop_early { 0 } else { self.pilot.saturating_sub(best.runs) };
        let left = (self.most - found.runs).saturating_sub(kept);
        let left = if promises { left.min(self.looks.saturating_sub(spent.looks)) } else { left };
        let deepest = DEEPEST - fewest;
        let each = fewest.max(FIRST).min(left / waiting).min(deepest);
        let place = found.candidates.iter().position(|candidate| due(&candidate))?;
        (each >= LEAST.min(deepest)).then_some((place, each))
    }

    fn spend(&self, candidate: &mut Candidate, runs: u64, sampler: &mut Sampler<'_>, found: &mut Found) -> Result<()> {
        match candidate.run(runs, sampler, self.goal) {
            // What was seen before is kept.
            Err(Error::Interrupted) => found.over = true,
            other => other.map(|()| found.runs += runs)?,
        }
        let line = -self.failure.get().ln();
        for aim in 0..self.goal.aims.len() {
            if candidate.log_evidence(aim) >= line && !found.refuted.contains(&aim) {
                found.refuted.push(aim);
            }
        }
        Ok(())
    }

    fn is_done(&self, most: u64, found: &Found, sampler: &Sampler<'_>) -> bool {
        self.stop_early && !found.refuted.is_empty() || found.runs >= most || found.over || sampler.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dataset, Features, FunctionBlackBox};
    use super::*;
    use crate::program::Stop;
    use crate::quantity::Delta;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A pair that is run longer is known better, although it is its first outputs that are remembered.
    #[test]
    fn outputs_beyond_the_memory_are_counted() {
        let source = FunctionBlackBox::new("bits", |dataset: &Dataset, runs, seed| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            let share = if dataset.records().is_empty() { 0.3 } else { 0.5 };
            Ok((0..runs).map(|_| Output::Bool(stream.random_bool(share))).collect())
        });
        let mut sampler = Sampler::new(&source, 1000, 1, Stop::default());
        let aims = [Aim::Epsilon(Delta::new(0.0).unwrap(), 1.0)];
        let goal = Goal { aims: &aims, claimed: true, features: Features::Auto };
        let [dataset, neighbor] = ["[1]", "[]"].map(|records| records.parse().unwrap());
        let mut candidate = Candidate::new(Pair { dataset, neighbor, pattern: "one record".into() }, &aims, 0.0);
        let memory = MEMORY as u64;
        for (runs, known) in [(memory / 2, 10_000), (memory / 2, memory), (memory / 2, memory), (2 * memory, 70_000)] {
            candidate.run(runs, &mut sampler, goal).unwrap();
            let chosen = candidate.chosen.as_ref().unwrap();
            assert_eq!(chosen.pilot.each_ref().map(|counts| counts.iter().sum::<u64>()), [known; 2]);
            assert!(candidate.seen.iter().all(|seen| seen.len() as u64 <= memory));
            // ln 5/3 of 1, for the set of all `true`.
            assert!((chosen.score - (5.0f64 / 3.0).ln()).abs() < 0.05, "{}", chosen.score);
        }
        assert_eq!(candidate.runs, 70_000);
    }
}
