//! Lower bounds on privacy leakage.
//!
//! Part of the package `leakbound`, whose documentation covers it.

#![warn(clippy::wildcard_enum_match_arm)]

#[path = "mod.rs"]
pub mod audit;

pub use leakbound_core::*;

/// The names that most programs need, as far as this package defines them.
pub mod prelude {
    pub use crate::audit::{AuditPlan, Guide, Method, SetSource, audit_counts};
    pub use leakbound_core::prelude::*;
}
