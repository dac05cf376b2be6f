//! `leakbound verify`.

use super::conclude::{Asked, publish};
use crate::args::{Common, VerifyOptions};
use crate::output::{Output, Watch, envelope, interrupted};
use crate::signals::{Second, interruption};
use leakbound::mechanism::{MechanismKind, RELEASES};
use leakbound::program::Limits;
use leakbound::report::AccountantsDocument;
use leakbound::study::{Study, TestedAccountant, Verdict, VerifyStudy};
use leakbound::verify::{ExternalOptions, FunctionAccountant, Plan, SimulationPlan, accountant_names};
use leakbound::{Error, Result};
use std::path::Path;
use std::time::Duration;

pub fn run(common: &Common, options: &VerifyOptions) -> Result<Verdict> {
    let output = Output::open(common, &[])?;
    if options.accountant.as_deref() == Some("list") && !common.session.is_hosted() {
        let envelope = envelope("leakbound.accountants/1", common, options, Vec::new(), Vec::new());
        output.write(&AccountantsDocument { envelope, accountants: accountant_names() })?;
        return Ok(Verdict::Passed);
    }
    let (scope, mechanisms) = (options.scope.into(), mechanisms(options));
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
        properties: options.property.iter().map(|name| name.0).collect(),
        cases: options.cases,
        seed: common.seed,
        time_limit: options.time_limit.map(Duration::from_secs_f64),
        case: options.case.as_ref().map(|case| case.0.clone()),
        ..Plan::default()
    };
    let failure = options.failure_probability;
    let simulation = options.simulate.map(|samples| SimulationPlan { samples, failure });
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
        some => some.iter().map(|name| name.0).collect(),
    }
}
