//! `leakbound verify`.

use crate::command::args::{Common, VerifyOptions};
use crate::command::interruption::Interruption;
use crate::command::output::{Output, envelope, interrupted, progress};
use crate::command::signals::{Second, interruption};
use crate::mechanism::{NoisyArgmax, RELEASES};
use crate::report::{AccountantsDocument, PropertyRow, VerifyDocument, one_line};
use crate::study::Warning;
use crate::verify::{
    Accountant, ClaimScope, Counterexample, ExternalAccountant, ExternalOptions, FunctionAccountant, Outcome, Plan,
    Problem, Property, Question, SimulationPlan, Stop, Verdict, Violation, accountant_names, accountant_of_name,
    verify, verify_by_simulation,
};
use crate::{Error, Result};
use std::path::Path;
use std::time::Duration;

pub fn run(common: &Common, options: &VerifyOptions) -> Result<bool> {
    let output = Output::open(common, &[])?;
    if options.accountant.as_deref() == Some("list") && !common.session.is_hosted() {
        let envelope = envelope("leakbound.accountants/1", common, options, Vec::new(), Vec::new());
        output.write(&AccountantsDocument { envelope, accountants: accountant_names() })?;
        return Ok(false);
    }
    // Before the program starts: it has a process group of its own, which no signal of a terminal reaches.
    let stop = match (&options.command, common.session.has_accountant()) {
        (Some(command), false) => Some((command, noted(common, command)?)),
        _ => None,
    };
    let accountant = accountant(common, options)?;
    let plan = Plan {
        properties: options.property.iter().map(|name| name.0).collect(),
        // A case that was given is tried once.
        cases: if options.case.is_some() { 1 } else { options.cases },
        seed: common.seed,
        time_limit: options.time_limit.map(Duration::from_secs_f64),
        case: options.case.as_ref().map(|case| case.0.clone()),
        stop: stop.as_ref().map_or_else(Stop::default, |(_, interruption)| Stop::when(interruption.flag())),
        ..Plan::default()
    };
    let properties =
        if plan.properties.is_empty() { Property::applicable(accountant.scope()).len() } else { plan.properties.len() };
    let properties = if options.simulate.is_some() { 1 } else { properties };
    let bar = progress(common, plan.cases.saturating_mul(properties as u64), "cases");
    let done = |cases| bar.inc(cases);
    let outcome = match options.simulate {
        None => verify(&*accountant, &plan, &done),
        Some(samples) => {
            let simulation = SimulationPlan { samples, failure: options.failure_probability };
            let finding = verify_by_simulation(&*accountant, &plan, simulation, &done)?;
            Outcome { accountant: accountant.name(), scope: accountant.scope(), findings: vec![finding] }
        }
    };
    bar.finish_and_clear();
    // The program and what it started end here, whatever comes.
    drop(accountant);
    if let Some((command, _)) = stop.filter(|(_, interruption)| interruption.is_noted()) {
        common.session.check();
        let tried: u64 = outcome.findings.iter().map(|finding| finding.cases).sum();
        return Err(interrupted(Path::new(command), format!("interrupted after {tried} cases; nothing is printed")));
    }
    let document = document(common, options, &outcome);
    output.write(&document)?;
    Ok(document.refuted)
}

/// The interruption of the command, from now on.
fn noted(common: &Common, command: &str) -> Result<Interruption> {
    let failed = |source| Error::Io { path: command.into(), action: "be watched", source };
    interruption(&common.session, Second::Waits).map_err(failed)
}

fn accountant(common: &Common, options: &VerifyOptions) -> Result<Box<dyn Accountant>> {
    let Some(command) = &options.command else {
        return accountant_of_name(options.accountant.as_deref().unwrap_or_default());
    };
    let mechanisms = match options.mechanism.as_slice() {
        [] => RELEASES.to_vec(),
        some => some.iter().map(|name| name.0).collect(),
    };
    if let Some(ask) = common.session.accountant() {
        return Ok(Box::new(FunctionAccountant::new(command, ask).about(options.scope.into(), mechanisms)));
    }
    let external = ExternalOptions {
        scope: options.scope.into(),
        mechanisms,
        answer_time: Duration::from_secs_f64(options.answer_timeout),
        start_time: Duration::from_secs_f64(options.start_timeout),
    };
    Ok(Box::new(ExternalAccountant::new(command, external)?))
}

fn document(common: &Common, options: &VerifyOptions, outcome: &Outcome) -> VerifyDocument {
    let name = options.accountant.clone().unwrap_or_else(|| outcome.accountant.clone());
    let cases = match &options.case {
        Some(_) => "one case".to_owned(),
        None => format!("up to {} cases of each property, seed {}", options.cases, common.seed),
    };
    let reproduce = |property: &'static str, found: &Counterexample| commands(common, options, property, found);
    let properties: Vec<PropertyRow> = outcome
        .findings
        .iter()
        .map(|finding| PropertyRow::new(finding, |found| reproduce(finding.property.name, found)))
        .collect();
    VerifyDocument {
        envelope: envelope("leakbound.verify/1", common, options, Vec::new(), warnings(outcome)),
        title: format!("Verification of {}: {cases}", one_line(&name)),
        accountant: name,
        scope: outcome.scope,
        refuted: outcome.refuted(),
        properties,
    }
}

/// Commands that show a counterexample: always this one, and `leakbound exact` where it knows the mechanism.
fn commands(common: &Common, options: &VerifyOptions, property: &str, found: &Counterexample) -> Vec<String> {
    // A function of a program that called has no command; its case has, and the exact law with it.
    if common.session.has_accountant() {
        let mut lines = vec![format!("case {}", found.case.json())];
        if let Problem::Violation(violation) = &found.problem {
            lines.extend(exact_command(found, violation));
        }
        return lines;
    }
    let mut words: Vec<String> = ["leakbound", "verify"].map(str::to_owned).to_vec();
    match (&options.command, &options.accountant) {
        (Some(command), _) => {
            words.extend(["--command".to_owned(), command.clone()]);
            let scope = ClaimScope::from(options.scope);
            if scope != ClaimScope::DataDependent {
                words.extend(["--scope", scope.name()].map(str::to_owned));
            }
            for (option, seconds) in
                [("--answer-timeout", options.answer_timeout), ("--start-timeout", options.start_timeout)]
            {
                words.extend([option.to_owned(), seconds.to_string()]);
            }
        }
        (None, accountant) => words.extend(["--accountant".to_owned(), accountant.clone().unwrap_or_default()]),
    }
    match options.simulate {
        // One case alone gets the largest share of the failure probability.
        Some(samples) => words.extend(["--simulate".to_owned(), samples.to_string()]),
        None => words.extend(["--property".to_owned(), property.to_owned()]),
    }
    words.extend(["--case".to_owned(), found.case.json()]);
    let mut commands = vec![shell_words::join(&words)];
    if let Problem::Violation(violation) = &found.problem {
        commands.extend(exact_command(found, violation));
    }
    commands
}

fn exact_command(found: &Counterexample, violation: &Violation) -> Option<String> {
    let request = &found.case.request;
    let &NoisyArgmax { noise, test: None } = request.mechanism.downcast()? else { return None };
    let neighbor = violation.neighbor.as_ref().filter(|_| request.repetitions == 1 && violation.claim >= 0.0)?;
    let claim = match request.question {
        Question::Order(order) => format!("--orders {order} --claim-rdp {order}:{:e}", violation.claim),
        Question::Delta(delta) => format!("--delta {delta} --claim-epsilon {:e}", violation.claim),
        Question::Epsilon(epsilon) => format!("--epsilons {epsilon}"),
    };
    Some(format!("leakbound exact --histogram {} --neighbor {neighbor} --noise {noise} {claim}", request.histogram))
}

fn warnings(outcome: &Outcome) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for finding in &outcome.findings {
        let name = finding.property.name;
        if finding.out_of_time {
            warnings.push(Warning {
                code: "out-of-time",
                message: format!("{name} was tried in {} cases only: the time was over", finding.cases),
                hint: "a longer --time-limit".into(),
            });
        }
    }
    if outcome.findings.iter().all(|finding| matches!(finding.verdict, Verdict::NotTested)) {
        let reason = outcome.findings.iter().find_map(|finding| finding.reason.clone());
        warnings.push(Warning {
            code: "nothing-tested",
            message: match reason {
                Some(reason) => format!("no case was tested; the accountant declined with: {}", one_line(&reason)),
                None => "no case was tested".into(),
            },
            hint: "another --mechanism or --property".into(),
        });
    }
    warnings
}
