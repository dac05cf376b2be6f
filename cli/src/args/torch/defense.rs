//! The defense of the models that a recipe trains.

use crate::args::{Parsed, number};
use clap::{Args, ValueEnum};
use leakbound::error::{Error, Result};
use leakbound_train::{Defense, RelaxLoss};
use serde::Serialize;

/// Which defense.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DefenseOptions {
    /// The defense against membership inference
    #[arg(long, value_name = "DEFENSE", default_value = "none")]
    pub defense: DefenseName,
    /// Loss in nats that relaxloss keeps to [default: 0.5946]
    #[arg(long, value_name = "NATS", value_parser = at_least_0, allow_hyphen_values = true)]
    pub loss_threshold: Option<f64>,
}

/// Defenses by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefenseName {
    /// None: mean cross-entropy on the labels
    None,
    /// The loss of a batch is kept at --loss-threshold (Chen et al., 2022)
    #[value(name = "relaxloss")]
    #[serde(rename = "relaxloss")]
    RelaxLoss,
}

impl DefenseOptions {
    /// The library's defense.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an option of another defense.
    pub fn defense(&self) -> Result<Defense> {
        self.check()?;
        Ok(match self.defense {
            DefenseName::None => Defense::None,
            DefenseName::RelaxLoss => Defense::RelaxLoss(RelaxLoss {
                loss_threshold: self.loss_threshold.unwrap_or(RelaxLoss::PUBLISHED.loss_threshold),
            }),
        })
    }

    fn check(&self) -> Result<()> {
        let parameters = [
            ("--loss-threshold", self.loss_threshold.is_some(), DefenseName::RelaxLoss),
        ];
        let other = parameters.into_iter().find(|&(_, given, of)| given && of != self.defense);
        let Some((option, _, of)) = other else { return Ok(()) };
        let [of, ours] = [of, self.defense].map(name);
        let reason = format!("{option} is an option of {of}, not of {ours}; leave it out, or take --defense {of}");
        Err(Error::Rejected { operation: "defense", reason })
    }
}

fn name(defense: DefenseName) -> String {
    defense.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn at_least_0(text: &str) -> Parsed<f64> {
    let number = number(text)?;
    if (0.0..f64::INFINITY).contains(&number) { Ok(number) } else { Err(format!("{number} is not in [0, inf)")) }
}
