//! Refutation by simulation, for mechanisms whose distribution cannot be computed, and as a second opinion if it can.

use super::accountant::{Accountant, AccountantAnswer};
use super::check::{Asks, Check, Violation};
use super::generate;
use super::property::{Property, PropertyKind};
use super::punctual::Punctual;
use super::request::{Case, Question};
use super::run::{Counterexample, Plan, Problem, PropertyFinding, Tally};
use super::shrink::shrink;
use crate::audit::{AuditPlan, Guide, Method, audit_counts, split_pilot};
use crate::bound::{AtLeast, Direction};
use crate::error::{Error, Result};
use crate::histogram::VoteHistogram;
use crate::mechanism::{Bins, DataKind, MechanismKind};
use crate::program::{Stop, Watch};
use crate::quantity::{Delta, FailureProbability, Order};
use crate::simulate::{PartialCounts, Sampler, Simulation};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cell::Cell;
use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::time::Instant;

/// Claimed Rényi divergences against lower bounds from simulated outputs.
static PROPERTY: Property = Property {
    name: "rdp-covers-simulated",
    kind: PropertyKind::Validity,
    theorem: "no lower bound of the Rényi divergence from simulated outputs exceeds the claim, except with the failure \
              probability; the i-th test gets the share 6/(pi i)^2 of it",
    data_independent_only: false,
    asks: Asks::Order,
    about: |_| true,
    check: |_, _| Check::NotApplicable,
};

/// Outputs to simulate for each case, and the probability with which any refutation may be wrong.
#[derive(Debug, Clone, Copy)]
pub struct SimulatedChecks {
    /// Outputs of each world.
    pub samples: u64,
    /// The probability with which any of the tests refutes a claim that holds, over all cases and all steps of
    /// shrinking.
    pub failure: FailureProbability,
}

/// The share of the failure probability that the i-th test gets, i from 1: 6/(π² i²), which sum to 1. However the cases
/// are chosen, each test draws fresh outputs, so the union bound holds over all of them.
fn share(failure: FailureProbability, i: u64) -> FailureProbability {
    let spent = failure.get() * 6.0 / (PI * i as f64).powi(2);
    FailureProbability::new(spent).unwrap_or_else(|_| failure.split(usize::MAX))
}

/// Outputs set aside to choose what is bounded.
const PILOT: f64 = 0.1;
/// Bins of a printed number: each is to be hit often.
const FEW_BINS: usize = 8;
/// Tests spent on shrinking a case.
const SHRINK_LIMIT: usize = 60;

/// Tests the claims of an accountant on simulated outputs of the mechanism, for the votes of a case and for those of a
/// neighbor.
///
/// The claims must be about one output and answer `order`. A refutation is wrong with at most the failure probability,
/// over all cases together. `watch` is called after each case; once it breaks off, no further case is tried.
///
/// # Errors
/// What simulation and audit return.
pub fn verify_by_simulation(
    accountant: &dyn Accountant,
    plan: &Plan,
    simulation: SimulatedChecks,
    watch: &Watch<'_>,
) -> Result<PropertyFinding> {
    let start = Instant::now();
    let mechanisms = accountant.mechanisms();
    let mut stream = ChaCha8Rng::seed_from_u64(plan.seed);
    let stop = Stop::when(watch).within(plan.time_limit);
    let trials =
        Trials { accountant: Punctual::new(accountant, &stop), plan, simulation, stop: &stop, done: Cell::new(0) };
    let (mut tally, mut counterexample) = (Tally::default(), None);
    for index in 1..=plan.cases {
        if stop.is_over() {
            tally.out_of_time = true;
            break;
        }
        let Some(case) = draw(plan, &mechanisms, &mut stream) else { continue };
        let check = trials.check(&case)?;
        if matches!(check, Check::Declined(_) | Check::NotApplicable) && stop.is_over() {
            tally.out_of_time = true;
            break;
        }
        // The next case sees that it breaks off.
        let _ = stop.done(1);
        if let Some(problem) = tally.note(check, &case) {
            counterexample = Some(trials.smallest(case, problem, index));
            break;
        }
    }
    Ok(tally.finding(&PROPERTY, counterexample, start))
}

/// Tests of cases, each with fresh outputs and its share of the failure probability.
struct Trials<'a> {
    accountant: Punctual<'a>,
    plan: &'a Plan,
    simulation: SimulatedChecks,
    stop: &'a Stop<'a>,
    /// Tests so far.
    done: Cell<u64>,
}

impl Trials<'_> {
    fn check(&self, case: &Case) -> Result<Check> {
        let request = &case.request;
        let Question::Order(order) = request.question else { return Ok(Check::NotApplicable) };
        let claim = match self.accountant.answer(request).claim() {
            Ok(claim) => claim,
            Err(AccountantAnswer::Declined(reason)) => return Ok(Check::Declined(reason)),
            Err(AccountantAnswer::Fault(fault)) => return Ok(Check::Fault(fault)),
            Err(AccountantAnswer::Value(_)) => return Ok(Check::NotApplicable),
        };
        let Some(neighbor) = &request.neighbor else {
            return Err(Error::rejected("simulation", "the case names no neighbor"));
        };
        let bins = Bins { order: Some(order), count: FEW_BINS };
        let sampler = request.mechanism.sampler(&request.histogram, neighbor, bins)?;
        self.done.set(self.done.get() + 1);
        let failure = share(self.simulation.failure, self.done.get());
        let Some((lower, direction)) = self.lower_bound(&*sampler, order, failure)? else {
            return Ok(Check::NotApplicable);
        };
        let refuted = lower.refutes(claim);
        let (lower, claim) = (lower.get(), claim.get());
        if refuted {
            let words = format!(
                "claimed Rényi divergence of order {order}, and a lower bound from {} outputs that is wrong with \
                 probability {:.1e}, test {}",
                self.simulation.samples,
                failure.get(),
                self.done.get()
            );
            let (neighbor, reverse) = (Some(neighbor.clone()), direction == Direction::Reverse);
            return Ok(Check::Violated(Violation { claim, limit: lower, error: 0.0, words, neighbor, reverse }));
        }
        Ok(Check::Holds { share: (claim > 0.0 && claim.is_finite()).then(|| lower / claim) })
    }

    /// The largest lower bound over the directions in which the claims hold, from fresh outputs; None once time is up.
    fn lower_bound(
        &self,
        sampler: &dyn Sampler,
        order: Order,
        failure: FailureProbability,
    ) -> Result<Option<(AtLeast, Direction)>> {
        let seed = self.plan.seed;
        let draws = Simulation::new(self.simulation.samples)?.seed(seed).query(self.done.get());
        let mut part = PartialCounts::new(draws, sampler.outcomes())?;
        let watch = |_| if self.stop.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        if part.advance(sampler, 0..draws.blocks(), watch)? {
            return Ok(None);
        }
        let scope = self.accountant.scope().directions();
        let audit = AuditPlan {
            orders: vec![order],
            delta: Delta::new(0.0)?,
            failure,
            methods: vec![Method::KCutRegion],
            directions: Direction::BOTH.into_iter().filter(|direction| scope.cover(*direction)).collect(),
            seed,
            resamples: 1,
        };
        let (pilot, rest) = split_pilot(&part.counts()?, PILOT, seed)?;
        let guide = Guide::from_pilot(&pilot, &audit.orders, &audit.directions)?;
        let bounds = audit_counts(&rest, &guide, &audit)?;
        // One event covers both directions.
        let found = bounds.rdp.iter().map(|row| (row.bound.at_least(), row.direction));
        let none = (AtLeast::NOTHING, Direction::Forward);
        Ok(Some(found.fold(none, |best, next| if next.0 > best.0 { next } else { best })))
    }

    /// The smallest case found from this one on in which the claim is also refuted.
    fn smallest(&self, drawn: Case, problem: Problem, index: u64) -> Counterexample {
        let fails = |case: &Case| match if self.stop.is_over() { Ok(Check::NotApplicable) } else { self.check(case) } {
            Ok(Check::Violated(violation)) => Some(Problem::Violation(violation)),
            _ => None,
        };
        let limit = if self.plan.case.is_some() || matches!(problem, Problem::Fault(_)) { 0 } else { SHRINK_LIMIT };
        let (case, problem, shrink_steps) = shrink(drawn.clone(), problem, limit, fails);
        Counterexample { case, problem, drawn, index, shrink_steps }
    }
}

/// Of a count with or without a record.
fn only_neighbor(count: &VoteHistogram) -> Option<VoteHistogram> {
    let changes = DataKind::OneRecord.neighbors(count, true, 1).ok()?;
    count.neighbor(*changes.first()?).ok()
}

/// A case of one output with one of the neighbors.
fn draw(plan: &Plan, mechanisms: &[&'static MechanismKind], stream: &mut ChaCha8Rng) -> Option<Case> {
    if let Some(case) = &plan.case {
        let mut case = case.clone();
        if case.request.mechanism.kind().data == DataKind::OneRecord {
            // There is only one.
            case.request.neighbor = only_neighbor(&case.request.histogram);
        }
        return Some(case);
    }
    let kinds: Vec<&MechanismKind> = mechanisms.iter().copied().filter(|kind| kind.releases.is_some()).collect();
    if kinds.is_empty() {
        return None;
    }
    let kind = kinds[stream.random_range(0..kinds.len())];
    let mut case = generate::case(kind, Asks::Order, stream)?;
    case.request.repetitions = 1;
    let histogram = &case.request.histogram;
    let changes = kind.data.neighbors(histogram, true, usize::MAX).ok()?;
    let place = match kind.data {
        DataKind::OneRecord => 0,
        _ => stream.random_range(0..changes.len().max(1)),
    };
    case.request.neighbor = histogram.neighbor(*changes.get(place)?).ok();
    Some(case)
}

#[cfg(test)]
mod tests {
    use super::super::catalog::accountant_of_name;
    use super::super::run::PropertyVerdict;
    use super::*;
    use crate::program::never_stop;

    fn run(name: &str, cases: u64) -> PropertyFinding {
        let accountant = accountant_of_name(name).unwrap();
        let plan = Plan { cases, seed: 4, ..Plan::default() };
        let simulation = SimulatedChecks { samples: 60_000, failure: FailureProbability::new(1e-6).unwrap() };
        verify_by_simulation(&*accountant, &plan, simulation, &never_stop).unwrap()
    }

    #[test]
    fn shares_of_the_failure_probability_add_up_to_it() {
        let failure = FailureProbability::new(0.05).unwrap();
        let spent: f64 = (1..1_000_000).map(|i| share(failure, i).get()).sum();
        assert!(spent < 0.05 && spent > 0.0499999, "{spent}");
        assert!(share(FailureProbability::new(f64::from_bits(1)).unwrap(), 10).get() > 0.0);
    }

    /// Wrong with probability 1e-6 at most for each of the right ones.
    #[test]
    fn simulation_refutes_the_wrong_and_not_the_right() {
        for name in ["broken:gnmax-half", "broken:threshold-forgotten"] {
            let finding = run(name, 300);
            let PropertyVerdict::Refuted(found) = &finding.verdict else { panic!("{name}: {finding:?}") };
            println!("{name}: case {} {} {:?}", found.index, found.case.json(), found.problem);
        }
        for name in ["gnmax-data-independent", "confident-gnmax-data-independent", "broken:threshold-per-class-as-max"]
        {
            let finding = run(name, 40);
            println!("{name}: {:?}", finding.largest_share);
            assert!(matches!(finding.verdict, PropertyVerdict::NotRefuted), "{finding:?}");
        }
    }
}
