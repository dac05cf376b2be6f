//! Membership, label and property inference from recorded scores.
//!
//! A part of the package `leakbound`, whose documentation covers it.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod label_dp;
pub mod membership;
pub mod property;

pub use leakbound_audit::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use leakbound_audit::prelude::*;
}
