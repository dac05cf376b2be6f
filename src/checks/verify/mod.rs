//! Accountants compared with exact distributions: their claims must cover the leakage.
//!
//! [`verify`] draws cases that are likely to expose faults, asks an [`Accountant`] about them, and compares its claims
//! with the exact output distributions. Its findings are shrunk to the fewest classes and votes, and to round numbers.
//! There are two verdicts for each [`Property`]: refuted, with a case that shows it beyond numerical error, or not
//! refuted in a number of cases, which is not a proof.
//!
//! If the distribution cannot be computed, [`verify_by_simulation`] refutes with a stated probability of error over all
//! cases.
//!
//! Accountants of this crate go by their names ([`accountant_of_name`]), a program of the user exchanges JSON lines
//! ([`ExternalAccountant`]), and [`broken`] has some that are wrong on purpose.

mod accountant;
mod answer_line;
#[doc(hidden)]
pub mod broken;
mod catalog;
mod check;
mod conversion;
mod curve;
mod distribution_pair;
mod distributions;
mod draws;
mod external;
mod extreme_pairs;
mod function;
mod generate;
mod known_rdp;
mod property;
mod punctual;
mod request;
mod run;
mod sensitivity;
mod shrink;
mod simulated;
mod smooth_cost;
mod structure;
mod theorem;
mod token_ensemble;
mod validity;

pub use accountant::{Accountant, AccountantAnswer, ClaimScope};
pub use answer_line::read_answer;
pub use catalog::{accountant_of_name, accountants_of};
pub use check::Violation;
pub use external::{ExternalAccountant, ExternalOptions};
pub use function::FunctionAccountant;
pub use property::{Property, PropertyKind};
pub use request::{Case, Question, Request};
pub use run::{Counterexample, Outcome, Plan, Problem, PropertyFinding, PropertyVerdict, verify};
pub use simulated::{SimulatedChecks, verify_by_simulation};

#[doc(hidden)]
pub use self::{
    catalog::accountant_names, known_rdp::CONVERSION, property::PROPERTIES, request::subjects,
    smooth_cost::SMOOTH_SENSITIVITY,
};
