//! Checks of programs, of accountants and of the library itself.
//!
//! A part of the package `leakbound`, whose documentation covers it.

pub mod black_box;
pub mod json;
pub mod program;
pub mod self_check;
pub mod verify;

pub use leakbound_audit::*;
pub use leakbound_mechanisms::*;

/// The names that most programs need, as far as this package has them.
pub mod prelude {
    pub use leakbound_audit::prelude::*;
    pub use leakbound_mechanisms::prelude::*;
}
