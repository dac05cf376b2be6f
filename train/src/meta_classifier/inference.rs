//! How meta-classifiers learn from the standardized weights of networks, and what they infer.

use super::dropout::Dropout;
use super::flat::{Flat, check as check_flat};
use super::plan::{MetaClassifier, MetaClassifierPlan};
use super::set::Set;
use crate::checks::{check_range, reject};
use crate::device::TrainingDevice;
use crate::early_stopping::{BestParameters, EarlyStopping};
use crate::ensemble::{Ensemble, check_finite};
use crate::guard::{TrainingProgress, guarded, report};
use crate::optimizer::{Optimizer, OptimizerState};
use crate::seed::{Purpose, stream};
use crate::train::Batches;
use crate::training_images::{Example, TrainingImages, one_hot, rows_of};
use leakbound::error::{Error, Result};
use leakbound::property::{LayerWeights, NetworkSplit, PropertyAttack};
use leakbound::record::RecordedNetworks;
use rand_chacha::ChaCha8Rng;
use tch::{Device, Kind, Tensor};

/// What one meta-classifier inferred, and how it learned.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightInference {
    /// Which it is.
    pub attack: PropertyAttack,
    /// The value of each network that was attacked, in the order of the networks.
    pub values: Vec<usize>,
    /// Epochs until it stopped.
    pub epochs: usize,
    /// Its accuracy on the networks that it learned from.
    pub training_accuracy: f64,
    /// That on the networks for validation, at which its best epoch was chosen.
    pub validation_accuracy: f64,
}

/// Trains meta-classifiers on the networks for training and infers the property values of those for test.
///
/// Weights are standardized first: each kernel and each vector of a layer has mean 0 and variance 1 over the networks for
/// training. Meta-classifiers learn side by side on a CPU, each on one thread; progress counts their epochs.
///
/// # Errors
/// [`Error::Domain`] for a plan out of range, [`Error::Length`] for another number of parts than networks or for layers
/// that do not fit the weights, [`Error::Rejected`] for a network that does not suit the meta-classifier, without
/// networks in every part, and if training diverges; [`Error::Unavailable`] if libtorch fails.
///
/// # References
/// Ihrig (2021), thesis, sections 4.4.2 and 5.3.2; Ganju, Wang, Yang, Gunter and Borisov (2018), "Property inference
/// attacks on fully connected neural networks using permutation invariant representations".
pub fn infer_by_weights(
    networks: &RecordedNetworks,
    split: &[NetworkSplit],
    plan: &MetaClassifierPlan,
    device: TrainingDevice,
    progress: &TrainingProgress<'_>,
) -> Result<Vec<WeightInference>> {
    plan.check()?;
    check(networks, split, plan)?;
    let rows = NetworkSplit::ALL.map(|part| (0..split.len()).filter(|&row| split[row] == part).collect::<Vec<_>>());
    let inputs = guarded("weights", || Ok(inputs(networks, &rows[0], device.tensors())))?;
    let task = Task { networks, rows: &rows, plan, device: device.tensors(), progress };
    let work = plan.classifiers.iter().map(|&classifier| (classifier, inputs.share()));
    let infer =
        |(classifier, inputs): (_, TrainingImages)| guarded("meta-classifier", || task.infer(classifier, &inputs));
    device.each(work.collect(), infer)
}

/// Standardized weights, and the values as classes.
fn inputs(networks: &RecordedNetworks, training: &[usize], device: Device) -> TrainingImages {
    let (count, parameters) = networks.weights.dim();
    let rows: Vec<i64> = training.iter().map(|&row| row as i64).collect();
    let weights: std::borrow::Cow<'_, [f32]> = match networks.weights.as_slice() {
        Some(weights) => weights.into(),
        None => networks.weights.iter().copied().collect::<Vec<_>>().into(),
    };
    let weights = Tensor::from_slice(&weights).view([count as i64, parameters as i64]).to_device(device);
    let values: Vec<u8> = networks.value.iter().map(|&value| value as u8).collect();
    TrainingImages {
        inputs: standardized(&weights, &networks.layers, &Tensor::from_slice(&rows).to_device(device)),
        targets: one_hot(&values, networks.values, device),
    }
}

struct Task<'a> {
    networks: &'a RecordedNetworks,
    /// Networks for training, validation and test.
    rows: &'a [Vec<usize>; 3],
    plan: &'a MetaClassifierPlan,
    device: Device,
    progress: &'a TrainingProgress<'a>,
}

impl Task<'_> {
    fn infer(&self, classifier: MetaClassifier, inputs: &TrainingImages) -> Result<WeightInference> {
        let attack = classifier.attack();
        let [training, validation, test] = self.rows;
        let examples = |rows: &[usize]| rows.iter().map(|&row| Example::labeled(row as u32)).collect();
        let examples = Examples { training: examples(training), validation: examples(validation) };
        let mut network = self.build(classifier);
        let order = stream(self.plan.seed, Purpose::MetaOrder, classifier.number(), 0);
        let epochs = learn(&mut *network, inputs, &examples, self.plan, order, self.progress)?;
        let accuracy = |rows: &[usize]| {
            let values = inferred(&*network, inputs, rows);
            let right = values.iter().zip(rows).filter(|&(&value, &row)| value == self.networks.value[row]).count();
            right as f64 / rows.len() as f64
        };
        Ok(WeightInference {
            attack,
            values: inferred(&*network, inputs, test),
            epochs,
            training_accuracy: accuracy(training),
            validation_accuracy: accuracy(validation),
        })
    }

    fn build(&self, classifier: MetaClassifier) -> Box<dyn Ensemble> {
        let of = |purpose| stream(self.plan.seed, purpose, classifier.number(), 0);
        let dropout = Dropout::new(self.plan.dropout, of(Purpose::Dropout));
        let (weights, values) = (of(Purpose::MetaWeights), self.networks.values);
        match classifier {
            MetaClassifier::Flat(plan) => {
                let sizes = (self.networks.weights.ncols(), values);
                Box::new(Flat::network(plan, sizes, weights, dropout, self.device))
            }
            MetaClassifier::Set(plan) => {
                let shape = (self.networks.layers.as_slice(), values);
                Box::new(Set::network(plan, shape, weights, dropout, self.device))
            }
        }
    }
}

fn check(networks: &RecordedNetworks, split: &[NetworkSplit], plan: &MetaClassifierPlan) -> Result<()> {
    let (count, parameters) = networks.weights.dim();
    let length = |quantity, found, expected| Err(Error::Length { quantity, found, expected });
    LayerWeights::check(&networks.layers)?;
    let expected: usize = networks.layers.iter().map(|layer| layer.parameters()).sum();
    if parameters != expected {
        return length("weights of a network", parameters, format!("{expected}, those of its layers"));
    }
    if split.len() != count || networks.value.len() != count {
        return length("networks", split.len().min(networks.value.len()), format!("{count}, as of the weights"));
    }
    let values = networks.values;
    let fits = (2..=256).contains(&values) && networks.value.iter().all(|&value| value < values);
    check_range("property values", values as f64, fits, "{2, ..., 256}, counted from 0")?;
    if NetworkSplit::ALL.into_iter().any(|part| !split.contains(&part)) {
        return reject("meta-classifier", "networks for training, validation and test are needed");
    }
    plan.classifiers.iter().try_for_each(|classifier| match classifier {
        MetaClassifier::Flat(plan) => check_flat(*plan, parameters),
        MetaClassifier::Set(_) => Ok(()),
    })
}

/// Networks that are answered about together.
const AT_ONCE: usize = 64;

/// The networks that a meta-classifier learns from, and those that decide when it stops.
struct Examples {
    pub training: Vec<Example>,
    pub validation: Vec<Example>,
}

/// Trains one meta-classifier, and returns how many epochs it took. Progress counts epochs.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if training diverges,
/// [`Error::Interrupted`](leakbound::Error::Interrupted).
fn learn(
    classifier: &mut dyn Ensemble,
    networks: &TrainingImages,
    examples: &Examples,
    plan: &MetaClassifierPlan,
    stream: ChaCha8Rng,
    progress: &TrainingProgress<'_>,
) -> Result<usize> {
    let mut batches = Batches::new(vec![examples.training.clone()], vec![stream], plan.batch);
    let all = examples.training.len() + examples.validation.len();
    let stopping = EarlyStopping { validation: examples.validation.len() as f64 / all as f64, patience: plan.patience };
    let mut best = BestParameters::new(classifier, stopping, vec![examples.validation.clone()]);
    let mut state = OptimizerState::new(Optimizer::ADAM, classifier.parameters());
    let steps = examples.training.len().div_ceil(plan.batch);
    let shape = [1, plan.batch as i64, -1];
    let mut epochs = 0;
    for epoch in 0..plan.epochs {
        let rate = plan.rate * plan.decay.powi((epoch / 2) as i32);
        for _ in 0..steps {
            let (inputs, targets) = networks.rows(&batches.next());
            let mut gradients = classifier.gradients(&inputs.view(shape), &targets.view(shape));
            state.step(classifier.parameters(), &mut gradients, rate);
        }
        check_finite(classifier.parameters(), "training of a meta-classifier")?;
        epochs += 1;
        report(progress, 1)?;
        if best.all_are_done(classifier, networks) {
            break;
        }
    }
    best.restore(classifier);
    Ok(epochs)
}

/// The value that a meta-classifier infers for each of these rows.
fn inferred(classifier: &dyn Ensemble, networks: &TrainingImages, rows: &[usize]) -> Vec<usize> {
    let of_part = |part: &[usize]| {
        let inputs = rows_of(&networks.inputs, part.iter().map(|&row| row as i64)).unsqueeze(0);
        let values: Vec<i64> =
            classifier.logits(&inputs).argmax(-1, false).flatten(0, -1).try_into().unwrap_or_default();
        values.into_iter().map(|value| value as usize)
    };
    rows.chunks(AT_ONCE).flat_map(of_part).collect()
}

/// Smaller deviations count as 1: a part that is the same in all networks stays the same.
const LEAST: f64 = 1e-12;

/// Weights [N, P] in which each kernel and each vector has mean 0 and variance 1 over all its numbers in the networks
/// of these rows, so that biases are not lost among kernels. The order of units makes no difference.
fn standardized(weights: &Tensor, layers: &[LayerWeights], rows: &Tensor) -> Tensor {
    let mut start = 0;
    let mut parts = Vec::new();
    for layer in layers {
        for part in layer.parts(start) {
            let part = weights.narrow(1, part.start as i64, part.len() as i64);
            let learned = part.index_select(0, rows);
            let mean = learned.mean(Kind::Float);
            let variance = (learned - &mean).square().mean(Kind::Float);
            let deviation = f64::try_from(variance.sqrt()).unwrap_or(0.0);
            parts.push((part - mean) / if deviation > LEAST { deviation } else { 1.0 });
        }
        start += layer.parameters();
    }
    Tensor::cat(&parts, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_mean_0_and_variance_1_where_it_is_learned_from() {
        let layers = [LayerWeights { places: 1, inputs: 2, outputs: 1, vectors: 1 }];
        let weights = Tensor::from_slice(&[1.0f32, 3.0, 5.0, -1.0, 1.0, 5.0, 9.0, 9.0, 9.0]).view([3, 3]);
        let rows = Tensor::from_slice(&[0i64, 1]);
        let standard: Vec<Vec<f32>> = standardized(&weights, &layers, &rows).try_into().unwrap();
        // Of 1, 3, -1, 1: mean 1, variance 2. The bias is 5 in both.
        let root = 2f32.sqrt();
        let expected = [[0.0, root, 0.0], [-root, 0.0, 0.0], [4.0 * root, 4.0 * root, 4.0]];
        for (found, expected) in standard.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() < 1e-5, "{standard:?}");
        }
    }
}
