//! The networks that meta-classifiers learn from and are measured on: their data and their training.

use super::layout::{flattened, layers};
use crate::answers::{indices, probabilities};
use crate::checkpoint::Packed;
use crate::checks::{check_counts, check_range, reject};
use crate::context::TrainingContext;
use crate::guard::guarded;
use crate::network::NetworkPlan;
use crate::property::{check_images, check_shares, reduced, right};
use crate::seed::{Purpose, shuffled, some_of, stream};
use crate::train::TrainingPlan;
use crate::training_images::{Example, TrainingImages, rows_of};
use leakbound::error::Result;
use leakbound::property::{LayerWeights, NetworkSplit};
use leakbound::record::RecordedNetworks;
use ndarray::{Array1, Array2, Array3, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Streams of the whole: no network has this value.
const WHOLE: u64 = u64::MAX;

/// Networks, their purposes, and their answers.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetNetworks {
    /// Weights, values, parts and answers, value by value.
    pub networks: RecordedNetworks,
    /// Test image behind each public point, rising.
    pub point_index: Array1<i32>,
    /// Its class.
    pub point_label: Array1<u8>,
    /// Share of points that each network classifies correctly.
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
/// others on images of the other half: no image is shared, as between a private dataset and an adversary's own. Each
/// network draws its images independently from its half, after the class was reduced. Progress counts networks.
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
        let weights = &mut [stream(plan.seed, Purpose::Weights, 0, 0)];
        layers(plan.network, &mut *plan.network.build(weights, train.shape(), classes, device.tensors()))
    })?;
    let mut targets: Vec<Target> = Vec::new();
    for (value, tables) in tables(plan, &train.labels.to_vec())?.into_iter().enumerate() {
        targets.extend(trainer.train_and_ask(
            value as u64,
            &images,
            &tables,
            &point_inputs,
            &|networks, _, asked| {
                let probabilities = probabilities(networks, asked)?;
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
    // The requested number.
    let weights = Array2::from_shape_vec((count, parameters), weights).unwrap_or_default();
    let answers = Array3::from_shape_vec((count, plan.points, classes), probabilities).unwrap_or_default();
    let accuracy =
        answers.axis_iter(Axis(0)).map(|points| right(points, point_label.iter()) as f64 / plan.points as f64);
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

/// Networks trained on images that have a property, equally many for each value that it may have.
///
/// The property: only a share of the images of one class is present.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetPlan {
    /// The class.
    pub class: u8,
    /// Shares of its images, each in (0, 1]: the values of the property.
    pub shares: Vec<f64>,
    /// Networks for each value.
    pub networks: usize,
    /// Images of each network, drawn independently.
    pub images: usize,
    /// Public points: test images that every network answers at.
    pub points: usize,
    /// The network of all.
    pub network: NetworkPlan,
    /// Training of each.
    pub training: TrainingPlan,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl TargetPlan {
    /// Networks that are trained.
    #[must_use]
    pub fn all_networks(&self) -> u64 {
        self.shares.len() as u64 * self.networks as u64
    }

    pub(super) fn check(&self) -> Result<()> {
        self.network.check()?;
        let counts = [
            ("public points", self.points),
            ("images of a network", self.images),
            ("epochs", self.training.epochs),
            ("images in a step", self.training.batch),
        ];
        check_counts(counts)?;
        check_shares(&self.shares)?;
        let values = self.shares.len();
        check_range("property values", values as f64, (2..=256).contains(&values), "{2, ..., 256}")?;
        let quantity = "networks of a value, for training, validation and test";
        check_range(quantity, self.networks as f64, self.networks >= 3, "[3, inf)")
    }
}

/// The purpose of network n among those of one value: the last tenth is attacked, the tenth before it is for
/// validation; at least one network each.
pub(super) fn part(network: usize, networks: usize) -> NetworkSplit {
    let tenth = (networks / 10).max(1);
    if network + tenth >= networks {
        NetworkSplit::Test
    } else if network + 2 * tenth >= networks {
        NetworkSplit::Validation
    } else {
        NetworkSplit::Training
    }
}

/// Draws the purposes of recorded networks: of the networks of each value one tenth is attacked and one tenth is for
/// validation, at least one each.
///
/// `value` \[network\] counts from 0. The same seed gives the same parts.
///
/// # Example
/// ```
/// # use leakbound::property::NetworkSplit;
/// # use leakbound_train::split_networks;
/// let split = split_networks(&[0, 1].repeat(20), 0);
/// assert_eq!(split.iter().filter(|&&part| part == NetworkSplit::Test).count(), 4);
/// ```
#[must_use]
pub fn split_networks(value: &[usize], seed: u64) -> Vec<NetworkSplit> {
    let mut split = vec![NetworkSplit::Training; value.len()];
    for number in 0..=value.iter().copied().max().unwrap_or(0) {
        let mut networks: Vec<usize> = (0..value.len()).filter(|&network| value[network] == number).collect();
        networks.shuffle(&mut stream(seed, Purpose::NetworkSplit, number as u64, 0));
        for (place, &network) in networks.iter().enumerate() {
            split[network] = part(place, networks.len());
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_every_part() {
        let value: Vec<usize> = (0..61).map(|network| network % 3).chain([3; 3]).collect();
        let split = split_networks(&value, 5);
        for (number, expected) in [(0, [17, 2, 2]), (1, [16, 2, 2]), (2, [16, 2, 2]), (3, [1, 1, 1])] {
            let of =
                |part| split.iter().zip(&value).filter(|&(split, value)| (*split, *value) == (part, number)).count();
            assert_eq!(NetworkSplit::ALL.map(of), expected);
        }
        assert_eq!(split, split_networks(&value, 5));
        assert_ne!(split, split_networks(&value, 6));
    }
}
