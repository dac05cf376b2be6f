//! Membership, label and property inference of leakbound from recorded scores: a part of the package `leakbound`, whose documentation shows everything.

pub mod label_dp;
pub mod membership;
pub mod property;

pub use leakbound_audit::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use leakbound_audit::prelude::*;
}
