//! Runs properties over cases, and shrinks what fails.

use super::accountant::{Accountant, ClaimScope};
use super::check::{Check, Violation};
use super::generate;
use super::property::{Property, PropertyKind};
use super::punctual::Punctual;
use super::request::Case;
use super::shrink::shrink;
use crate::mechanism::MechanismKind;
use crate::parallel;
use crate::program::{Fault, Stop, Watch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::time::{Duration, Instant};

/// What to test, and on how many cases.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The properties; those that apply to the accountant if empty.
    pub properties: Vec<&'static Property>,
    /// Cases of each property.
    pub cases: u64,
    /// The seed of the cases: the same seed gives the same result on any number of threads, unless the time runs out.
    pub seed: u64,
    /// The time for all properties together; each gets its share of what is left.
    pub time_limit: Option<Duration>,
    /// Cases tried while a counterexample is shrunk.
    pub shrink_limit: usize,
    /// Only this case.
    pub case: Option<Case>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { properties: Vec::new(), cases: 2_000, seed: 0, time_limit: None, shrink_limit: 2_000, case: None }
    }
}

impl Plan {
    /// The properties that are tested.
    #[must_use]
    pub fn properties_of(&self, accountant: &dyn Accountant) -> Vec<&'static Property> {
        if !self.properties.is_empty() {
            return self.properties.clone();
        }
        let mechanisms = accountant.mechanisms();
        let mut all = Property::applicable(accountant.scope());
        all.retain(|property| mechanisms.iter().any(|kind| (property.about)(kind)));
        all
    }
}

/// Cases that share a random stream.
const BLOCK: u64 = 64;
/// Blocks in flight, so that the result does not depend on the number of threads.
const BATCH: u64 = 32;
/// Cases tried while a failure to answer is shrunk: each may take the time-out.
const FAULT_SHRINK_LIMIT: usize = 30;

/// What was found about one property.
#[derive(Debug, Clone)]
pub struct PropertyFinding {
    /// The property.
    pub property: &'static Property,
    /// Its outcome.
    pub verdict: PropertyVerdict,
    /// Applicable cases that were answered.
    pub cases: u64,
    /// Cases that the accountant declined.
    pub declined: u64,
    /// One reason for declining.
    pub reason: Option<String>,
    /// Cases that the property does not cover, or whose exact distribution could not be computed.
    pub not_applicable: u64,
    /// The largest exact value as a share of the claim, for validity.
    pub largest_share: Option<f64>,
    /// The case with this share.
    pub closest: Option<Case>,
    /// Whether the time ran out before all cases were tried.
    pub out_of_time: bool,
    /// How long it took.
    pub elapsed: Duration,
}

/// The outcome of a property.
#[derive(Debug, Clone)]
pub enum PropertyVerdict {
    /// It does not hold.
    Refuted(Box<Counterexample>),
    /// It held in every case that was tried, which is not a proof.
    NotRefuted,
    /// Nothing was tried: no case was answered.
    NotTested,
}

/// The smallest case found in which a property does not hold.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counterexample {
    /// The case.
    pub case: Case,
    /// What is wrong with it.
    #[serde(flatten)]
    pub problem: Problem,
    /// The case as it was drawn.
    pub drawn: Case,
    /// The number of the case, from 1 on.
    pub index: u64,
    /// Cases tried while it was shrunk.
    pub shrink_steps: usize,
}

/// What is wrong in a case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// The claim.
    Violation(Violation),
    /// The accountant failed to give a claim.
    Fault(Fault),
}

/// What was found about an accountant.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name.
    pub accountant: String,
    /// What its claims depend on.
    pub scope: ClaimScope,
    /// Each property.
    pub findings: Vec<PropertyFinding>,
}

impl Outcome {
    /// Whether any property was refuted.
    #[must_use]
    pub fn refuted(&self) -> bool {
        self.findings.iter().any(|finding| matches!(finding.verdict, PropertyVerdict::Refuted(_)))
    }

    /// Whether a claim was below the leakage.
    #[must_use]
    pub fn invalid(&self) -> bool {
        let validity = self.findings.iter().filter(|finding| finding.property.kind == PropertyKind::Validity);
        validity.into_iter().any(|finding| matches!(finding.verdict, PropertyVerdict::Refuted(_)))
    }

    /// The finding of a property.
    #[must_use]
    pub fn of(&self, property: &str) -> Option<&PropertyFinding> {
        self.findings.iter().find(|finding| finding.property.name == property)
    }
}

/// Tests an accountant: each property on its cases until one fails, which is then made as small as possible.
///
/// `watch` is called with the number of cases after each block, and with 0 inside of one; once it breaks off, what was
/// not tried is out of time. The exact distributions come from [`noisy_argmax_distribution`] and its kind; a claim is
/// refuted only beyond their numerical error.
///
/// [`noisy_argmax_distribution`]: crate::distribution::noisy_argmax_distribution
pub fn verify(accountant: &dyn Accountant, plan: &Plan, watch: &Watch<'_>) -> Outcome {
    let scope = accountant.scope();
    let properties = plan.properties_of(accountant);
    let start = Instant::now();
    let mut findings = Vec::new();
    for (place, &property) in properties.iter().enumerate() {
        let share = (properties.len() - place) as u32;
        let time = plan.time_limit.map(|limit| limit.saturating_sub(start.elapsed()) / share);
        findings.push(test(accountant, property, plan, &Stop::when(watch).within(time)));
    }
    Outcome { accountant: accountant.name(), scope, findings }
}

/// The results of cases so far.
#[derive(Default)]
pub(super) struct Tally {
    cases: u64,
    declined: u64,
    reason: Option<String>,
    not_applicable: u64,
    largest_share: Option<(f64, Case)>,
    pub out_of_time: bool,
}

impl Tally {
    /// Adds the result of a case, and returns what is wrong with it, if anything.
    pub(super) fn note(&mut self, check: Check, case: &Case) -> Option<Problem> {
        let problem = match check {
            Check::NotApplicable => {
                self.not_applicable += 1;
                return None;
            }
            Check::Declined(reason) => {
                self.declined += 1;
                self.reason.get_or_insert(reason);
                return None;
            }
            Check::Holds { share } => {
                share.into_iter().for_each(|share| self.closer(share, case));
                None
            }
            Check::Violated(violation) => Some(Problem::Violation(violation)),
            Check::Fault(fault) => Some(Problem::Fault(fault)),
        };
        self.cases += 1;
        problem
    }

    fn closer(&mut self, share: f64, case: &Case) {
        if self.largest_share.as_ref().is_none_or(|(largest, _)| share > *largest) {
            self.largest_share = Some((share, case.clone()));
        }
    }

    fn add(&mut self, other: Self) {
        self.cases += other.cases;
        self.declined += other.declined;
        self.reason = self.reason.take().or(other.reason);
        self.not_applicable += other.not_applicable;
        self.out_of_time |= other.out_of_time;
        other.largest_share.iter().for_each(|(share, case)| self.closer(*share, case));
    }

    /// What was found about a property since `start`.
    pub(super) fn finding(
        self,
        property: &'static Property,
        counterexample: Option<Counterexample>,
        start: Instant,
    ) -> PropertyFinding {
        let verdict = match counterexample {
            Some(found) => PropertyVerdict::Refuted(Box::new(found)),
            None if self.cases == 0 => PropertyVerdict::NotTested,
            None => PropertyVerdict::NotRefuted,
        };
        let Self { cases, declined, reason, not_applicable, largest_share, out_of_time } = self;
        let (largest_share, closest) = largest_share.unzip();
        let elapsed = start.elapsed();
        PropertyFinding {
            property,
            verdict,
            cases,
            declined,
            reason,
            not_applicable,
            largest_share,
            closest,
            out_of_time,
            elapsed,
        }
    }
}

/// A block of cases until one fails.
#[derive(Default)]
struct Block {
    tally: Tally,
    failed: Option<(Case, Problem)>,
    /// Cases drawn.
    drawn: u64,
}

fn test(accountant: &dyn Accountant, property: &'static Property, plan: &Plan, stop: &Stop<'_>) -> PropertyFinding {
    let start = Instant::now();
    let mechanisms = accountant.mechanisms();
    let run_block = |block: u64| -> Block {
        let mut result = match &plan.case {
            Some(case) => block_of(accountant, property, std::iter::once(case.clone()), stop),
            None => {
                let size = BLOCK.min(plan.cases - block * BLOCK);
                let mut stream = stream(plan.seed, property.name, block);
                let draw = || loop {
                    let kind: &MechanismKind = mechanisms[stream.random_range(0..mechanisms.len())];
                    if let Some(case) = generate::case(kind, property.asks, &mut stream) {
                        return case;
                    }
                };
                block_of(accountant, property, std::iter::repeat_with(draw).take(size as usize), stop)
            }
        };
        result.tally.out_of_time |= stop.done(result.drawn).is_break();
        result
    };
    let blocks = if plan.case.is_some() { 1 } else { plan.cases.div_ceil(BLOCK) };
    let mut total = Block::default();
    let mut first = if mechanisms.is_empty() { blocks } else { 0 };
    while first < blocks && total.failed.is_none() && !total.tally.out_of_time {
        // One after the other where the accountant must be asked so: what comes after a failure is never asked.
        let last = if accountant.sequential() { first + 1 } else { blocks.min(first + BATCH) };
        let results: Vec<Block> =
            if accountant.sequential() { vec![run_block(first)] } else { parallel::map(first..last, run_block) };
        for result in results {
            if total.failed.is_none() {
                total.tally.add(result.tally);
                (total.failed, total.drawn) = (result.failed, total.drawn + result.drawn);
            }
        }
        first = last;
    }
    let smallest = |failed: (Case, Problem)| smallest(accountant, property, plan, stop, failed, total.drawn);
    let counterexample = total.failed.map(smallest);
    total.tally.finding(property, counterexample, start)
}

/// A property does not apply to mechanisms of another kind.
fn check(property: &Property, accountant: &dyn Accountant, case: &Case) -> Check {
    if (property.about)(case.request.mechanism.kind()) {
        (property.check)(accountant, case)
    } else {
        Check::NotApplicable
    }
}

/// The cases until one fails.
fn block_of(
    accountant: &dyn Accountant,
    property: &Property,
    cases: impl Iterator<Item = Case>,
    stop: &Stop<'_>,
) -> Block {
    let mut block = Block::default();
    let accountant = Punctual::new(accountant, stop);
    for case in cases {
        if stop.is_over() {
            block.tally.out_of_time = true;
            break;
        }
        block.drawn += 1;
        let check = check(property, &accountant, &case);
        // It was not answered whole.
        if matches!(check, Check::Declined(_) | Check::NotApplicable) && accountant.was_late() {
            block.drawn -= 1;
            block.tally.out_of_time = true;
            break;
        }
        if let Some(problem) = block.tally.note(check, &case) {
            block.failed = Some((case, problem));
            break;
        }
    }
    block
}

fn smallest(
    accountant: &dyn Accountant,
    property: &Property,
    plan: &Plan,
    stop: &Stop<'_>,
    (drawn, problem): (Case, Problem),
    index: u64,
) -> Counterexample {
    let limit = match (&problem, &plan.case) {
        // A case that was requested stays as it is.
        (_, Some(_)) => 0,
        (Problem::Violation(_), None) => plan.shrink_limit,
        (Problem::Fault(_), None) => plan.shrink_limit.min(FAULT_SHRINK_LIMIT),
    };
    let fault = match &problem {
        Problem::Fault(fault) => Some(fault.kind),
        Problem::Violation(_) => None,
    };
    let accountant = Punctual::new(accountant, stop);
    let check = |case: &Case| if stop.is_over() { Check::NotApplicable } else { check(property, &accountant, case) };
    let fails = |case: &Case| match check(case) {
        Check::Violated(violation) if fault.is_none() => Some(Problem::Violation(violation)),
        Check::Fault(found) if fault == Some(found.kind) => Some(Problem::Fault(found)),
        _ => None,
    };
    let (mut case, mut problem, mut shrink_steps) = shrink(drawn.clone(), problem, limit, fails);
    // No step may lead from a large case to a small one although there are small ones: those are drawn.
    let kind = case.request.mechanism.kind();
    let mut stream = stream(plan.seed, property.name, u64::MAX);
    while !is_small(&case) && fault.is_none() && shrink_steps < limit && !stop.is_over() {
        shrink_steps += 1;
        let Some(small) = generate::small_case(kind, property.asks, &mut stream) else { continue };
        if let Some(found) = fails(&small) {
            let (smaller, found, tried) = shrink(small, found, limit - shrink_steps, fails);
            (case, problem, shrink_steps) = (smaller, found, shrink_steps + tried);
        }
    }
    Counterexample { case, problem, drawn, index, shrink_steps }
}

/// At most three classes and five votes.
fn is_small(case: &Case) -> bool {
    let counts = case.request.histogram.counts();
    counts.len() <= 3 && counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count)) <= 5
}

/// The stream of a block: by its seed, the name of the property and the number of the block.
fn stream(seed: u64, property: &str, block: u64) -> ChaCha8Rng {
    // FNV-1a, whose value never changes.
    let name = property
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut stream = ChaCha8Rng::seed_from_u64(seed ^ name);
    stream.set_stream(block);
    stream
}
