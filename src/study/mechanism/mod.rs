//! Where does a program leak, and how much?

mod counterexample;
mod request;

pub use counterexample::CounterexampleFound;
pub use request::MechanismStudy;

use super::claim::Claim;
use super::counts::{CountedQuery, CountsStudy, TradeOffRow};
use super::number::Number;
use super::progress::{Meter, Progress};
use super::rows::{BoundRow, EpsilonRow, FailureNote};
use super::{Answer, Study, Warning};
use crate::audit::{FailurePer, Guide, OutputSet};
use crate::black_box::{Aim, Candidate, Chosen, Dataset, Event, Sampler, Search, Trouble};
use crate::error::{Error, InputError, Result};
use crate::model::Composition;
use crate::program::Stop;
use serde::Serialize;
use std::ops::ControlFlow;

/// Of the runs of each world: what the search may take, and what the winner's witness is made from.
const SEARCH: f64 = 0.3;
const PILOT: f64 = 0.1;
/// Of the time: what the search may take before the bounds.
const SEARCH_TIME: f64 = 0.5;
/// Runs that show whether the program repeats itself.
const REPEATED: usize = 5;
/// Pairs that are listed.
const LISTED: usize = 20;

/// A pair of datasets that was tried.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriedPair {
    /// The dataset.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub dataset: Dataset,
    /// Its neighbor.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Value>"))]
    pub neighbor: Dataset,
    /// What the pair looks like.
    pub pattern: String,
    /// Runs of each of both.
    pub runs: u64,
    /// The largest share of a claim that these runs make plausible: above 1 the claim is in doubt.
    pub score: Number,
    /// Why there are no outputs, if the program takes no such dataset or failed.
    pub trouble: Option<String>,
}

/// An outcome: outputs that are counted together.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutcomeCount {
    /// The outcome in words.
    pub outcome: String,
    /// Outputs of the dataset.
    pub count: u64,
    /// Outputs of its neighbor.
    pub count_neighbor: u64,
}

/// The function from outputs to outcomes under which both worlds were compared.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WitnessFound {
    /// What it looks at.
    pub looks_at: String,
    /// Fresh outputs by outcome; those of the search where it ended early.
    pub outcomes: Vec<OutcomeCount>,
}

/// Runs of each world.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsMade {
    /// Those of the search over all pairs, which choose pair and witness.
    pub search: u64,
    /// Fresh ones of the chosen pair, from which the bounds come.
    pub bounded: u64,
}

/// The answer of a [`MechanismStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MechanismAnswer {
    /// The program.
    pub program: String,
    /// Whether it gave the same outputs again for the same seed.
    pub repeatable: bool,
    /// Runs of each world.
    pub runs: RunsMade,
    /// Pairs that were tried most, the best first.
    pub pairs: Vec<TriedPair>,
    /// Pairs that were tried.
    pub tried: usize,
    /// How outputs were compared.
    pub witness: WitnessFound,
    /// What the failure probability is for.
    pub failure: FailureNote,
    /// Rényi bounds; none where the search ended early.
    pub bounds: Vec<BoundRow>,
    /// ε bounds.
    pub epsilon: Vec<EpsilonRow>,
    /// Bounds of μ and of the trade-off.
    pub trade_off: Vec<TradeOffRow>,
    /// Claims tested.
    pub claims: Vec<Claim>,
    /// What refutes a claim.
    pub counterexample: Option<CounterexampleFound>,
    /// What a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Answer for MechanismAnswer {
    const SCHEMA: &'static str = "leakbound.audit-mechanism/1";

    fn claims(&self) -> &[Claim] {
        &self.claims
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// What fresh outputs show.
#[derive(Default)]
struct Shown {
    runs: u64,
    counts: [Vec<u64>; 2],
    bounds: Vec<BoundRow>,
    epsilon: Vec<EpsilonRow>,
    trade_off: Vec<TradeOffRow>,
    claims: Vec<Claim>,
    warnings: Vec<Warning>,
    /// How the failure probability was spent, where bounds spent it.
    failure: Option<FailureNote>,
}

impl Study for MechanismStudy<'_> {
    type Answer = MechanismAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a request that cannot be answered; [`Error::Input`] where the program gives no outputs
    /// of any pair.
    fn run(&self, progress: &Progress<'_>) -> Result<MechanismAnswer> {
        self.check()?;
        let meter = Meter::new(progress, 2 * self.runs, "outputs");
        let watch = |runs: u64| match runs {
            0 => meter.poll(),
            _ if meter.add(runs).is_err() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let stop = Stop::when(&watch).within(self.time_limit);
        let of_search = if self.stop_early { 1.0 } else { SEARCH_TIME };
        let until = stop.within(self.time_limit.map(|time| time.mul_f64(of_search)));
        let mut sampler = Sampler::new(self.source, self.batch, self.seed, until);
        let repeatable = self.repeats(&mut sampler)?;
        let aims = self.aims();
        let share = |of: f64| ((self.runs as f64 * of) as u64).max(1);
        let pilot = share(PILOT);
        let budget = match self.pairs.len() {
            _ if self.stop_early => self.runs,
            1 => pilot,
            _ => share(SEARCH),
        };
        let failure = self.bounds.failure_probability;
        let search = Search { aims: &aims, failure, budget, stop_early: self.stop_early, pilot };
        let found = search.run(self.pairs.clone(), &mut sampler)?;
        sampler.until(stop);
        // The pair of the strongest evidence, where it decided, or else that of the largest score.
        let evidence = |&claim: &usize| {
            found.candidates.iter().max_by(|a, b| a.log_evidence(claim).total_cmp(&b.log_evidence(claim)))
        };
        let best = found.refuted.first().filter(|_| self.stop_early).and_then(evidence).or(found.candidates.first());
        let Some((best, chosen)) = best.and_then(|best| Some((best, best.chosen.as_ref()?))) else {
            return Err(self.nothing(&found.candidates));
        };
        let shown = if self.stop_early {
            self.early(best, chosen, &found.refuted)
        } else {
            self.bounded(best, chosen, self.runs.saturating_sub(found.runs).max(1), &mut sampler)?
        };
        let refuted = shown.claims.iter().position(|claim| claim.refuted);
        let counterexample = refuted.and_then(|claim| {
            let aim = *aims.get(claim)?;
            let event = Event::choose(&chosen.witness, &chosen.pilot, aim)?;
            let evidence = self.stop_early.then(|| best.log_evidence(claim));
            Some(CounterexampleFound::new(&best.pair, &event, aim, &shown.counts, &shown.claims[claim], evidence))
        });
        let labels = chosen.witness.labels().into_iter();
        let counted = labels.zip(&shown.counts[0]).zip(&shown.counts[1]);
        let outcomes =
            counted.map(|((outcome, &count), &count_neighbor)| OutcomeCount { outcome, count, count_neighbor });
        let tried = found.candidates.iter().filter(|candidate| candidate.runs > 0 || candidate.trouble.is_some());
        let mut warnings = self.warnings(repeatable, &found.candidates, found.over);
        warnings.extend(shown.warnings);
        if counterexample.is_some() && chosen.witness.is_of_bits() {
            warnings.push(Warning {
                code: "floating-point",
                message:
                    "the worlds differ in the last binary places of the outputs, which depend on the dataset where \
                          noise is added in floating-point arithmetic (Mironov 2012)"
                        .into(),
                hint: "round outputs to a fixed grid after the noise, or use a sampler made for floating point".into(),
            });
        }
        Ok(MechanismAnswer {
            program: self.source.name(),
            repeatable,
            runs: RunsMade { search: found.runs, bounded: shown.runs },
            tried: tried.clone().count(),
            pairs: tried.take(LISTED).map(tried_pair).collect(),
            witness: WitnessFound { looks_at: chosen.witness.to_string(), outcomes: outcomes.collect() },
            failure: shown.failure.unwrap_or_else(|| self.failure_note()),
            bounds: shown.bounds,
            epsilon: shown.epsilon,
            trade_off: shown.trade_off,
            claims: shown.claims,
            counterexample,
            warnings,
        })
    }
}

fn tried_pair(candidate: &Candidate) -> TriedPair {
    TriedPair {
        dataset: candidate.pair.dataset.clone(),
        neighbor: candidate.pair.neighbor.clone(),
        pattern: candidate.pair.pattern.clone(),
        runs: candidate.runs,
        score: Number(candidate.score()),
        trouble: candidate.trouble.as_ref().map(ToString::to_string),
    }
}

impl MechanismStudy<'_> {
    fn check(&self) -> Result<()> {
        let reject = |reason: &str| Err(Error::Rejected { operation: "audit of a program", reason: reason.into() });
        let claims = &self.bounds.claims;
        if self.stop_early && claims.is_empty() {
            return reject("an audit that stops early needs a claim to refute");
        }
        if self.runs < Self::FEWEST {
            return reject("at least 200 runs of each dataset are needed");
        }
        if self.pairs.is_empty() {
            return reject("there is no pair of neighbors to try: give a dataset with records, a domain, or pairs");
        }
        Ok(())
    }

    /// The betting games of all pairs share the whole failure probability.
    fn failure_note(&self) -> FailureNote {
        let probability = self.bounds.failure_probability.get();
        let (queries, joint_share) = (1, None);
        FailureNote { probability, per: FailurePer::Answer, queries, share: probability, joint_share, nominal: false }
    }

    /// What is searched for: the claims, or ε at the given δ if there is none.
    fn aims(&self) -> Vec<Aim> {
        let claims = &self.bounds.claims;
        let epsilon = claims.epsilon.map(|(epsilon, delta)| Aim::Epsilon(delta, epsilon.get()));
        let rdp = claims.rdp.iter().map(|&(order, divergence)| Aim::Rdp(order, divergence));
        let aims: Vec<Aim> = epsilon.into_iter().chain(rdp).chain(claims.mu.map(Aim::Mu)).collect();
        if aims.is_empty() { vec![Aim::Epsilon(self.bounds.delta, 1.0)] } else { aims }
    }

    /// Whether the program repeats itself, on the first dataset that it takes.
    fn repeats(&self, sampler: &mut Sampler<'_>) -> Result<bool> {
        let mut first: Option<(Dataset, Trouble)> = None;
        for dataset in self.pairs.iter().flat_map(|pair| [&pair.dataset, &pair.neighbor]) {
            match sampler.repeats(dataset, REPEATED)? {
                Ok(repeats) => return Ok(repeats),
                Err(trouble) => _ = first.get_or_insert((dataset.clone(), trouble)),
            }
        }
        let (dataset, trouble) = first.unwrap_or((Dataset::default(), Trouble::Rejected("no dataset".into())));
        Err(self.no_outputs(&dataset, &trouble))
    }

    /// The error about a search without any outputs.
    fn nothing(&self, candidates: &[Candidate]) -> Error {
        let troubled = candidates.iter().find_map(|candidate| Some((candidate, candidate.trouble.as_ref()?)));
        match troubled {
            Some((candidate, trouble)) => self.no_outputs(&candidate.pair.dataset, trouble),
            None => Error::Interrupted,
        }
    }

    fn no_outputs(&self, dataset: &Dataset, trouble: &Trouble) -> Error {
        let hint = match trouble {
            Trouble::Rejected(_) => "--dataset gives a dataset that the program takes, --pairs both of a pair",
            Trouble::Failed(_) => "run the program by hand with such a request on its stdin",
        };
        Error::from(InputError {
            file: self.source.name().into(),
            place: format!("dataset {dataset}"),
            found: trouble.to_string(),
            expected: "outputs".into(),
            hint: Some(hint.into()),
        })
    }

    /// What the search itself has shown, where it may end early.
    fn early(&self, best: &Candidate, chosen: &Chosen, refuted: &[usize]) -> Shown {
        let failure = self.bounds.failure_probability.get();
        let claim = |(index, (claim, _, value)): (usize, (String, _, f64))| {
            let refuted = refuted.contains(&index);
            // A refuted claim is below the truth: the claim itself is the bound that was shown.
            let lower = Number(if refuted { value } else { 0.0 });
            Claim { claim, lower, query: best.pair.pattern.clone(), refuted, failure_probability: failure }
        };
        let claims = self.bounds.claims.all().into_iter().enumerate().map(claim).collect();
        Shown { counts: chosen.pilot.clone(), claims, ..Shown::default() }
    }

    /// Bounds from fresh runs of the chosen pair.
    fn bounded(&self, best: &Candidate, chosen: &Chosen, wanted: u64, sampler: &mut Sampler<'_>) -> Result<Shown> {
        let mut counts = [0, 1].map(|_| vec![0u64; chosen.witness.outcomes()]);
        let datasets = [&best.pair.dataset, &best.pair.neighbor];
        let (mut done, mut over) = (0, false);
        while done < wanted && !over {
            // Both worlds by turns: what ends early has seen as much of each.
            let now = (wanted - done).min(self.batch.max(1) as u64);
            let mut fresh = [0, 1].map(|_| vec![0u64; chosen.witness.outcomes()]);
            for (fresh, dataset) in fresh.iter_mut().zip(datasets) {
                let count = |outputs: Vec<_>| {
                    fresh.iter_mut().zip(chosen.witness.count(&outputs)).for_each(|(sum, count)| *sum += count);
                };
                match sampler.each_batch(dataset, now, count) {
                    Ok(Ok(())) => {}
                    Ok(Err(trouble)) => return Err(self.no_outputs(dataset, &trouble)),
                    Err(Error::Interrupted) => over = true,
                    Err(error) => return Err(error),
                }
            }
            if !over {
                done += now;
                for (counts, fresh) in counts.iter_mut().zip(fresh) {
                    counts.iter_mut().zip(fresh).for_each(|(sum, count)| *sum += count);
                }
            }
        }
        if done == 0 {
            return Err(Error::Interrupted);
        }
        let pilot = chosen.witness.paired(&chosen.pilot)?;
        let mut guide = Guide::from_pilot(&pilot, &self.bounds.orders, &self.bounds.directions)?;
        for aim in self.aims() {
            // The sets of the guide are those of Rényi divergences; that of the claim may be another one.
            let event = Event::choose(&chosen.witness, &chosen.pilot, aim);
            let set = event.map(|event| OutputSet::new(event.favoring_dataset()));
            guide.sets.sets.extend(set.filter(|set| !guide.sets.sets.contains(set)));
        }
        let study = CountsStudy {
            queries: vec![CountedQuery {
                name: best.pair.pattern.clone(),
                counts: chosen.witness.paired(&counts)?,
                guide,
            }],
            bounds: self.bounds.clone(),
            epsilons: Vec::new(),
            trade_off: true,
            composition: Composition::PerQuery,
            forecasts: false,
            seed: self.seed,
        };
        let answer = study.run(&super::unwatched)?;
        let mut warnings = answer.warnings;
        warnings.extend(over.then(|| Warning {
            code: "out-of-time",
            message: format!("the work ended after {done} of {wanted} fresh runs of each dataset"),
            hint: "give it more time, or fewer runs; the bounds hold if the end did not depend on the outputs".into(),
        }));
        let (bounds, epsilon, trade_off, claims) = (answer.bounds, answer.epsilon, answer.trade_off, answer.claims);
        let failure = Some(answer.failure);
        Ok(Shown { runs: done, counts, bounds, epsilon, trade_off, claims, warnings, failure })
    }

    fn warnings(&self, repeatable: bool, candidates: &[Candidate], over: bool) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if over && self.stop_early {
            warnings.push(Warning {
                code: "out-of-time",
                message: "the search ended before it had made all its runs".into(),
                hint: "give it more time: a claim that was not refuted so far may be refuted later".into(),
            });
        }
        if !repeatable {
            warnings.push(Warning {
                code: "not-repeatable",
                message:
                    "the program gave other outputs for the same seed, so that this audit cannot be repeated bit by bit"
                        .into(),
                hint: "let the program take its randomness from the seed of the request".into(),
            });
        }
        let troubled: Vec<&Trouble> = candidates.iter().filter_map(|candidate| candidate.trouble.as_ref()).collect();
        if let Some(first) = troubled.first() {
            let pairs = if troubled.len() == 1 { "1 pair".into() } else { format!("{} pairs", troubled.len()) };
            warnings.push(Warning {
                code: "pairs-without-outputs",
                message: format!("the program gave no outputs of {pairs}, such as: {first}"),
                hint: "a program that fails on one of two neighbors tells them apart: look at these by hand".into(),
            });
        }
        let left = candidates.iter().filter(|candidate| candidate.runs == 0 && candidate.trouble.is_none()).count();
        if left > 0 && (over || !self.stop_early) {
            warnings.push(Warning {
                code: "pairs-left-out",
                message: format!("{left} pairs of neighbors were not tried"),
                hint: "more runs or more time let the search go on".into(),
            });
        }
        warnings
    }
}
