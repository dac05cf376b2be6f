//! Linear classifiers on embeddings.

use super::plan::ClassifierPlan;
use crate::augment::Augmenter;
use crate::ensemble::{Architecture, CrossEntropy, Ensemble, Networks};
use crate::layers::{BatchPass, dense};
use crate::optimizer::{Optimizer, Schedule};
use crate::train::{Lesson, TrainingPlan, train};
use crate::training_images::{Example, TrainingImages};
use rand_chacha::ChaCha8Rng;
use tch::{Kind, Tensor};

/// φ W + b, with parameters [M, D, C] and [M, 1, C].
#[derive(Clone)]
struct Linear;

impl Architecture for Linear {
    fn forward(networks: &Networks<Self>, inputs: &Tensor, _: &mut BatchPass<'_>) -> Tensor {
        dense(inputs, &networks.parameters[0], &networks.parameters[1])
    }
}

/// Classifiers of embeddings [M, N, D] of N images with targets [N, C]: classifier m learns the examples of `tables[m]`,
/// whose order `streams[m]` draws. `largest` is the number of images of the network that has most.
pub(super) fn classifiers(
    plan: ClassifierPlan,
    embeddings: &Tensor,
    targets: &Tensor,
    tables: &[Vec<Example>],
    largest: usize,
    streams: Vec<ChaCha8Rng>,
) -> Box<dyn Ensemble> {
    let [networks, images, dimension] = [0, 1, 2].map(|axis| embeddings.size()[axis]);
    let (classes, options) = (targets.size()[1], (Kind::Float, embeddings.device()));
    // They begin at 0.
    let parameters =
        [[networks, dimension, classes], [networks, 1, classes]].map(|shape| Tensor::zeros(shape, options));
    let mut linear =
        Networks { architecture: Linear, count: networks, parameters: parameters.into(), statistics: Vec::new() };
    // Every network has its own embeddings of all images: those of network m are m N rows further down.
    let table = |(network, table): (usize, &Vec<Example>)| -> Vec<Example> {
        let first = network as u32 * images as u32;
        table.iter().map(|example| Example { image: first + example.image, ..*example }).collect()
    };
    let tables: Vec<Vec<Example>> = tables.iter().enumerate().map(table).collect();
    let optimizer = Optimizer::Sgd { momentum: 0.0, weight_decay: 5e-4, nesterov: false };
    let schedule = Schedule::Steps { rate: plan.rate, factor: 0.1, shares: vec![0.3, 0.6, 0.9] };
    let training = TrainingPlan::new(plan.epochs, plan.batch, optimizer, schedule);
    let images = TrainingImages { inputs: embeddings.reshape([-1, dimension]), targets: targets.shallow_clone() };
    let steps = training.steps(largest);
    let lesson = Lesson { images: &images, tables: &tables, plan: &training, steps, loss: &CrossEntropy };
    train(&mut linear, &lesson, streams, Augmenter::default());
    Box::new(linear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, streams};
    use tch::Device;

    /// Two networks whose embeddings of the same images point to different classes; one learns half of the images.
    #[test]
    fn each_network_learns_its_own_embeddings() {
        let floats = (Kind::Float, Device::Cpu);
        let targets = Tensor::eye(3, floats).repeat([4, 1]);
        let embeddings = Tensor::stack(&[targets.shallow_clone(), targets.roll([1], [1])], 0);
        let plan = ClassifierPlan { epochs: 200, batch: 4, rate: 0.5 };
        let tables = [12, 6].map(|images| (0..images).map(Example::labeled).collect::<Vec<_>>());
        let streams = streams(3, Purpose::ClassifierOrder, 0, 0..2);
        let linear = classifiers(plan, &embeddings, &targets, &tables, 12, streams);
        let logits = linear.logits(&embeddings);
        let answers = Vec::<Vec<i64>>::try_from(logits.argmax(-1, false)).unwrap();
        let labels: Vec<i64> = (0..12).map(|image| image % 3).collect();
        assert_eq!(answers, [labels.clone(), labels]);
        let confident = f64::try_from(logits.softmax(-1, Kind::Float).amax([-1i64].as_slice(), false).min()).unwrap();
        assert!(confident > 0.8, "{confident}");
    }
}
