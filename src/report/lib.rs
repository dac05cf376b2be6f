//! Results as text, pages and figures.
//!
//! A part of the package `leakbound`, whose documentation covers it.

#[path = "mod.rs"]
pub mod report;

pub use leakbound_study::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use leakbound_study::prelude::*;
}
