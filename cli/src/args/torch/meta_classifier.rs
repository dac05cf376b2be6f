//! Options of `leakbound torch meta-classifier` and of `leakbound property meta-classifier`.

use super::network::NetworkOptions;
use super::numbers::{below_1, count, factor, percentage, rate};
use super::training::TrainingOptions;
use super::{DataOptions, DeviceOptions};

use crate::args::values::{Parsed, failure_probability, whole_from};
use clap::{Args, ValueEnum};
use leakbound::quantity::FailureProbability;
use leakbound_train::{FlatPlan, MetaClassifier, MetaClassifierPlan, SetPlan, TargetPlan};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `leakbound torch meta-classifier`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct MetaClassifierOptions {
    /// Images and recording
    #[command(flatten)]
    #[serde(flatten)]
    pub data: DataOptions,
    /// Class whose fraction is the property
    #[arg(long, value_name = "C", default_value = "0")]
    pub class: u8,
    /// Values of the property: how many in a hundred of the images of that class are there
    #[arg(long, value_name = "P,P,...", default_value = "100,25", value_delimiter = ',', value_parser = percentage,
          allow_hyphen_values = true)]
    pub percentages: Vec<f64>,
    /// Networks for each value, of which a tenth is attacked and a tenth is for validation
    #[arg(long, value_name = "N", default_value = "1000", value_parser = count, allow_hyphen_values = true)]
    pub networks: usize,
    /// Training images of each network
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true)]
    pub images: usize,
    /// Public points, drawn from the test images, at which networks answer for the attack by distance
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub points: usize,
    /// The network of all
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    /// Training of each network, 15 epochs unless given
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    /// The attacks
    #[command(flatten)]
    #[serde(flatten)]
    pub attacks: WeightAttackOptions,
}

/// Options of `leakbound property meta-classifier`.
#[derive(Debug, Clone, Args, Serialize)]
pub struct RecordedMetaClassifierOptions {
    /// Weights of networks and the property values of their training data
    pub file: PathBuf,
    /// Where to train
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    /// The attacks
    #[command(flatten)]
    #[serde(flatten)]
    pub attacks: WeightAttackOptions,
}

/// Meta-classifiers and their evaluation.
#[derive(Debug, Clone, Args, Serialize)]
pub struct WeightAttackOptions {
    /// Meta-classifiers on the weights
    #[arg(long, value_enum, value_name = "NAME,...", default_value = "flat,set", value_delimiter = ',')]
    pub classifiers: Vec<MetaClassifierName>,
    /// Most epochs of each meta-classifier
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true)]
    pub meta_epochs: usize,
    /// Networks in a step of a meta-classifier
    #[arg(long, value_name = "N", default_value = "24", value_parser = count, allow_hyphen_values = true)]
    pub meta_batch: usize,
    /// Learning rate of Adam in the first two epochs of a meta-classifier
    #[arg(long, value_name = "R", default_value = "0.001", value_parser = rate, allow_hyphen_values = true)]
    pub meta_learning_rate: f64,
    /// Factor of that learning rate after every second epoch
    #[arg(long, value_name = "F", default_value = "0.95", value_parser = factor, allow_hyphen_values = true)]
    pub meta_decay: f64,
    /// Epochs without a better accuracy on the networks for validation, after which a meta-classifier stops
    #[arg(long, value_name = "N", default_value = "30", value_parser = count, allow_hyphen_values = true)]
    pub meta_patience: usize,
    /// Fraction of the units before the last layer of a meta-classifier that are dropped in each step
    #[arg(long, value_name = "F", default_value = "0.5", value_parser = below_1, allow_hyphen_values = true)]
    pub dropout: f64,
    /// Blocks of convolutions of the flat meta-classifier
    #[arg(long, value_name = "N", default_value = "5", value_parser = count, allow_hyphen_values = true)]
    pub flat_blocks: usize,
    /// Convolutions of a block
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub flat_convolutions: usize,
    /// Filters of the first block; each further block has twice as many
    #[arg(long, value_name = "N", default_value = "8", value_parser = count, allow_hyphen_values = true)]
    pub flat_filters: usize,
    /// Dense layers before the last one
    #[arg(long, value_name = "N", default_value = "1", value_parser = count, allow_hyphen_values = true)]
    pub flat_dense: usize,
    /// Units of each of these
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub flat_units: usize,
    /// Units of the dense layers of the set meta-classifier
    #[arg(long, value_name = "N", default_value = "64", value_parser = count, allow_hyphen_values = true)]
    pub set_units: usize,
    /// Numbers by which it represents a unit of a network
    #[arg(long, value_name = "N", default_value = "16", value_parser = count, allow_hyphen_values = true)]
    pub set_representation: usize,
    /// Random permutations for each p-value
    #[arg(long, value_name = "N", default_value = "9999", value_parser = permutations, allow_hyphen_values = true)]
    pub permutations: usize,
    /// Failure probability of all intervals together
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = failure_probability, allow_hyphen_values = true)]
    pub failure_probability: FailureProbability,
}

/// Meta-classifiers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetaClassifierName {
    /// Convolutions on the weights as one vector
    Flat,
    /// A deep set of units for each layer, whose order does not matter
    Set,
}

impl MetaClassifierOptions {
    /// The library's plan of the networks.
    pub fn plan(&self, seed: u64) -> TargetPlan {
        TargetPlan {
            class: self.class,
            shares: self.percentages.iter().map(|percentage| percentage / 100.0).collect(),
            networks: self.networks,
            images: self.images,
            points: self.points,
            network: self.network.plan(),
            training: self.training.plan(15),
            seed,
        }
    }
}

impl WeightAttackOptions {
    /// The library's plan of the meta-classifiers, each once.
    pub fn plan(&self, seed: u64) -> MetaClassifierPlan {
        let flat = FlatPlan {
            blocks: self.flat_blocks,
            convolutions: self.flat_convolutions,
            filters: self.flat_filters,
            dense: self.flat_dense,
            units: self.flat_units,
            ..FlatPlan::default()
        };
        let set = SetPlan { units: self.set_units, representation: self.set_representation };
        let named = [
            (MetaClassifierName::Flat, MetaClassifier::Flat(flat)),
            (MetaClassifierName::Set, MetaClassifier::Set(set)),
        ];
        let wanted = named.into_iter().filter(|(name, _)| self.classifiers.contains(name));
        MetaClassifierPlan {
            classifiers: wanted.map(|(_, classifier)| classifier).collect(),
            epochs: self.meta_epochs,
            batch: self.meta_batch,
            rate: self.meta_learning_rate,
            decay: self.meta_decay,
            patience: self.meta_patience,
            dropout: self.dropout,
            seed,
        }
    }
}

fn permutations(text: &str) -> Parsed<usize> {
    whole_from(1, text, 10_000_000, "10^7").map(|permutations| permutations as usize)
}
