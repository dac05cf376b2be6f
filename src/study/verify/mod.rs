//! Accountants against exact distributions, or against simulated outputs.

mod reproduce;
mod request;

pub use request::{TestedAccountant, VerifyStudy};

use super::number::Number;
use super::progress::{Meter, Progress};
use super::{Study, Verdict, Warning};
use crate::error::{Error, Result, one_line};
use crate::verify::{
    Accountant, Case, ClaimScope, Counterexample, ExternalAccountant, Outcome, Plan, Problem, PropertyFinding,
    PropertyKind, PropertyVerdict as Found, accountant_of_name, verify, verify_by_simulation,
};
use serde::Serialize;
use std::ops::ControlFlow;

/// The smallest case in which a property does not hold.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CounterexampleRow {
    /// What was found.
    #[serde(flatten)]
    pub found: Counterexample,
    /// How far the claim is beyond the exact value; absent without a claim.
    pub margin: Option<Number>,
    /// Commands that reproduce it.
    pub reproduce: Vec<String>,
}

/// What was found about one property.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PropertyRow {
    /// Its name.
    pub property: &'static str,
    /// What it means if the property does not hold.
    pub kind: PropertyKind,
    /// What is tested, and the theorem.
    pub theorem: &'static str,
    /// `refuted`, `not-refuted` or `not-tested`.
    pub verdict: &'static str,
    /// Applicable cases that the accountant answered.
    pub cases: u64,
    /// Cases that the accountant declined.
    pub declined: u64,
    /// One reason for declining.
    pub declined_reason: Option<String>,
    /// Cases that the property does not cover, or whose exact distribution could not be computed.
    pub not_applicable: u64,
    /// The largest exact value as a share of the claim, for validity.
    pub largest_share: Option<Number>,
    /// The case with this share.
    pub closest: Option<Case>,
    /// Whether the time ran out before all cases were tried.
    pub out_of_time: bool,
    /// The counterexample.
    pub counterexample: Option<CounterexampleRow>,
}

/// The answer of a [`VerifyStudy`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyAnswer {
    /// Name or command of the accountant.
    pub accountant: String,
    /// What its claims depend on.
    pub scope: ClaimScope,
    /// Whether any property was refuted.
    pub refuted: bool,
    /// Each property.
    pub properties: Vec<PropertyRow>,
    /// Warnings that a reader must know.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

answer!(
    VerifyAnswer, "leakbound.verify/1",
    |self| warnings: self.warnings, verdict: if self.refuted { Verdict::Refuted } else { Verdict::Passed }
);

impl Study for VerifyStudy<'_> {
    type Answer = VerifyAnswer;

    /// # Errors
    /// Those of an accountant that is unknown or does not start, and those of a simulation.
    fn run(&self, progress: &Progress<'_>) -> Result<VerifyAnswer> {
        let outcome = match &self.accountant {
            TestedAccountant::Named(name) => {
                let found = self.outcome(&*accountant_of_name(name)?, progress)?;
                Outcome { accountant: name.clone(), ..found }
            }
            // The program and its child processes end with this, whatever happens.
            TestedAccountant::Program { command, options } => {
                self.outcome(&ExternalAccountant::new(command, options.clone())?, progress)?
            }
            TestedAccountant::Custom(accountant) => self.outcome(*accountant, progress)?,
        };
        Ok(VerifyAnswer {
            refuted: outcome.refuted(),
            properties: outcome.findings.iter().map(|finding| self.row(finding)).collect(),
            warnings: warnings(&outcome.findings),
            accountant: outcome.accountant,
            scope: outcome.scope,
        })
    }
}

impl VerifyStudy<'_> {
    fn outcome(&self, accountant: &dyn Accountant, progress: &Progress<'_>) -> Result<Outcome> {
        let properties = if self.simulation.is_some() { 1 } else { self.plan.properties_of(accountant).len() };
        // A case that was given is tried once.
        let cases = if self.plan.case.is_some() { 1 } else { self.plan.cases };
        let plan = Plan { cases, ..self.plan.clone() };
        let meter = Meter::new(progress, cases.saturating_mul(properties as u64), "cases");
        let watch = |cases: u64| match cases {
            0 => meter.poll(),
            more => meter.add(more).map_or(ControlFlow::Break(()), ControlFlow::Continue),
        };
        let outcome = match self.simulation {
            None => verify(accountant, &plan, &watch),
            Some(simulation) => Outcome {
                findings: vec![verify_by_simulation(accountant, &plan, simulation, &watch)?],
                accountant: accountant.name(),
                scope: accountant.scope(),
            },
        };
        if meter.is_over() { Err(Error::Interrupted) } else { Ok(outcome) }
    }

    fn row(&self, finding: &PropertyFinding) -> PropertyRow {
        let (verdict, counterexample) = match &finding.verdict {
            Found::Refuted(found) => {
                let margin = match &found.problem {
                    Problem::Violation(violation) => Some(Number(violation.margin())),
                    Problem::Fault(_) => None,
                };
                let reproduce = self.commands(finding.property.name, found);
                ("refuted", Some(CounterexampleRow { found: (**found).clone(), margin, reproduce }))
            }
            Found::NotRefuted => ("not-refuted", None),
            Found::NotTested => ("not-tested", None),
        };
        PropertyRow {
            property: finding.property.name,
            kind: finding.property.kind,
            theorem: finding.property.theorem,
            verdict,
            cases: finding.cases,
            declined: finding.declined,
            declined_reason: finding.reason.clone(),
            not_applicable: finding.not_applicable,
            largest_share: finding.largest_share.map(Number),
            closest: finding.closest.clone(),
            out_of_time: finding.out_of_time,
            counterexample,
        }
    }
}

fn warnings(findings: &[PropertyFinding]) -> Vec<Warning> {
    let late = findings.iter().filter(|finding| finding.out_of_time).map(|finding| Warning {
        code: "out-of-time",
        message: format!("{} was tried on only {} cases: time ran out", finding.property.name, finding.cases),
        hint: "a longer time limit".into(),
    });
    let untested = findings.iter().all(|finding| matches!(finding.verdict, Found::NotTested)).then(|| {
        let reason = findings.iter().find_map(|finding| finding.reason.as_ref());
        Warning {
            code: "nothing-tested",
            message: match reason {
                Some(reason) => format!("no case was tested; the accountant declined with: {}", one_line(reason)),
                None => "no case was tested".into(),
            },
            hint: "another mechanism or property".into(),
        }
    });
    late.chain(untested).collect()
}
