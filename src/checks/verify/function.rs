//! An accountant that is a function of the program which calls this library.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::answer_line::read_answer;
use super::request::Request;
use crate::error::one_line;
use crate::mechanism::{MechanismKind, RELEASES};
use crate::program::{Fault, FaultKind};

/// A function from the line of a request to the line of an answer, in the JSON of the command's protocol. Its failure
/// is a finding: a [`Fault`] with its words.
pub struct FunctionAccountant<F> {
    name: String,
    scope: ClaimScope,
    mechanisms: Vec<&'static MechanismKind>,
    ask: F,
}

impl<F: Fn(&str) -> Result<String, String> + Sync> FunctionAccountant<F> {
    /// An accountant of this name, queried on all mechanisms that release something, whose claims may depend on the
    /// votes.
    pub fn new(name: impl Into<String>, ask: F) -> Self {
        Self { name: name.into(), scope: ClaimScope::DataDependent, mechanisms: RELEASES.to_vec(), ask }
    }

    /// The same accountant, with this known about it.
    #[must_use]
    pub fn about(self, scope: ClaimScope, mechanisms: Vec<&'static MechanismKind>) -> Self {
        Self { scope, mechanisms, ..self }
    }
}

impl<F: Fn(&str) -> Result<String, String> + Sync> Accountant for FunctionAccountant<F> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        let line = serde_json::to_string(request).unwrap_or_default();
        let answer = (self.ask)(&line)
            .map_err(|words| Fault { kind: FaultKind::Crash, message: one_line(&words) })
            .and_then(|line| read_answer(&line));
        answer.unwrap_or_else(AccountantAnswer::Fault)
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.mechanisms.clone()
    }

    fn scope(&self) -> ClaimScope {
        self.scope
    }

    fn sequential(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Plan, PropertyVerdict, verify};
    use super::*;
    use crate::mechanism::GNMAX;
    use crate::program::never_stop;

    #[test]
    fn what_a_function_answers_and_fails_with() {
        type Function = fn(&str) -> Result<String, String>;
        let plan = Plan { cases: 200, ..Plan::default() };
        let gnmax = |accountant: FunctionAccountant<Function>| {
            verify(&accountant.about(ClaimScope::DataIndependent, vec![GNMAX]), &plan, &never_stop)
        };
        let infinite = gnmax(FunctionAccountant::new("infinite", |_| Ok("{\"value\": \"inf\"}".into())));
        assert!(matches!(infinite.of("rdp-covers-exact").unwrap().verdict, PropertyVerdict::NotRefuted));
        let failing = gnmax(FunctionAccountant::new("failing", |_| Err("line 3:\n  sigma?".into())));
        let PropertyVerdict::Refuted(found) = &failing.of("rdp-covers-exact").unwrap().verdict else {
            panic!("no finding")
        };
        let words = format!("{:?}", found.problem);
        assert!(words.contains("Crash") && words.contains("sigma?"), "{words}");
    }
}
