//! Training of the networks that meta-classifiers learn from and are measured on.

use super::layout::{flattened, layers};
use super::split::part;
use super::target_plan::TargetPlan;
use crate::answers::{indices, largest};
use crate::checks::reject;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::guard::guarded;
use crate::packed::Packed;
use crate::property::{check_images, reduced};
use crate::seed::{Purpose, shuffled, some_of, stream};
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use leakbound::property::{LayerWeights, NetworkSplit};
use leakbound::record::RecordedNetworks;
use ndarray::{Array1, Array2, Array3, Axis};
use serde::{Deserialize, Serialize};
use tch::Kind;

/// Streams of the whole: no network has this value.
const WHOLE: u64 = u64::MAX;

/// Networks, what they are for, and what they answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetNetworks {
    /// Weights, values, parts and answers, value by value.
    pub networks: RecordedNetworks,
    /// Test image behind each public point, rising.
    pub point_index: Array1<i32>,
    /// Its class.
    pub point_label: Array1<u8>,
    /// Share of points that each network classifies rightly.
    pub accuracy: Array1<f64>,
}

/// What is kept of a network.
#[derive(Serialize, Deserialize)]
struct Target {
    weights: Packed,
    probabilities: Packed,
}

/// Trains networks for each value of a property, and takes their weights.
///
/// The training images are divided at random. The networks that are attacked are trained on images of one half, and all
/// others on images of the other half: no image is shared, as between a private dataset and an adversary's own. From its
/// half each network draws its images by itself, after the class was reduced. Progress counts networks.
///
/// # Errors
/// [`Error::Domain`](leakbound::Error::Domain) for a count or a share out of range,
/// [`Error::Rejected`](leakbound::Error::Rejected) for too few images or points and for a network without a sequence of
/// layers, [`Error::Length`](leakbound::Error::Length) if training and test images differ in shape,
/// [`Error::Unavailable`](leakbound::Error::Unavailable) if libtorch fails, those of the checkpoint.
///
/// # References
/// Ihrig (2021), thesis, sections 4.4.2 and 5.3.2, whose networks all have images of one half.
pub fn train_target_networks(context: &TrainingContext<'_>, plan: &TargetPlan) -> Result<TargetNetworks> {
    plan.check()?;
    check_images("target networks", context, (plan.class, plan.points))?;
    let &TrainingContext { train, test, device, .. } = context;
    let classes = context.classes();
    let point_index = some_of(test.len(), plan.points, stream(plan.seed, Purpose::TargetImages, WHOLE, 1));
    let (images, point_inputs) = guarded("images", || {
        let [images, test_images] = [train, test].map(|set| TrainingImages::of(set, classes, device.tensors()));
        Ok((images, rows_of(&test_images.inputs, point_index.iter().copied())))
    })?;
    let trainer = context.trainer(plan.network, &plan.training, plan.seed);
    let layers = guarded("network", || {
        let mut streams = [stream(plan.seed, Purpose::Weights, 0, 0)];
        layers(plan.network, &mut *plan.network.build(&mut streams, train.shape(), classes, device.tensors()))
    })?;
    let mut targets: Vec<Target> = Vec::new();
    for (value, tables) in tables(plan, &train.labels.to_vec())?.into_iter().enumerate() {
        targets.extend(trainer.train_and_ask(
            value as u64,
            &images,
            &tables,
            &point_inputs,
            &|networks, _, asked| {
                let probabilities = logits_of_all(networks, asked).softmax(-1, Kind::Float);
                let probabilities: Vec<Vec<f32>> = probabilities.flatten(1, -1).try_into()?;
                let weights: Vec<Vec<f32>> = flattened(&layers, networks).try_into()?;
                let both = weights.into_iter().zip(probabilities);
                Ok(both.map(|(w, p)| Target { weights: Packed(w), probabilities: Packed(p) }).collect())
            },
        )?);
    }
    let point_label: Array1<u8> = point_index.iter().map(|&point| test.labels[point as usize]).collect();
    Ok(assembled(plan, targets, layers, (point_index, point_label)))
}

/// The images of each network, \[value\]\[network\].
pub(super) fn tables(plan: &TargetPlan, labels: &[u8]) -> Result<Vec<Vec<Vec<Example>>>> {
    let order = shuffled(labels.len(), stream(plan.seed, Purpose::TargetImages, WHOLE, 0));
    let (private, public) = order.split_at(order.len() / 2);
    let of_network = |value: usize, network: usize| {
        let half = if part(network, plan.networks) == NetworkSplit::Test { private } else { public };
        let mut stream = stream(plan.seed, Purpose::TargetImages, value as u64, network as u64);
        let drawn = reduced(half, labels, (plan.class, plan.shares[value]), &mut stream);
        if drawn.len() < plan.images {
            let reason =
                format!("{} images for networks of {}; half of the images have the property", drawn.len(), plan.images);
            return reject("target networks", reason);
        }
        Ok(Example::all(&drawn[..plan.images]))
    };
    let of_value = |value| (0..plan.networks).map(|network| of_network(value, network)).collect();
    (0..plan.shares.len()).map(of_value).collect()
}

fn assembled(
    plan: &TargetPlan,
    targets: Vec<Target>,
    layers: Vec<LayerWeights>,
    (point_index, point_label): (Vec<u32>, Array1<u8>),
) -> TargetNetworks {
    let count = targets.len();
    let (mut weights, mut probabilities) = (Vec::new(), Vec::new());
    for target in targets {
        weights.extend(target.weights.0);
        probabilities.extend(target.probabilities.0);
    }
    let (parameters, classes) = (weights.len() / count, probabilities.len() / count / plan.points);
    // As many as were requested.
    let weights = Array2::from_shape_vec((count, parameters), weights).unwrap_or_default();
    let answers = Array3::from_shape_vec((count, plan.points, classes), probabilities).unwrap_or_default();
    let accuracy = answers.axis_iter(Axis(0)).map(|points| {
        let rows = points.axis_iter(Axis(0)).zip(&point_label);
        let right = rows.filter(|(row, label)| largest(&row.to_vec()) == usize::from(**label)).count();
        right as f64 / plan.points as f64
    });
    TargetNetworks {
        accuracy: accuracy.collect(),
        networks: RecordedNetworks {
            weights,
            layers,
            value: (0..count).map(|network| network / plan.networks).collect(),
            values: plan.shares.len(),
            split: Some((0..count).map(|network| part(network % plan.networks, plan.networks)).collect()),
            answers: Some(answers),
        },
        point_index: indices(&point_index),
        point_label,
    }
}
