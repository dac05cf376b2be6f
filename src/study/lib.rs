//! Whole questions and their answers.
//!
//! A part of the package `leakbound`, whose documentation covers it.

#![warn(clippy::wildcard_enum_match_arm)]

#[path = "mod.rs"]
pub mod study;

pub use leakbound_record::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use crate::black_box::{Dataset, FunctionBlackBox, Output};
    pub use crate::relation::Relation;
    pub use crate::study::{
        Answer, DpSgd, Goal, Study, audit, calibrate, epsilon, epsilon_lower_bound, likelihood_ratio_attack, unwatched,
    };
    pub use leakbound_record::prelude::*;
}
