//! Attacks on the weights of networks, recorded or just trained.

use super::device::{DeviceOptions, open};
use super::numbers::{below_1, count, factor, rate};
use super::training_run::say;
use crate::args::Common;
use crate::args::values::{failure_probability, whole};
use crate::cmd::conclude::{Asked, publish};
use crate::output::{Output, Watch, fault};
use clap::{Args, ValueEnum};
use leakbound::property::NetworkSplit;
use leakbound::quantity::FailureProbability;
use leakbound::record::{RecordedNetworks, read_networks};
use leakbound::study::{
    InferredValues, MetaClassifierAnswer, MetaClassifierStudy, Step, Study, TargetAnswers, Verdict,
};
use leakbound::{Error, Result};
use leakbound_train::{
    FlatPlan, MetaClassifier, MetaClassifierPlan, SetPlan, TrainingDevice, WeightInference, infer_by_weights,
    split_networks,
};
use ndarray::{Array3, Array4, Axis};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Clone, Args, Serialize)]
pub struct RecordedMetaClassifierOptions {
    /// Weights of networks and the property values of their training data
    pub file: PathBuf,
    #[command(flatten)]
    #[serde(flatten)]
    pub device: DeviceOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub attacks: WeightAttackOptions,
}

/// Meta-classifiers and their evaluation.
#[derive(Debug, Clone, Args, Serialize)]
#[command(next_help_heading = "Advanced")]
pub struct WeightAttackOptions {
    /// Meta-classifiers on the weights
    #[arg(long, value_enum, value_name = "NAME,...", default_value = "flat,set", value_delimiter = ',', help_heading = None)]
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
    #[arg(long, value_name = "N", default_value = "9999", value_parser = whole::<usize>(1, 10_000_000, "10^7"), allow_hyphen_values = true)]
    pub permutations: usize,
    /// Failure probability of all intervals together
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = failure_probability, allow_hyphen_values = true, help_heading = "Bounds")]
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

pub fn run(common: &Common, options: &RecordedMetaClassifierOptions) -> Result<Verdict> {
    let device = open(options.device.device)?;
    let output = Output::open(common, &[&options.file])?;
    let (networks, input) = read_networks(&options.file, common.memory())?;
    let title = format!(
        "{} networks of {} weights, {} property values",
        networks.weights.nrows(),
        networks.weights.ncols(),
        networks.values
    );
    let split = networks.split.clone().unwrap_or_else(|| split_networks(&networks.value.to_vec(), common.seed));
    let inferences =
        infer(common, &options.attacks, &networks, &split, device).map_err(|error| of_file(options, error))?;
    let answer = judge(common, &options.attacks, &networks, &split, &inferences)?;
    let asked = Asked { options, inputs: vec![input], title, warnings: Vec::new() };
    publish(common, output, answer, asked)
}

/// What is wrong with the networks is an error of the file.
fn of_file(options: &RecordedMetaClassifierOptions, error: Error) -> Error {
    if !matches!(error, Error::Length { .. } | Error::Domain { .. }) {
        return error;
    }
    fault(&options.file, "arrays `weights`, `layers` and `value`", error.to_string(), "networks of one shape")
}

/// Trains the meta-classifiers on the weights.
pub fn infer(
    common: &Common,
    options: &WeightAttackOptions,
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    device: TrainingDevice,
) -> Result<Vec<WeightInference>> {
    let plan = options.plan(common.seed);
    let all = (plan.classifiers.len() * plan.epochs) as u64;
    let (watch, done) = (Watch::new(common), AtomicU64::new(0));
    let inferences = infer_by_weights(networks, split, &plan, device, &|more| {
        let done = done.fetch_add(more, Ordering::Relaxed) + more;
        watch.step(Step { done, all, unit: "epochs" })
    })?;
    drop(watch);
    for found in &inferences {
        say(
            common,
            &format!(
                "{}: {} epochs, accuracy {:.4} in training, {:.4} in validation",
                found.attack, found.epochs, found.training_accuracy, found.validation_accuracy
            ),
        );
    }
    Ok(inferences)
}

/// Compares what was inferred with the truth, next to the attack by distance.
pub fn judge(
    common: &Common,
    options: &WeightAttackOptions,
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    inferences: &[WeightInference],
) -> Result<MetaClassifierAnswer> {
    let of = |part: NetworkSplit| (0..split.len()).filter(move |&network| split[network] == part);
    let targets: Vec<usize> = of(NetworkSplit::Test).collect();
    let answers = networks.answers.as_ref().and_then(|answers| {
        let members =
            |value: usize| of(NetworkSplit::Training).filter(move |&network| networks.value[network] == value);
        ensembles(answers, &(0..networks.values).map(|value| members(value).collect()).collect::<Vec<_>>())
            .map(|ensembles| TargetAnswers { targets: answers.select(Axis(0), &targets).mapv(f64::from), ensembles })
    });
    let inferred = |found: &WeightInference| InferredValues { attack: found.attack, values: found.values.clone() };
    let study = MetaClassifierStudy {
        values: networks.values,
        truths: targets.iter().map(|&network| networks.value[network]).collect(),
        inferred: inferences.iter().map(inferred).collect(),
        answers,
        failure_probability: options.failure_probability,
        permutations: options.permutations,
        seed: common.seed,
    };
    let watch = Watch::new(common);
    study.run(&|step| watch.step(step))
}

/// Answers \[value, member, point, class\] of the networks of each value, as many of each as there are of the rarest.
fn ensembles(answers: &Array3<f32>, members: &[Vec<usize>]) -> Option<Array4<f64>> {
    let each = members.iter().map(Vec::len).min()?;
    let (_, points, classes) = answers.dim();
    let rows: Vec<usize> = members.iter().flat_map(|members| members[..each].to_vec()).collect();
    let picked = answers.select(Axis(0), &rows).mapv(f64::from);
    let shape = (members.len(), each, points, classes);
    Array4::from_shape_vec(shape, picked.iter().copied().collect()).ok().filter(|_| each > 0)
}
