//! An accountant that is a program: a request as a line of JSON on its stdin, an answer as a line of JSON on its
//! stdout.

use super::accountant::{Accountant, AccountantAnswer, ClaimScope};
use super::answer_line::read_answer;
use super::request::Request;
use crate::error::Result;
use crate::mechanism::{MechanismKind, RELEASES};
use crate::program::{Exchange, Limits, LineProgram, Stop};

/// What is known about a program, and how long to wait for it.
#[derive(Debug, Clone)]
pub struct ExternalOptions {
    /// What its claims depend on.
    pub scope: ClaimScope,
    /// The mechanisms it is queried on.
    pub mechanisms: Vec<&'static MechanismKind>,
    /// How long to wait for its answers.
    pub limits: Limits,
}

impl Default for ExternalOptions {
    fn default() -> Self {
        Self { scope: ClaimScope::DataDependent, mechanisms: RELEASES.to_vec(), limits: Limits::default() }
    }
}

/// A program as an accountant: a [`LineProgram`] that is asked one question at a time.
#[derive(Debug)]
pub struct ExternalAccountant {
    program: LineProgram,
    options: ExternalOptions,
}

impl ExternalAccountant {
    /// Splits the command and starts the program.
    ///
    /// # Errors
    /// As [`LineProgram::new`].
    pub fn new(command: &str, options: ExternalOptions) -> Result<Self> {
        let program = LineProgram::new("command of the accountant", command, options.limits)?;
        Ok(Self { program, options })
    }
}

impl Accountant for ExternalAccountant {
    fn name(&self) -> String {
        self.program.name()
    }

    fn answer(&self, request: &Request) -> AccountantAnswer {
        self.answer_before(request, &Stop::default())
    }

    fn answer_before(&self, request: &Request, stop: &Stop<'_>) -> AccountantAnswer {
        if let Some(fault) = self.program.given_up() {
            // Reported once as a fault: unasked questions carry no information.
            return AccountantAnswer::Declined(fault.message);
        }
        let text = serde_json::to_string(request).unwrap_or_default();
        match self.program.exchange(&text, stop, read_answer) {
            Exchange::Answered(answer) => answer,
            Exchange::Unanswered(reason) => AccountantAnswer::Declined(reason),
            Exchange::Failed(fault) => AccountantAnswer::Fault(fault),
        }
    }

    fn mechanisms(&self) -> Vec<&'static MechanismKind> {
        self.options.mechanisms.clone()
    }

    fn scope(&self) -> ClaimScope {
        self.options.scope
    }

    fn sequential(&self) -> bool {
        true
    }
}
