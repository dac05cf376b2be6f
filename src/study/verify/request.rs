//! What is verified, and how.

use crate::verify::{Accountant, ExternalOptions, Plan, SimulatedChecks};

/// An accountant under test.
pub enum TestedAccountant<'a> {
    /// One of this library, by its [name](crate::verify::accountant_names).
    Named(String),
    /// A program, started for the study and ended with it.
    Program {
        /// Its command line, split as a POSIX shell does and run without one.
        command: String,
        /// How to start it, and how long to wait.
        options: ExternalOptions,
    },
    /// An accountant of the caller.
    Custom(&'a dyn Accountant),
}

/// Do the claims of an accountant cover what is leaked, and do they have the structure that theorems give them?
///
/// ```
/// # use leakbound::study::{Answer, Study, TestedAccountant, Verdict, VerifyStudy, unwatched};
/// # use leakbound::verify::Plan;
/// let accountant = TestedAccountant::Named("broken:gnmax-half".into());
/// let plan = Plan { cases: 300, ..Plan::default() };
/// let answer = VerifyStudy { plan, ..VerifyStudy::new(accountant) }.run(&unwatched)?;
/// assert_eq!(answer.verdict(), Verdict::Refuted);
/// assert!(answer.properties[0].counterexample.as_ref().unwrap().margin.unwrap().0 > 0.0);
/// # Ok::<(), leakbound::Error>(())
/// ```
pub struct VerifyStudy<'a> {
    /// The accountant.
    pub accountant: TestedAccountant<'a>,
    /// Properties, cases and time.
    pub plan: Plan,
    /// Test Rényi divergences on simulated outputs instead of exact distributions.
    pub simulation: Option<SimulatedChecks>,
}

impl<'a> VerifyStudy<'a> {
    /// All properties that apply, on exact distributions.
    #[must_use]
    pub fn new(accountant: TestedAccountant<'a>) -> Self {
        Self { accountant, plan: Plan::default(), simulation: None }
    }
}
