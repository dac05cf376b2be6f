//! How the networks of a recipe are trained.

use super::numbers::{any_count, count, factor, rate, share};
use clap::{Args, ValueEnum};
use leakbound_train::{Augmentation, EarlyStopping, Optimizer, Schedule, TrainingPlan};
use serde::Serialize;

/// The training of each network.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct TrainingOptions {
    /// Epochs [default: 30; shadow models 40]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true, help_heading = None)]
    pub epochs: Option<usize>,
    /// Epochs per epoch ("Attacking PATE" makes 20)
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub passes: usize,
    /// Batch size
    #[arg(long, value_name = "N", default_value = "32", value_parser = count, allow_hyphen_values = true)]
    pub batch: usize,
    /// The rule of a step and of its length
    #[arg(long, value_name = "NAME", default_value = "adam")]
    pub optimizer: OptimizerName,
    /// Learning rate of Adam
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub learning_rate: f64,
    /// What the learning rate of Adam is multiplied by after each epoch
    #[arg(long, value_name = "F", default_value = "1", value_parser = factor, allow_hyphen_values = true)]
    pub decay: f64,
    /// Keep the parameters of the epoch with the best accuracy on images held out, and end after this many epochs that
    /// were not better
    #[arg(long, value_name = "EPOCHS", value_parser = count, allow_hyphen_values = true)]
    pub patience: Option<usize>,
    /// Fraction of the images of each network that is held out for that
    #[arg(long, value_name = "S", default_value = "0.1", requires = "patience", value_parser = share, allow_hyphen_values = true)]
    pub validation_share: f64,
    /// Networks trained in parallel; fewer need less memory [default: fastest on the device]
    #[arg(long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub side_by_side: Option<usize>,
}

/// How training images are moved.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct AugmentationOptions {
    /// Flip training images with probability 1/2
    #[arg(long)]
    pub flip: bool,
    /// Shift training images by up to this many pixels on each axis, padding with 0
    #[arg(long, value_name = "P", default_value = "0", value_parser = any_count, allow_hyphen_values = true)]
    pub shift: usize,
}

impl AugmentationOptions {
    /// The augmentation, if these options move anything.
    pub fn plan(&self) -> Option<Augmentation> {
        (self.flip || self.shift > 0).then(|| self.all())
    }

    /// The augmentation, which may be none.
    pub const fn all(&self) -> Augmentation {
        Augmentation { flip: self.flip, shift: self.shift }
    }
}

/// Rules by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerName {
    /// Adam at --learning-rate, multiplied by --decay after each epoch
    Adam,
    /// Momentum 0.9 and weight decay 0.0005 at rate 0.1, after a linear start of one epoch, and at a fifth of that
    /// after 30, 60 and 80% of the epochs: the networks of Aerni et al. (2024), with --epochs 200 --batch 256
    WideResidual,
}

impl TrainingOptions {
    /// Options with whether they are at another value than their default, but for how many networks are trained side by
    /// side.
    pub fn chosen(&self) -> [(&'static str, bool); 7] {
        [
            ("--epochs", self.epochs.is_some()),
            ("--passes", self.passes != 1),
            ("--batch", self.batch != 32),
            ("--optimizer", self.optimizer != OptimizerName::Adam),
            ("--learning-rate", self.learning_rate != 1e-3),
            ("--decay", self.decay != 1.0),
            ("--patience", self.patience.is_some()),
        ]
    }

    /// The library's plan, with the recipe's own number of epochs.
    pub fn plan(&self, epochs: usize) -> TrainingPlan {
        let rate = self.learning_rate;
        let epochs = self.epochs.unwrap_or(epochs);
        TrainingPlan {
            epochs: epochs * self.passes,
            batch: self.batch,
            optimizer: match self.optimizer {
                OptimizerName::Adam => Optimizer::ADAM,
                OptimizerName::WideResidual => Optimizer::WIDE_RESIDUAL,
            },
            schedule: match self.optimizer {
                OptimizerName::WideResidual => Schedule::wide_residual(epochs),
                OptimizerName::Adam if self.decay == 1.0 => Schedule::Constant { rate },
                OptimizerName::Adam => Schedule::Exponential { rate, factor: self.decay, parts: epochs },
            },
            early_stopping: self
                .patience
                .map(|patience| EarlyStopping { validation: self.validation_share, patience: patience * self.passes }),
            augmentation: None,
            side_by_side: self.side_by_side,
        }
    }
}
