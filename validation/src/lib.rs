//! Experiments that compare `leakbound` with tables of high precision, with simulation and with itself.
//!
//! Each experiment prints its figures and ends in a verdict; the fast ones are also tests of the main package.

pub mod audit_cases;
pub mod audit_figures;
pub mod audit_mechanism;
pub mod audit_properties;
pub mod audit_race;
pub mod capc;
pub mod coverage;
pub mod distributions_by_simulation;
#[cfg(test)]
mod documents;
pub mod enclosures;
pub mod experiment;
pub mod false_claims;
#[cfg(feature = "torch")]
pub mod ihr_row;
pub mod inequalities;
pub mod kill_resume;
pub mod labeling_budget;
pub mod ladder;
pub mod libraries;
pub mod membership;
#[cfg(feature = "torch")]
pub mod meta_classifier;
pub mod multinomial;
pub mod peers;
pub mod private_prediction;
#[cfg(feature = "torch")]
pub mod prompt_pate;
pub mod registry;
pub mod rounding;
pub mod samplers;
pub mod tables;
pub mod tightness;
pub mod timing;
pub mod verify;
pub mod votes;
pub mod worst_case;
