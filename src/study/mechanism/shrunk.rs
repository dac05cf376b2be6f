//! Smaller counterexamples.

use super::bounded::Shown;
use super::counterexample::CounterexampleFound;
use super::request::MechanismStudy;
use crate::black_box::{Candidate, Event, Goal, Output, Pair, Reduction, Sampler, simplest};
use crate::error::{Error, Result};

/// A smaller pair may need up to this many times the runs of the pair that it was made from.
const SLACK: f64 = 2.0;
/// The fewest runs after which a smaller pair is given up, and those from which an event is chosen.
const PATIENCE: u64 = 1024;
const LEAST: u64 = 256;
/// The share of the runs that is kept to test what was found.
const TEST: u64 = 2;
/// The test has this many times the runs that it took to see the violation.
const MARGIN: u64 = 8;

/// Outputs of each world that are drawn.
const DRAWN: usize = 20_000;

/// What shrinking leaves.
#[derive(Default)]
pub(super) struct Shrunk {
    pub(super) found: Option<CounterexampleFound>,
    /// Runs of each world.
    pub(super) runs: u64,
}

impl MechanismStudy<'_> {
    /// The smallest pair and the simplest event that violate the claim, tested on fresh outputs; or the counterexample
    /// as found, if nothing smaller passes the test.
    ///
    /// It takes no failure probability: nothing is shrunk unless the claim was refuted, and if the claim is true that
    /// happens with at most the failure probability.
    pub(super) fn shrunk(
        &self,
        found: CounterexampleFound,
        best: &Candidate,
        shown: &Shown,
        sampler: &mut Sampler<'_>,
    ) -> Result<Shrunk> {
        let aims = self.aims();
        let aim = shown.claims.iter().position(|claim| claim.claim == found.claim).and_then(|claim| aims.get(claim));
        let Some(&aim) = aim else { return Ok(Shrunk { found: Some(found), runs: 0 }) };
        let features = self.features;
        let each = self.runs_to_see(&found, best, shown);
        let budget = self.shrink_runs / TEST;
        let mut runs = 0;
        let mut smallest = None;
        // Where a violation is that hard to see, a smaller pair would take more runs than there are.
        if each <= budget {
            let failure = self.bounds.failure_probability;
            let reduced = Reduction { shrink: self.shrink, aim, features, failure, budget, each }.run(best, sampler)?;
            (smallest, runs) = (reduced.smallest, reduced.runs);
        }
        if let Some(smallest) = &mut smallest {
            // A gross violation is seen before there are enough outputs to choose an event with.
            let more = LEAST.saturating_sub(smallest.runs).min(self.shrink_runs - runs);
            match smallest.run(more, sampler, Goal { aims: &[aim], claimed: true, features }) {
                Err(Error::Interrupted) => {}
                other => other.map(|()| runs += more)?,
            }
        }
        let candidate = smallest.as_ref().unwrap_or(best);
        let event = simplest([&candidate.seen[0], &candidate.seen[1]], aim, features);
        let wanted = (MARGIN * candidate.runs.min(each)).max(LEAST).min(self.shrink_runs - runs);
        let tested = match event {
            Some(event) if wanted > 0 => {
                let (tested, made) = self.tested(&candidate.pair, &event, &found, wanted, sampler)?;
                runs += made;
                tested
            }
            _ => None,
        };
        Ok(Shrunk { found: Some(tested.unwrap_or(found)), runs })
    }

    /// Runs of each world after which a violation as large as this one shows.
    fn runs_to_see(&self, found: &CounterexampleFound, best: &Candidate, shown: &Shown) -> u64 {
        let line = -self.bounds.failure_probability.get().ln();
        let seen = match found.p_value {
            // The logarithm of a p-value falls with the number of outputs.
            Some(p) if shown.runs > 0 && p.0 < 1.0 => shown.runs as f64 * (line / -p.0.ln()).min(1.0),
            _ if shown.runs > 0 => shown.runs as f64,
            _ => best.runs as f64,
        };
        ((SLACK * seen) as u64).max(PATIENCE)
    }

    /// The counterexample that fresh outputs give for a pair and an event, if they refute the claim; and the runs of
    /// each world used.
    fn tested(
        &self,
        pair: &Pair,
        event: &Event,
        found: &CounterexampleFound,
        runs: u64,
        sampler: &mut Sampler<'_>,
    ) -> Result<(Option<CounterexampleFound>, u64)> {
        let aim = found.claimed.aim()?;
        let mut counts = [[0u64; 2]; 2];
        let mut kept = [Vec::new(), Vec::new()];
        let mut made = 0;
        let worlds = counts.iter_mut().zip(&mut kept);
        for ((counts, kept), dataset) in worlds.zip([&pair.dataset, &pair.neighbor]) {
            let count = |outputs: Vec<Output>| {
                counts.iter_mut().zip(event.count(&outputs)).for_each(|(sum, count)| *sum += count);
                let room = DRAWN - kept.len();
                kept.extend(outputs.into_iter().take(room));
            };
            match sampler.each_batch(dataset, runs, count) {
                Ok(Ok(())) => made = runs,
                Ok(Err(_)) | Err(Error::Interrupted) => {
                    return Ok((None, made.max(counts.iter().sum())));
                }
                Err(error) => return Err(error),
            }
        }
        let inside = counts.map(|[inside, _]| inside);
        let outputs = counts.map(|[inside, outside]| inside + outside);
        let claim = found.claim.clone();
        let tested =
            CounterexampleFound { shrunk: true, ..CounterexampleFound::new(pair, event, aim, inside, outputs, claim) };
        let failure = self.bounds.failure_probability.get();
        let refutes = tested.p_value.is_some_and(|p| p.0 <= failure);
        Ok((refutes.then(|| tested.drawn([&kept[0], &kept[1]])), runs))
    }
}
