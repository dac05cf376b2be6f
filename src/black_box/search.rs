//! The pair of neighbors, and the witness, that show most of a claim's violation.

use super::aim::{Aim, Goal};
use super::neighbors::Pair;
use super::output::Output;
use super::sampler::Sampler;
use super::trouble::Trouble;
use super::wager::Wager;
use super::witness::{Chosen, Witness};
use crate::error::{Error, Result};
use crate::quantity::FailureProbability;

/// Runs of each world that a pair gets first.
pub(super) const FIRST: u64 = 32;
/// Pairs of the first wave; each wave is twice as long.
const WAVE: usize = 12;
/// Pairs of a wave that stay: one of so many.
const KEPT: usize = 2;
/// Runs of each world that a pair gets before the others of its wave are left for the next wave.
const LAST: u64 = 64;
/// Outputs of each world that are kept of a pair, and from which its witness is made.
const MEMORY: usize = 20_000;
/// Pairs that are tried sooner have more of the failure probability.
const EARLY: f64 = 4.0;

/// A pair with what was seen of it.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) pair: Pair,
    /// Outputs of both worlds, the first ones.
    pub(crate) seen: [Vec<Output>; 2],
    pub(crate) runs: u64,
    pub(crate) chosen: Option<Chosen>,
    /// Why one of both worlds, by its place, has no outputs.
    pub(crate) trouble: Option<(usize, Trouble)>,
    wagers: Vec<Wager>,
    /// ln of the largest wealth of each wager.
    evidence: Vec<f64>,
    /// ln of the share of the failure probability.
    log_weight: f64,
}

/// How the search ended.
#[derive(Debug)]
pub(crate) struct Found {
    /// All pairs, in the order of their score.
    pub(crate) candidates: Vec<Candidate>,
    /// The claims that are refuted, by their place among the aims.
    pub(crate) refuted: Vec<usize>,
    /// Runs of each world.
    pub(crate) runs: u64,
    /// Whether the time was over.
    pub(crate) over: bool,
}

impl Candidate {
    pub(super) fn new(pair: Pair, aims: &[Aim], log_weight: f64) -> Self {
        Self {
            pair,
            seen: [Vec::new(), Vec::new()],
            runs: 0,
            chosen: None,
            trouble: None,
            wagers: aims.iter().map(|&aim| Wager::new(aim)).collect(),
            evidence: vec![0.0; aims.len()],
            log_weight,
        }
    }

    pub(crate) fn score(&self) -> f64 {
        self.chosen.as_ref().map_or(0.0, |chosen| chosen.score)
    }

    /// ln of the evidence against a claim, in which the other pairs and claims have their share.
    pub(crate) fn log_evidence(&self, aim: usize) -> f64 {
        self.evidence[aim] + self.log_weight
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

    /// So many more runs of each world: they are bet on first and learned from then.
    pub(crate) fn run(&mut self, runs: u64, sampler: &mut Sampler<'_>, goal: Goal<'_>) -> Result<()> {
        let mut left = runs;
        while left > 0 {
            // Outputs of a long block are not held at once.
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
            for (seen, fresh) in self.seen.iter_mut().zip(fresh) {
                let room = MEMORY.saturating_sub(seen.len());
                seen.extend(fresh.into_iter().take(room));
            }
        }
        self.runs += runs;
        self.chosen = Witness::choose([&self.seen[0], &self.seen[1]], goal);
        Ok(())
    }
}

/// The search among pairs.
pub(crate) struct Search<'a> {
    pub(crate) goal: Goal<'a>,
    pub(crate) failure: FailureProbability,
    /// The most runs of each world.
    pub(crate) budget: u64,
    /// Whether it ends as soon as a claim is refuted.
    pub(crate) stop_early: bool,
    /// Runs of each world that the winner must have had.
    pub(crate) pilot: u64,
}

impl Search<'_> {
    /// Tries pairs in waves: in each wave the better half of the pairs gets twice the runs, until the last one had
    /// enough; two of each wave stay in the race. The winner then gets what it needs as a pilot, or all that is left
    /// where the search is the test.
    ///
    /// # Errors
    /// As [`Sampler::each_batch`].
    pub(crate) fn run(&self, pairs: Vec<Pair>, sampler: &mut Sampler<'_>) -> Result<Found> {
        let weight = |place: usize| 1.0 / (place as f64 + EARLY);
        let all: f64 = (0..pairs.len()).map(weight).sum::<f64>() * self.goal.aims.len().max(1) as f64;
        let make = |(place, pair)| Candidate::new(pair, self.goal.aims, (weight(place) / all).ln());
        let mut waiting = pairs.into_iter().enumerate().map(make).collect::<Vec<_>>().into_iter();
        let mut found = Found { candidates: Vec::new(), refuted: Vec::new(), runs: 0, over: false };
        let mut wave = WAVE;
        loop {
            let mut racing: Vec<Candidate> = waiting.by_ref().take(wave).collect();
            if racing.is_empty() || self.is_done(&found, sampler) {
                found.candidates.extend(racing);
                break;
            }
            wave *= 2;
            let mut each = FIRST;
            while !racing.is_empty() {
                for candidate in &mut racing {
                    let runs = each.min(self.budget - found.runs);
                    self.spend(candidate, runs, sampler, &mut found)?;
                    if self.is_done(&found, sampler) {
                        break;
                    }
                }
                // A pair without outputs has no more runs to come: it leaves the race.
                let sound = racing.iter().filter(|candidate| candidate.trouble.is_none()).count();
                racing.sort_by(|a, b| {
                    (a.trouble.is_some().cmp(&b.trouble.is_some())).then(b.score().total_cmp(&a.score()))
                });
                let stay = if racing.len() <= KEPT && each >= LAST || self.is_done(&found, sampler) {
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

    /// The best pairs of all waves, with as many runs as the winner needs.
    fn finish(&self, found: &mut Found, sampler: &mut Sampler<'_>) -> Result<()> {
        loop {
            // Whatever has no outputs comes last, behind sound pairs that show nothing.
            found.candidates.sort_by(|a, b| {
                let last = |candidate: &Candidate| (candidate.trouble.is_some(), candidate.chosen.is_none());
                last(a).cmp(&last(b)).then(b.score().total_cmp(&a.score()))
            });
            let Some(best) = found.candidates.first() else { return Ok(()) };
            let enough = !self.stop_early && best.runs >= self.pilot;
            if best.trouble.is_some() || enough || self.is_done(found, sampler) {
                return Ok(());
            }
            let more = best.runs.max(FIRST).min(self.budget - found.runs);
            let more = if self.stop_early { more } else { more.min(self.pilot - best.runs) };
            let mut best = found.candidates.remove(0);
            let spent = self.spend(&mut best, more, sampler, found);
            found.candidates.insert(0, best);
            spent?;
        }
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

    fn is_done(&self, found: &Found, sampler: &Sampler<'_>) -> bool {
        self.stop_early && !found.refuted.is_empty() || found.runs >= self.budget || found.over || sampler.is_over()
    }
}
