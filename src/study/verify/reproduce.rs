//! Commands that reproduce a counterexample.

use super::request::{TestedAccountant, VerifyStudy};
use crate::mechanism::NoisyArgmax;
use crate::verify::{ClaimScope, Counterexample, Problem, Question, Violation};

impl VerifyStudy<'_> {
    /// Always one that verifies the case, and `leakbound exact` if it knows the mechanism. An accountant of the caller
    /// has no command, but its case has one.
    pub(super) fn commands(&self, property: &str, found: &Counterexample) -> Vec<String> {
        let exact = match &found.problem {
            Problem::Violation(violation) => exact_command(found, violation),
            Problem::Fault(_) => None,
        };
        let verify = self.verify_command(property, found).unwrap_or_else(|| format!("case {}", found.case.json()));
        std::iter::once(verify).chain(exact).collect()
    }

    fn verify_command(&self, property: &str, found: &Counterexample) -> Option<String> {
        let mut arguments: Vec<String> = ["leakbound", "verify"].map(str::to_owned).to_vec();
        match &self.accountant {
            TestedAccountant::Custom(_) => return None,
            TestedAccountant::Named(name) => arguments.extend(["--accountant".to_owned(), name.clone()]),
            TestedAccountant::Program { command, options } => {
                arguments.extend(["--program".to_owned(), command.clone()]);
                if options.scope != ClaimScope::DataDependent {
                    arguments.extend(["--scope", options.scope.name()].map(str::to_owned));
                }
                for (option, time) in
                    [("--answer-timeout", options.limits.answer_time), ("--start-timeout", options.limits.start_time)]
                {
                    arguments.extend([option.to_owned(), time.as_secs_f64().to_string()]);
                }
            }
        }
        match self.simulation {
            // One case alone gets the largest share of the failure probability.
            Some(simulation) => arguments.extend(["--simulate".to_owned(), simulation.samples.to_string()]),
            None => arguments.extend(["--property".to_owned(), property.to_owned()]),
        }
        arguments.extend(["--case".to_owned(), found.case.json()]);
        Some(shell_words::join(&arguments))
    }
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
