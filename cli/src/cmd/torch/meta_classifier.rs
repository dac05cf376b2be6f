//! `leakbound torch meta-classifier`: weights of networks for each value of a property, and what they show of it.

use super::data::DataOptions;
use super::network::NetworkOptions;
use super::numbers::{count, percentage};
use super::recipe::Recipe;
use super::training::TrainingOptions;
use super::training_run::{About, add_fields};
use super::weight_attacks::{WeightAttackOptions, infer, judge};
use crate::args::Common;
use clap::Args;
use leakbound::Result;
use leakbound::property::{NetworkSplit, PropertyAttack};
use leakbound::record::ArrayWriter;
use leakbound::report::MetaClassifierDocument;
use leakbound::study::MetaClassifierAnswer;
use leakbound_train::{TargetNetworks, TargetPlan, TrainingDevice, train_target_networks};
use ndarray::{Array1, Array2};
use serde::Serialize;

/// Train networks on images with and without a property, and infer it from their weights by meta-classifiers
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "The networks that are attacked share no training image with the others. The published \
                  meta-classifier is deeper than the default: --flat-blocks 6 --flat-convolutions 3 --flat-dense 2 \
                  has as many layers, for networks of at least 4096 weights.\n\nExamples:\n  leakbound torch \
                  meta-classifier --data fashion-mnist --recording weights.npz --hidden 16 --networks 1000\n  \
                  leakbound property meta-classifier weights.npz --classifiers set")]
pub struct MetaClassifierOptions {
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
    #[arg(long, value_name = "N", default_value = "500", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub images: usize,
    /// Public points, drawn from the test images, at which networks answer for the attack by distance
    #[arg(long, value_name = "N", default_value = "100", value_parser = count, allow_hyphen_values = true, help_heading = "Advanced")]
    pub points: usize,
    #[command(flatten)]
    #[serde(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub training: TrainingOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub attacks: WeightAttackOptions,
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

pub fn run(common: &Common, options: &MetaClassifierOptions, device: TrainingDevice) -> Result<()> {
    let plan = options.plan(common.seed);
    let mut recipe = Recipe::open(common, &options.data, device, &[])?;
    recipe.open_checkpoint("meta-classifier", &plan)?;
    let all = plan.all_networks();
    let targets = recipe.train_networks(all, |context| train_target_networks(context, &plan))?;
    let networks = &targets.networks;
    let split = networks.split.clone().unwrap_or_default();
    let inferences = infer(common, &options.attacks, networks, &split, device)?;
    let answer = judge(common, &options.attacks, networks, &split, &inferences)?;
    let mut facts = vec![
        ("weights-of-each", networks.weights.ncols() as f64),
        ("mean-accuracy", targets.accuracy.mean().unwrap_or_default()),
    ];
    facts.extend(inferences.iter().flat_map(|found| {
        let names = match found.attack {
            PropertyAttack::Set => ["set-epochs", "set-training-accuracy"],
            PropertyAttack::Flat | PropertyAttack::Distance => ["flat-epochs", "flat-training-accuracy"],
        };
        [(names[0], found.epochs as f64), (names[1], found.training_accuracy)]
    }));
    let about = About {
        title: format!(
            "{} networks ({}) for each of {:?}% of class {}, {} images each; {} of them attacked",
            plan.networks,
            plan.network,
            options.percentages,
            plan.class,
            plan.images,
            answer.truths.len()
        ),
        networks: all,
        facts,
        ..About::of("leakbound.torch-meta-classifier/1", options)
    };
    let (output, recording) = recipe.record(about, |writer| add(writer, &targets, &plan, &answer))?;
    output.write(&MetaClassifierDocument::new(recording, answer))
}

/// The arrays that `property meta-classifier` reads, then what was inferred.
fn add(
    writer: &mut ArrayWriter,
    targets: &TargetNetworks,
    plan: &TargetPlan,
    answer: &MetaClassifierAnswer,
) -> Result<()> {
    let networks = &targets.networks;
    let layers = networks.layers.iter().flat_map(|layer| [layer.places, layer.inputs, layer.outputs, layer.vectors]);
    let layers: Vec<i64> = layers.map(|count| count as i64).collect();
    writer.add("weights", &networks.weights)?;
    // Four of each layer.
    writer.add("layers", &Array2::from_shape_vec((networks.layers.len(), 4), layers).unwrap_or_default())?;
    writer.add("value", &networks.value.mapv(|value| value as i64))?;
    let number =
        |part: &NetworkSplit| NetworkSplit::ALL.iter().position(|other| other == part).unwrap_or_default() as i64;
    let split: Array1<i64> = networks.split.iter().flatten().map(number).collect();
    writer.add("split", &split)?;
    if let Some(answers) = &networks.answers {
        writer.add("answers", answers)?;
    }
    for row in &answer.attacks {
        let inferred: Array1<i64> = row.inferred.iter().map(|&value| value as i64).collect();
        writer.add(&format!("inferred_{}", row.attack), &inferred)?;
    }
    writer.add("property_shares", &Array1::from(plan.shares.clone()))?;
    add_fields!(writer, targets; point_index, point_label, accuracy);
    Ok(())
}
