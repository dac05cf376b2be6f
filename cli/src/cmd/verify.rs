//! `leakbound verify`.

use super::conclude::{Asked, publish};
use crate::args::Common;
use crate::args::values::{Choice, Names, Parsed, choice, failure_probability, listed, samples, seconds, whole};
use crate::output::{Output, Watch, envelope, interrupted};
use crate::signals::{Second, interruption};
use clap::Args;
use leakbound::mechanism::{MechanismKind, RELEASES};
use leakbound::program::Limits;
use leakbound::quantity::FailureProbability;
use leakbound::report::AccountantsDocument;
use leakbound::study::{Study, TestedAccountant, Verdict, VerifyStudy};
use leakbound::verify::{
    Case, ClaimScope, ExternalOptions, FunctionAccountant, PROPERTIES, Plan, Property, SimulatedChecks,
    accountant_names, subjects,
};
use leakbound::{Error, Result};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// Test an accountant against exact distributions and find the smallest counterexample
#[derive(Debug, Args, Serialize)]
#[command(after_help = "Examples:\n  leakbound verify --accountant gnmax-data-dependent\n  leakbound verify \
                        --program 'python3 examples/accountant.py' --mechanism gnmax\n\nA request is a line of \
                        JSON such as {\"mechanism\": \"gnmax\", \"sigma\": 2, \"histogram\": [3, 1], \
                        \"repetitions\": 1, \"order\": 8}, with delta (the answer is epsilon) or epsilon (the answer \
                        is delta) instead of order; the answer is {\"value\": 2} or {\"error\": \
                        \"reason\"}.\n\nMechanisms that need more name it: subsampled-gaussian has rate; \
                        confident-gnmax has threshold, threshold_sigma and threshold_form (max or per-class); \
                        conversion has rdp and rdp_order instead of sigma; smooth-sensitivity has beta; gnss, a \
                        number f(D) with noise of sigma times its beta-smooth sensitivity, has beta, step = \
                        |f(D) - f(D')|, width and neighbor_width = the smooth sensitivities of D and D', as in \
                        {\"mechanism\": \"gnss\", \"sigma\": 5, \"beta\": 0.02, \"step\": 0.98, \"width\": 1, \
                        \"neighbor_width\": 0.981, \"histogram\": [0], \"repetitions\": 1, \"order\": 20}; claims \
                        are about all pairs.\n\nThe program and its child processes are killed when this command exits; \
                        processes that start a session of their own, as daemons do, survive.\n\nExit status 3 \
                        if a property is refuted.")]
pub struct VerifyOptions {
    /// A built-in accountant, such as gnmax-data-dependent, or a deliberately wrong one, such as broken:gnmax-half;
    /// `list` prints all names
    #[arg(long, value_name = "NAME", required_unless_present = "program", conflicts_with = "program")]
    pub accountant: Option<String>,
    /// A program that reads one JSON request and writes one JSON answer per line; split into arguments as by a shell,
    /// but run without one
    #[arg(long, value_name = "COMMAND")]
    pub program: Option<String>,
    /// Properties to test [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', hide_possible_values = true)]
    #[arg(value_parser = listed(property, PROPERTIES.iter().map(|property| property.name)))]
    pub property: Vec<Choice<&'static Property>>,
    /// Number of cases per property
    #[arg(long, value_name = "N", default_value = "2000", value_parser = whole::<u64>(1, 1_000_000_000, "1e9"), allow_hyphen_values = true)]
    pub cases: u64,
    /// Time limit in seconds for all properties together
    #[arg(long, value_name = "S", value_parser = seconds, allow_hyphen_values = true, help_heading = "Advanced")]
    pub time_limit: Option<f64>,
    /// Test only this case, as printed with a counterexample
    #[arg(long, value_name = "JSON", value_parser = case, allow_hyphen_values = true, help_heading = "Advanced")]
    pub case: Option<Case>,
    /// Test Rényi divergences on this many simulated outputs per case and world instead of exact distributions
    #[arg(long, value_name = "SAMPLES", value_parser = samples, conflicts_with = "property", allow_hyphen_values = true)]
    pub simulate: Option<u64>,
    /// Failure probability of all refutations by simulation together
    #[arg(long, value_name = "P", value_parser = failure_probability, default_value = "0.05", requires = "simulate", allow_hyphen_values = true, help_heading = "Bounds")]
    pub failure_probability: FailureProbability,
    /// Mechanisms to test the program on [default: all that release something]; `gnss` is the release of one pair
    /// of datasets, `conversion` is epsilon and delta of one Rényi divergence, `smooth-sensitivity` a sensitivity
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', requires = "program")]
    #[arg(hide_possible_values = true, value_parser = listed(mechanism, subjects().iter().map(|kind| kind.name)))]
    pub mechanism: Vec<Choice<&'static MechanismKind>>,
    /// What the program's claims depend on; they are tested in both directions, unless the scope is forward
    #[arg(long, value_parser = choice(SCOPES), default_value = "data-dependent", requires = "program")]
    pub scope: Choice<ClaimScope>,
    /// Time limit in seconds for each answer
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, requires = "program", allow_hyphen_values = true, help_heading = "Advanced")]
    pub answer_timeout: f64,
    /// Time limit in seconds for the first answer; a program that misses it is not started again
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, requires = "program", allow_hyphen_values = true, help_heading = "Advanced")]
    pub start_timeout: f64,
}

/// What claims depend on.
const SCOPES: Names<ClaimScope> = &[
    ("data-independent", "The mechanism alone", ClaimScope::DataIndependent),
    ("data-dependent", "The votes too, in both directions", ClaimScope::DataDependent),
    (
        "data-dependent-forward",
        "The votes too, S against S' only: not an ε of differential privacy",
        ClaimScope::DataDependentForward,
    ),
];

fn property(text: &str) -> Parsed<Choice<&'static Property>> {
    let found = Property::of_name(text.trim());
    found.map(|found| Choice { name: found.name, value: found }).ok_or_else(|| {
        let names: Vec<&str> = PROPERTIES.iter().map(|property| property.name).collect();
        format!("unknown property `{text}`; known: {}", names.join(", "))
    })
}

fn mechanism(text: &str) -> Parsed<Choice<&'static MechanismKind>> {
    let found = subjects().into_iter().find(|kind| kind.name == text.trim());
    found.map(|found| Choice { name: found.name, value: found }).ok_or_else(|| {
        let names: Vec<&str> = subjects().iter().map(|kind| kind.name).collect();
        format!("unknown mechanism `{text}`; known: {}", names.join(", "))
    })
}

fn case(text: &str) -> Parsed<Case> {
    Case::from_json(text).map_err(|error| error.to_string())
}

pub fn run(common: &Common, options: &VerifyOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    if options.accountant.as_deref() == Some("list") && !common.session.is_hosted() {
        let envelope = envelope("leakbound.accountants/1", common, options, Vec::new(), Vec::new());
        output.write(&AccountantsDocument { envelope, accountants: accountant_names() })?;
        return Ok(Verdict::Passed);
    }
    let (scope, mechanisms) = (options.scope.value, mechanisms(options));
    let function = match (&options.program, common.session.accountant()) {
        (Some(name), Some(ask)) => Some(FunctionAccountant::new(name, ask).about(scope, mechanisms.clone())),
        _ => None,
    };
    let accountant = match (&function, &options.program) {
        (Some(function), _) => TestedAccountant::Custom(function),
        (None, None) => TestedAccountant::Named(options.accountant.clone().unwrap_or_default()),
        (None, Some(command)) => {
            // Before the program starts: it has a process group of its own, which no signal of a terminal reaches.
            let failed = |source| Error::Io { path: command.into(), action: "be watched", source };
            interruption(&common.session, Second::Waits).map_err(failed)?;
            let (answer_time, start_time) =
                (Duration::from_secs_f64(options.answer_timeout), Duration::from_secs_f64(options.start_timeout));
            let limits = Limits { answer_time, start_time, ..Limits::default() };
            let options = ExternalOptions { scope, mechanisms, limits };
            TestedAccountant::Program { command: command.clone(), options }
        }
    };
    let plan = Plan {
        properties: options.property.iter().map(|name| name.value).collect(),
        cases: options.cases,
        seed: common.seed,
        time_limit: options.time_limit.map(Duration::from_secs_f64),
        case: options.case.clone(),
        ..Plan::default()
    };
    let failure = options.failure_probability;
    let simulation = options.simulate.map(|samples| SimulatedChecks { samples, failure });
    let watch = Watch::new(common);
    let study = VerifyStudy { accountant, plan, simulation };
    let answer = study.run(&|step| watch.step(step)).map_err(|error| match (error, &options.program) {
        (Error::Interrupted, Some(command)) if !common.session.is_hosted() => {
            let reason = format!("interrupted after {} cases; nothing is printed", watch.done());
            interrupted(Path::new(command), reason)
        }
        (error, _) => error,
    })?;
    drop(watch);
    let title = match &options.case {
        Some(_) => "one case".to_owned(),
        None => format!("up to {} cases of each property, seed {}", options.cases, common.seed),
    };
    publish(common, output, answer, Asked { options, inputs: Vec::new(), title, warnings: Vec::new() })
}

fn mechanisms(options: &VerifyOptions) -> Vec<&'static MechanismKind> {
    match options.mechanism.as_slice() {
        [] => RELEASES.to_vec(),
        some => some.iter().map(|name| name.value).collect(),
    }
}
