//! Where does a program leak, and how much?

mod answer;
mod bounded;
mod counterexample;
mod naming;
mod request;
mod shrunk;

pub use answer::{MechanismAnswer, OutcomeCount, RunsMade, TriedPair, WitnessFound};
pub use counterexample::{CounterexampleFound, EventBar};
pub use naming::Naming;
pub use request::MechanismStudy;

use super::number::Number;
use super::progress::{Meter, Progress};
use super::rows::FailureNote;
use super::{Study, Warning};
use crate::audit::FailurePer;
use crate::black_box::{
    Aim, Candidate, Chosen, Dataset, Event, Goal, Pair, PairCounterexample, Sampler, Search, Stage, Trouble,
};
use crate::error::{Error, InputError, Result};
use crate::program::{FaultKind, Stop};
use bounded::{Outcomes, Shown};
use naming::{LOOKS, SEARCH, SEARCH_AND_LOOKS};
use std::ops::ControlFlow;

/// Of the runs of each world: what the winner's witness is made from.
const PILOT: f64 = 0.1;
/// Of the time: the share of the search before the bounds, and the share of both if something may be left to shrink.
const SEARCH_TIME: f64 = 0.5;
const BOUND_TIME: f64 = 0.85;
/// Runs that show whether the program repeats itself.
const REPEATED: usize = 5;
/// Datasets on which a program may fail before it has given any output.
const FAILURES: usize = 4;
/// Pairs that are listed.
const LISTED: usize = 20;

impl Study for MechanismStudy<'_> {
    type Answer = MechanismAnswer;

    /// # Errors
    /// [`Error::Rejected`] for a request that cannot be answered; [`Error::Input`] if the program gives no outputs for
    /// any pair; [`Error::Interrupted`] only if nothing was seen by then.
    fn run(&self, progress: &Progress<'_>) -> Result<MechanismAnswer> {
        self.check()?;
        let meter = Meter::new(progress, 2 * self.runs, "outputs");
        let watch = |runs: u64| match runs {
            0 => meter.poll(),
            _ if meter.add(runs).is_err() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let stop = Stop::when(&watch).within(self.time_limit);
        match &self.known {
            Some(known) => self.again(known, stop, &meter),
            None => self.searched(stop, &meter, progress),
        }
    }
}

fn binary_places() -> Warning {
    Warning {
        code: "floating-point",
        message:
            "the worlds differ in the last binary places of the outputs, which depend on the dataset where noise is \
                  added in floating-point arithmetic (Mironov 2012)"
                .into(),
        hint: "rounding tests the program with outputs on a grid; release them so, or use a sampler made for \
               floating point"
            .into(),
    }
}

fn no_fresh_runs() -> Warning {
    Warning {
        code: "out-of-time",
        message:
            "the work ended before the first fresh runs: claims are tested by the bets of the search, and nothing is \
                  bounded"
                .into(),
        hint: "give it more time, or fewer runs per request".into(),
    }
}

fn tried_pair(candidate: &Candidate) -> TriedPair {
    TriedPair {
        dataset: candidate.pair.dataset.clone(),
        neighbor: candidate.pair.neighbor.clone(),
        pattern: candidate.pair.pattern.clone(),
        runs: candidate.runs,
        score: Some(Number(candidate.score())),
        trouble: candidate.trouble.as_ref().map(|(_, trouble)| trouble.to_string()),
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
        if self.pairs.is_empty() && self.known.is_none() {
            return reject("no pair of neighbors to try: give a dataset with records, a domain, or pairs");
        }
        Ok(())
    }

    /// The betting games of all pairs share the whole failure probability.
    fn failure_note(&self) -> FailureNote {
        let probability = self.bounds.failure_probability.get();
        let (queries, joint_share) = (1, None);
        FailureNote { probability, per: FailurePer::Answer, queries, share: probability, joint_share, nominal: false }
    }

    /// What is searched for: the claims, or ε at the given δ without claims.
    fn aims(&self) -> Vec<Aim> {
        let claims = &self.bounds.claims;
        let epsilon = claims.epsilon.map(|(epsilon, delta)| Aim::Epsilon(delta, epsilon.get()));
        let rdp = claims.rdp.iter().map(|&(order, divergence)| Aim::Rdp(order, divergence.get()));
        let aims: Vec<Aim> = epsilon.into_iter().chain(rdp).chain(claims.mu.map(|mu| Aim::Mu(mu.get()))).collect();
        if aims.is_empty() { vec![Aim::Epsilon(self.bounds.delta, 1.0)] } else { aims }
    }

    /// Whether the program repeats itself, on the first dataset that it takes.
    fn repeats(&self, sampler: &mut Sampler<'_>) -> Result<bool> {
        self.repeats_on(self.pairs.iter().flat_map(|pair| [&pair.dataset, &pair.neighbor]), sampler)
    }

    fn repeats_on<'a>(&self, datasets: impl Iterator<Item = &'a Dataset>, sampler: &mut Sampler<'_>) -> Result<bool> {
        let mut first: Option<(Dataset, Trouble)> = None;
        let mut failures = 0;
        for dataset in datasets {
            match sampler.repeats(dataset, REPEATED)? {
                Ok(repeats) => return Ok(repeats),
                Err(trouble) => {
                    // A dataset that it does not take is cheap to try, a program that cannot run is not.
                    failures += match &trouble {
                        Trouble::Rejected(_) => 0,
                        Trouble::Failed(fault) if fault.kind == FaultKind::TimeOut => FAILURES,
                        Trouble::Failed(_) => 1,
                    };
                    first.get_or_insert((dataset.clone(), trouble));
                }
            }
            if failures >= FAILURES {
                break;
            }
        }
        let (dataset, trouble) = first.unwrap_or((Dataset::default(), Trouble::Rejected("no dataset".into())));
        Err(self.no_outputs(&dataset, &trouble))
    }

    /// The error about a search without any outputs.
    fn nothing(&self, candidates: &[Candidate]) -> Error {
        let troubled = candidates.iter().find_map(|candidate| Some((candidate, candidate.trouble.as_ref()?)));
        match troubled {
            Some((candidate, (world, trouble))) => {
                let Pair { dataset, neighbor, .. } = &candidate.pair;
                self.no_outputs([dataset, neighbor][*world], trouble)
            }
            None if candidates.iter().any(|candidate| candidate.runs > 0) => InputError {
                file: self.source.name().into(),
                place: "outputs".into(),
                found: "no two outputs are equal, and none is a number".into(),
                expected: "outputs that can be told apart as they are".into(),
                hint: Some(
                    "the features `auto` look at their parts, and rounding to a grid makes those equal that are close"
                        .into(),
                ),
            }
            .into(),
            None => Error::Interrupted,
        }
    }

    fn no_outputs(&self, dataset: &Dataset, trouble: &Trouble) -> Error {
        let hint = match trouble {
            Trouble::Rejected(_) => "give a `dataset` that the program takes, or `pairs` of them",
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

    /// Searches, bounds and shrinks.
    fn searched(&self, stop: Stop<'_>, meter: &Meter<'_>, progress: &Progress<'_>) -> Result<MechanismAnswer> {
        let until = |share: f64| stop.within(self.time_limit.map(|time| time.mul_f64(share)));
        let of_search = if self.stop_early { 1.0 } else { SEARCH_TIME };
        let of_bounds = if self.bounds.claims.is_empty() { stop } else { until(BOUND_TIME) };
        let mut sampler = Sampler::new(self.source, self.batch, self.seed, until(of_search)).kept(self.journal);
        let repeatable = self.repeats(&mut sampler)?;
        let aims = self.aims();
        let found = self.search(&aims).run(self.pairs.clone(), &mut sampler)?;
        sampler.unkept();
        // The pair of the strongest evidence, where it decided, or else that of the largest score.
        let early = self.stop_early || meter.is_over();
        let evidence = |&claim: &usize| {
            found.candidates.iter().max_by(|a, b| a.log_evidence(claim).total_cmp(&b.log_evidence(claim)))
        };
        let best = found.refuted.iter().min().filter(|_| early).and_then(evidence).or(found.candidates.first());
        let Some((best, chosen)) = best.and_then(|best| Some((best, best.chosen.as_ref()?))) else {
            return Err(self.nothing(&found.candidates));
        };
        let shown = if early {
            self.early(best, chosen, &found.refuted)
        } else {
            sampler.until(of_bounds);
            sampler.begin(Stage::Bounds);
            let wanted = self.runs.saturating_sub(found.runs).max(1);
            let shown = self.bounded(&best.pair, &Outcomes::of(chosen, &aims)?, wanted, &mut sampler)?;
            // No fresh run in time: what the search has shown holds at any time.
            shown.unwrap_or_else(|| Shown {
                warnings: vec![no_fresh_runs()],
                ..self.early(best, chosen, &found.refuted)
            })
        };
        let mut warnings = self.warnings(repeatable, &found.candidates, found.over);
        warnings.extend(shown.warnings.iter().cloned());
        if self.journal.is_some() && (meter.is_over() || found.over) {
            warnings.push(Warning {
                code: "looked-early",
                message: "this is an interim answer: it spends the failure probability, and the audit spends it again \
                     when it continues"
                    .into(),
                hint: "quote one of the two, chosen without looking, or add their failure probabilities".into(),
            });
        }
        let refuted = shown.claims.iter().position(|claim| claim.refuted);
        let naming = self.has_to_name().then(|| self.naming(&aims));
        warnings.extend(naming.filter(|_| refuted.is_none()).and_then(|naming| naming.warning()));
        let counterexample = refuted.and_then(|claim| self.counterexample(best, chosen, claim, &shown));
        let mut interrupted = meter.is_over();
        let shrunk = match counterexample {
            Some(_) if meter.is_over() => shrunk::Shrunk { found: counterexample, runs: 0 },
            Some(counterexample) => {
                let meter = Meter::new(progress, 2 * self.shrink_runs, "outputs of smaller pairs");
                let watch = |runs: u64| if meter.add(runs).is_err() { ControlFlow::Break(()) } else { meter.poll() };
                let rest = stop.left();
                sampler.until(Stop::when(&watch).within(rest));
                sampler.begin(Stage::Shrinking);
                let shrunk = self.shrunk(counterexample, best, &shown, &mut sampler)?;
                interrupted = meter.is_over();
                shrunk
            }
            None => shrunk::Shrunk::default(),
        };
        warnings.extend(shrunk.found.as_ref().filter(|found| found.is_of_bits()).map(|_| binary_places()));
        let tried = found.candidates.iter().filter(|candidate| candidate.runs > 0 || candidate.trouble.is_some());
        Ok(MechanismAnswer {
            repeatable,
            runs: RunsMade { search: found.runs, bounded: shown.runs, shrink: shrunk.runs },
            tried: tried.clone().count(),
            pairs: tried.take(LISTED).map(tried_pair).collect(),
            witness: shown.witness(chosen.witness.to_string(), chosen.witness.labels()),
            naming,
            counterexample: shrunk.found,
            interrupted,
            warnings,
            ..self.answer(shown, meter)
        })
    }

    /// Bounds of a pair and a set of outputs that were found before.
    fn again(&self, known: &PairCounterexample, stop: Stop<'_>, meter: &Meter<'_>) -> Result<MechanismAnswer> {
        let mut sampler = Sampler::new(self.source, self.batch, self.seed, stop);
        sampler.begin(Stage::Again);
        let pair = known.pair();
        let pairs = [&pair.dataset, &pair.neighbor];
        let repeatable = self.repeats_on(pairs.into_iter(), &mut sampler)?;
        let outcomes = Outcomes::known(known)?;
        let shown = self.bounded(&pair, &outcomes, self.runs, &mut sampler)?.ok_or(Error::Interrupted)?;
        let mut warnings = self.warnings(repeatable, &[], false);
        warnings.extend(shown.warnings.iter().cloned());
        let refuted = shown.claims.iter().position(|claim| claim.refuted);
        let counterexample = refuted.and_then(|claim| {
            let aim = *self.aims().get(claim)?;
            let inside = [0, 1].map(|world| shown.counts[world][0]);
            let outputs = [0, 1].map(|world| shown.counts[world].iter().sum::<u64>());
            let claim = shown.claims[claim].claim.clone();
            Some(CounterexampleFound::new(&pair, &known.predicate, aim, inside, outputs, claim))
        });
        warnings.extend(counterexample.as_ref().filter(|found| found.is_of_bits()).map(|_| binary_places()));
        Ok(MechanismAnswer {
            repeatable,
            runs: RunsMade { search: 0, bounded: shown.runs, shrink: 0 },
            tried: 1,
            pairs: vec![TriedPair {
                dataset: pair.dataset,
                neighbor: pair.neighbor,
                pattern: pair.pattern,
                runs: shown.runs,
                score: None,
                trouble: None,
            }],
            witness: shown.witness(known.predicate.looks_at(), outcomes.labels),
            counterexample,
            warnings,
            ..self.answer(shown, meter)
        })
    }

    /// The part of the answer that bounds give.
    fn answer(&self, shown: Shown, meter: &Meter<'_>) -> MechanismAnswer {
        MechanismAnswer {
            program: self.source.name(),
            repeatable: false,
            round: self.source.grid().map(|grid| Number(grid.get())),
            runs: RunsMade { search: 0, bounded: 0, shrink: 0 },
            tried: 0,
            pairs: Vec::new(),
            naming: None,
            witness: WitnessFound { looks_at: String::new(), outcomes: Vec::new() },
            failure: shown.failure.unwrap_or_else(|| self.failure_note()),
            bounds: shown.bounds,
            epsilon: shown.epsilon,
            trade_off: shown.trade_off,
            claims: shown.claims,
            counterexample: None,
            interrupted: meter.is_over(),
            warnings: Vec::new(),
        }
    }

    /// What the search may spend.
    fn search<'a>(&self, aims: &'a [Aim]) -> Search<'a> {
        let share = |of: f64| ((self.runs as f64 * of) as u64).max(1);
        let pilot = share(PILOT);
        let looks = if self.has_to_name() { share(LOOKS) } else { 0 };
        let [budget, most] = match self.pairs.len() {
            _ if self.stop_early => [self.runs; 2],
            1 => [pilot; 2],
            _ if looks == 0 => [share(SEARCH); 2],
            _ => [share(SEARCH), share(SEARCH_AND_LOOKS)],
        };
        let failure = self.bounds.failure_probability;
        let goal = Goal { aims, claimed: !self.bounds.claims.is_empty(), features: self.features };
        Search { goal, failure, total: self.runs, budget, looks, most, stop_early: self.stop_early, pilot }
    }

    /// Whether the audit must find out which of several pairs refutes a claim.
    fn has_to_name(&self) -> bool {
        self.pairs.len() > 1 && !self.bounds.claims.is_empty()
    }

    /// What refutes a claim, as it was found.
    fn counterexample(
        &self,
        best: &Candidate,
        chosen: &Chosen,
        claim: usize,
        shown: &Shown,
    ) -> Option<CounterexampleFound> {
        let aim = *self.aims().get(claim)?;
        let outputs = [0, 1].map(|world| shown.counts[world].iter().sum::<u64>());
        let with = |event: &Event| {
            let inside = [0, 1].map(|world| event.inside(&shown.counts[world]));
            let words = shown.claims[claim].claim.clone();
            CounterexampleFound::new(&best.pair, event, aim, inside, outputs, words)
        };
        let all: Vec<CounterexampleFound> = Event::choose(chosen, aim).iter().map(with).collect();
        let events = all.len() as f64;
        let mut found = all.into_iter().min_by(|a, b| a.p_value_or_one().total_cmp(&b.p_value_or_one()))?;
        // The smaller one of several.
        found.p_value = found.p_value.map(|p| Number((events * p.0).min(1.0)));
        if shown.runs == 0 {
            // The outputs of the search chose the event: the bets before it are the evidence.
            found.p_value = Some(Number(libm::exp(-best.log_evidence(claim)).min(1.0)));
        }
        Some(found.drawn([&best.seen[0], &best.seen[1]]))
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
                    "the program gave different outputs for the same seed, so this audit cannot be reproduced exactly"
                        .into(),
                hint: "let the program take its randomness from the seed of the request".into(),
            });
        }
        let troubled: Vec<&Trouble> =
            candidates.iter().filter_map(|candidate| Some(&candidate.trouble.as_ref()?.1)).collect();
        if let Some(first) = troubled.first() {
            let pairs = if troubled.len() == 1 { "1 pair".into() } else { format!("{} pairs", troubled.len()) };
            warnings.push(Warning {
                code: "pairs-without-outputs",
                message: format!("the program gave no outputs for {pairs}, such as: {first}"),
                hint: "a program that fails on one of two neighbors tells them apart: look at these by hand".into(),
            });
        }
        let left = candidates.iter().filter(|candidate| candidate.runs == 0 && candidate.trouble.is_none()).count();
        if left > 0 && (over || !self.stop_early) {
            warnings.push(Warning {
                code: "pairs-left-out",
                message: format!("{left} pairs of neighbors were not tried"),
                hint: "allow more runs or more time".into(),
            });
        }
        warnings
    }
}
