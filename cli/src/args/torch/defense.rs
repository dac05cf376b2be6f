//! The defense of the models that a recipe trains.

use super::contrastive::ContrastiveOptions;
use super::count;
use super::training::below_1;
use crate::args::{Parsed, number};
use clap::{Args, ValueEnum};
use leakbound::error::{Error, Result};
use leakbound_train::{Defense, Hamp, RelaxLoss, Selena};
use serde::Serialize;

/// Which defense.
#[derive(Debug, Clone, Args, Serialize)]
pub struct DefenseOptions {
    /// The defense against membership inference
    #[arg(long, value_name = "DEFENSE", default_value = "none")]
    pub defense: DefenseName,
    /// Loss in nats that relaxloss keeps to
    #[arg(long, value_name = "NATS", default_value = "0.5946", value_parser = at_least_0, allow_hyphen_values = true)]
    pub loss_threshold: f64,
    /// Entropy of the soft labels of hamp as a share of the largest
    #[arg(
        long,
        value_name = "S",
        default_value = "0.9996837722339832",
        value_parser = below_1,
        allow_hyphen_values = true
    )]
    pub entropy_share: f64,
    /// Weight of the entropy of answers in the loss of hamp
    #[arg(long, value_name = "W", default_value = "0.005", value_parser = at_least_0, allow_hyphen_values = true)]
    pub entropy_weight: f64,
    /// Models that selena splits the images among
    #[arg(long, value_name = "K", default_value = "25", value_parser = count, allow_hyphen_values = true)]
    pub split_models: usize,
    /// Of them, models that leave out an image
    #[arg(long, value_name = "L", default_value = "10", value_parser = count, allow_hyphen_values = true)]
    pub left_out: usize,
    /// The encoders of simclr and moco
    #[command(flatten)]
    #[serde(flatten)]
    pub contrastive: ContrastiveOptions,
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
    /// Soft labels, less confident answers, and random ones in their order (Chen and Pattabiraman, 2024)
    Hamp,
    /// Distillation of --split-models, each image by --left-out that did not see it (Tang et al., 2022)
    Selena,
    /// An encoder that learns without labels, and a linear classifier on it (Chen et al., 2020)
    #[value(name = "simclr")]
    #[serde(rename = "simclr")]
    SimClr,
    /// The same with a queue of keys (He et al., 2020)
    #[value(name = "moco")]
    #[serde(rename = "moco")]
    MoCo,
}

impl DefenseOptions {
    /// The library's defense.
    ///
    /// # Errors
    /// [`Error::Rejected`] for an option of another defense that is not at its default.
    pub fn defense(&self) -> Result<Defense> {
        self.check()?;
        let &Self { loss_threshold, entropy_share, entropy_weight, split_models, left_out, .. } = self;
        Ok(match self.defense {
            DefenseName::None => Defense::None,
            DefenseName::RelaxLoss => Defense::RelaxLoss(RelaxLoss { loss_threshold }),
            DefenseName::Hamp => Defense::Hamp(Hamp { entropy_share, entropy_weight }),
            DefenseName::Selena => Defense::Selena(Selena { models: split_models, left_out }),
            DefenseName::SimClr => Defense::SimClr(self.contrastive.simclr()),
            DefenseName::MoCo => Defense::MoCo(self.contrastive.moco()),
        })
    }

    /// Whether networks learn from views of images before they learn labels.
    pub fn is_contrastive(&self) -> bool {
        matches!(self.defense, DefenseName::SimClr | DefenseName::MoCo)
    }

    /// A document has all options at their values, and is read back: those at their defaults fit every defense.
    fn check(&self) -> Result<()> {
        let (relaxloss, hamp, selena) = (RelaxLoss::PUBLISHED, Hamp::PUBLISHED, Selena::PUBLISHED);
        let parameters = [
            ("--loss-threshold", self.loss_threshold != relaxloss.loss_threshold, DefenseName::RelaxLoss),
            ("--entropy-share", self.entropy_share != hamp.entropy_share, DefenseName::Hamp),
            ("--entropy-weight", self.entropy_weight != hamp.entropy_weight, DefenseName::Hamp),
            ("--split-models", self.split_models != selena.models, DefenseName::Selena),
            ("--left-out", self.left_out != selena.left_out, DefenseName::Selena),
        ];
        let other = parameters.into_iter().find(|&(_, chosen, of)| chosen && of != self.defense);
        let other = other.map(|(option, _, of)| (option, of));
        let of_moco = self.contrastive.chosen_of_moco().filter(|_| self.defense != DefenseName::MoCo);
        let of_both = self.contrastive.chosen().filter(|_| !self.is_contrastive());
        let other = other
            .or(of_moco.map(|option| (option, DefenseName::MoCo)))
            .or(of_both.map(|option| (option, DefenseName::SimClr)));
        let Some((option, of)) = other else { return Ok(()) };
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
