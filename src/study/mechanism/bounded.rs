//! What fresh outputs of a pair show.

use super::answer::{OutcomeCount, WitnessFound};
use super::request::MechanismStudy;
use crate::audit::{Guide, OutputSet};
use crate::black_box::{Aim, Candidate, Chosen, Event, Output, Pair, PairCounterexample, Sampler, Tally};
use crate::bound::{Claimed, Direction};
use crate::counts::PairedCounts;
use crate::error::{Error, Result};
use crate::record::InputFile;
use crate::study::claim::Claim;
use crate::study::counts::{CountedQuery, CountsStudy, TradeOffRow};
use crate::study::number::Number;
use crate::study::rows::{BoundRow, EpsilonRow, FailureNote};
use crate::study::{Study, Warning, unwatched};

/// Runs of the first block.
const FIRST_BLOCK: u64 = 50;

/// What fresh outputs show.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) runs: u64,
    pub(super) counts: [Vec<u64>; 2],
    pub(super) bounds: Vec<BoundRow>,
    pub(super) epsilon: Vec<EpsilonRow>,
    pub(super) trade_off: Vec<TradeOffRow>,
    pub(super) claims: Vec<Claim>,
    pub(super) warnings: Vec<Warning>,
    /// How the failure probability was spent, if bounds spent it.
    pub(super) failure: Option<FailureNote>,
}

impl Shown {
    /// The outcomes with their counts.
    pub(super) fn witness(&self, looks_at: String, labels: Vec<String>) -> WitnessFound {
        let counted = labels.into_iter().zip(&self.counts[0]).zip(&self.counts[1]);
        let outcomes =
            counted.map(|((outcome, &count), &count_neighbor)| OutcomeCount { outcome, count, count_neighbor });
        WitnessFound { looks_at, outcomes: outcomes.collect() }
    }
}

/// A function from outputs to few outcomes, fixed before the outputs that it is applied to.
pub(super) struct Outcomes<'a> {
    pub(super) labels: Vec<String>,
    of: Box<dyn Fn(&Output) -> usize + 'a>,
    /// The function as JSON.
    fixed: String,
    /// Counts of other outputs.
    pilot: PairedCounts,
    /// Sets that are likelier under the dataset.
    sets: Vec<Vec<bool>>,
}

impl<'a> Outcomes<'a> {
    /// The outcomes of a witness, and the sets that are evidence against the claims.
    pub(super) fn of(chosen: &'a Chosen, aims: &[Aim]) -> Result<Self> {
        // The sets of a guide are those of Rényi divergences; that of a claim may be others.
        let sets = |aim: &Aim| Event::choose(chosen, *aim);
        Ok(Self {
            labels: chosen.witness.labels(),
            fixed: serde_json::to_string(&chosen.witness).unwrap_or_default(),
            of: Box::new(|output| chosen.witness.outcome(output)),
            pilot: chosen.witness.paired(&chosen.pilot)?,
            sets: aims.iter().flat_map(sets).map(|event| event.favoring_dataset()).collect(),
        })
    }

    /// Whether an output lies in a known event.
    pub(super) fn known(known: &'a PairCounterexample) -> Result<Self> {
        let labels = vec!["in the event".to_owned(), "outside".to_owned()];
        let counts = known.counts().map(|[inside, outside]| vec![inside, outside]);
        let [dataset, neighbor] = counts;
        let forward = known.predicate.direction() == Direction::Forward;
        Ok(Self {
            pilot: PairedCounts::new(labels.clone(), dataset, neighbor)?,
            labels,
            fixed: serde_json::to_string(&known.predicate).unwrap_or_default(),
            of: Box::new(|output| usize::from(!known.predicate.contains(output))),
            sets: vec![vec![forward, !forward]],
        })
    }

    /// A digest of pair and outcomes.
    fn identity(&self, pair: &Pair) -> String {
        let words = format!("{} {} {}", pair.dataset, pair.neighbor, self.fixed);
        InputFile::of_bytes("", words.as_bytes()).sha256
    }

    fn count(&self, outputs: &[Output], counts: &mut [u64]) {
        outputs.iter().for_each(|output| counts[(self.of)(output)] += 1);
    }

    fn guide(&self, study: &MechanismStudy<'_>) -> Result<Guide> {
        let mut guide = Guide::from_pilot(&self.pilot, &study.bounds.orders, &study.bounds.directions)?;
        for set in self.sets.iter().cloned().map(OutputSet::new) {
            if !guide.sets.sets.contains(&set) {
                guide.sets.sets.push(set);
            }
        }
        Ok(guide)
    }
}

impl MechanismStudy<'_> {
    /// What the search itself has shown, if it may end early.
    pub(super) fn early(&self, best: &Candidate, chosen: &Chosen, refuted: &[usize]) -> Shown {
        let failure = self.bounds.failure_probability.get();
        let claim = |(index, (claim, _, claimed)): (usize, (String, _, Claimed))| {
            let refuted = refuted.contains(&index);
            // A refuted claim is below the truth: the claim itself is the bound that was shown.
            let lower = Number(if refuted { claimed.get() } else { 0.0 });
            Claim { claim, lower, query: best.pair.pattern.clone(), refuted, failure_probability: failure }
        };
        let claims = self.bounds.claims.all().into_iter().enumerate().map(claim).collect();
        Shown { counts: chosen.pilot.clone(), claims, ..Shown::default() }
    }

    /// Runs of each world in the next block: few at first, so that little time is enough to see something of both.
    fn block(&self, done: u64) -> u64 {
        done.max(FIRST_BLOCK).min(self.batch.max(1) as u64)
    }

    /// The runs of each world that were kept, and their counts; `none` if nothing was kept.
    fn recalled(&self, of: &str, none: [Vec<u64>; 2], wanted: u64, sampler: &mut Sampler<'_>) -> (u64, [Vec<u64>; 2]) {
        let outcomes = none[0].len();
        let is_sound = |tally: &Tally| {
            let sum = |counts: &[u64]| counts.iter().try_fold(0, |sum: u64, &count| sum.checked_add(count));
            let sound = |counts: &Vec<u64>| counts.len() == outcomes && sum(counts) == Some(tally.runs);
            tally.counts.iter().all(sound) && tally.runs <= wanted
        };
        match self.journal.and_then(|journal| journal.recall_tally(of)).filter(is_sound) {
            Some(tally) => {
                let mut before = 0;
                while before < tally.runs {
                    sampler.skip(2);
                    before += self.block(before);
                }
                (tally.runs, tally.counts)
            }
            None => (0, none),
        }
    }

    /// Bounds from fresh runs of a pair; none if time ran out before the first run.
    pub(super) fn bounded(
        &self,
        pair: &Pair,
        outcomes: &Outcomes<'_>,
        wanted: u64,
        sampler: &mut Sampler<'_>,
    ) -> Result<Option<Shown>> {
        let none = || [0, 1].map(|_| vec![0u64; outcomes.labels.len()]);
        let datasets = [&pair.dataset, &pair.neighbor];
        let of = outcomes.identity(pair);
        let (mut done, mut counts) = self.recalled(&of, none(), wanted, sampler);
        let mut over = false;
        let mut failed = None;
        while done < wanted && !over && failed.is_none() {
            // Both worlds by turns: what ends early has seen as much of each.
            let now = self.block(done).min(wanted - done);
            let mut fresh = none();
            for (fresh, dataset) in fresh.iter_mut().zip(datasets) {
                match sampler.each_batch(dataset, now, |outputs| outcomes.count(&outputs, fresh)) {
                    Ok(Ok(())) => {}
                    Ok(Err(trouble)) => failed = Some(self.no_outputs(dataset, &trouble)),
                    Err(Error::Interrupted) => over = true,
                    Err(error) => failed = Some(error),
                }
                if failed.is_some() {
                    break;
                }
            }
            let over = over || failed.is_some();
            if !over {
                done += now;
                for (counts, fresh) in counts.iter_mut().zip(fresh) {
                    counts.iter_mut().zip(fresh).for_each(|(sum, count)| *sum += count);
                }
            }
            if let Some(journal) = self.journal {
                let tally = Tally { of: of.clone(), runs: done, counts: counts.clone() };
                journal.keep_tally(&tally, over || done >= wanted)?;
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        if done == 0 {
            return Ok(None);
        }
        let [dataset, neighbor] = counts.clone();
        let query = CountedQuery {
            name: pair.pattern.clone(),
            counts: PairedCounts::new(outcomes.labels.clone(), dataset, neighbor)?,
            guide: outcomes.guide(self)?,
        };
        let study = CountsStudy {
            bounds: self.bounds.clone(),
            trade_off: true,
            seed: self.seed,
            ..CountsStudy::new(vec![query])
        };
        let answer = study.run(&unwatched)?;
        let mut warnings = answer.warnings;
        warnings.extend(over.then(|| Warning {
            code: "out-of-time",
            message: format!("the work ended after {done} of {wanted} fresh runs of each dataset"),
            hint: "give it more time, or fewer runs; the bounds hold if the end did not depend on the outputs".into(),
        }));
        let (bounds, epsilon, trade_off, claims) = (answer.bounds, answer.epsilon, answer.trade_off, answer.claims);
        let failure = Some(answer.failure);
        Ok(Some(Shown { runs: done, counts, bounds, epsilon, trade_off, claims, warnings, failure }))
    }
}
