//! Files that are read and written.
//!
//! A part of the package `leakbound`, whose documentation covers it.

#[path = "mod.rs"]
pub mod record;

pub use leakbound_attacks::*;
pub use leakbound_checks::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use leakbound_checks::prelude::*;
}
