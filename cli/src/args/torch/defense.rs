//! The defense of the models that a recipe trains.

use clap::{Args, ValueEnum};
use leakbound_train::Defense;
use serde::Serialize;

/// Which defense.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DefenseOptions {
    /// The defense against membership inference
    #[arg(long, value_name = "DEFENSE", default_value = "none")]
    pub defense: DefenseName,
}

/// Defenses by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefenseName {
    /// None: mean cross-entropy on the labels
    None,
}

impl DefenseOptions {
    /// The library's defense.
    pub fn defense(&self) -> Defense {
        match self.defense {
            DefenseName::None => Defense::None,
        }
    }
}
