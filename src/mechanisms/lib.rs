//! Mechanisms: exact distributions, theorems and samplers.
//!
//! Part of the package `leakbound`, whose documentation covers it.

pub mod accountant;
pub mod mechanism;
pub mod model;
pub mod simulate;
pub mod token;

pub use leakbound_core::*;

/// The names that most programs need, as far as this package defines them.
pub mod prelude {
    pub use crate::mechanism::NoisyArgmax;
    pub use crate::simulate::{Simulation, simulate};
    pub use leakbound_core::prelude::*;
}
