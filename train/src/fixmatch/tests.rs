use super::*;
use crate::answers::{accuracy, numbers};
use crate::augment::Augmentation;
use crate::context::TrainingContext;
use crate::ensemble::logits_of_all;
use crate::network::NetworkPlan;
use crate::{DeviceChoice, TrainingDevice};
use leakbound::record::{ImagePart, ImageSet, MemoryBudget, read_images};
use std::ops::ControlFlow;

fn plan() -> FixMatchPlan {
    FixMatchPlan {
        steps: 40,
        batch: 16,
        unlabeled: Some(Unlabeled { ratio: 2, confidence: 0.8, weight: 1.0 }),
        rate: 0.03,
        momentum: 0.9,
        weight_decay: 5e-4,
        average: 0.9,
        augmentation: Some(Augmentation { flip: true, shift: 2 }),
        side_by_side: None,
    }
}

fn sample() -> [ImageSet; 2] {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../validation/data/fashion_sample.npz");
    [ImagePart::Train, ImagePart::Test].map(|part| read_images(sample, part, MemoryBudget::of_machine()).unwrap().0)
}

/// Logits on the first 500 test images of networks with 40 labels each, and their accuracies.
fn train(plan: &FixMatchPlan, network: NetworkPlan, networks: u32) -> Result<Vec<(Vec<f32>, f64)>> {
    let [train, test] = sample();
    let device = TrainingDevice::open(DeviceChoice::Cpu)?;
    let progress = |_| ControlFlow::Continue(());
    let context = TrainingContext { train: &train, test: &test, device, progress: &progress, checkpoint: None };
    let [images, tests] = [&train, &test].map(|set| TrainingImages::of(set, 10, device.tensors()));
    let pixels: Vec<u8> = train.pixels.iter().copied().collect();
    let training = plan.training();
    let fixmatch = FixMatch { trainer: context.trainer(network, &training, 3), plan, pixels: &pixels };
    let tables: Vec<Vec<Example>> =
        (0..networks).map(|network| (40 * network..40 * (network + 1)).map(Example::labeled).collect()).collect();
    let labels = test.labels.to_vec();
    fixmatch.train_and_ask(1, &images, &tables, &|| tests.inputs.shallow_clone(), &|networks, group, tests| {
        let logits = logits_of_all(networks, tests);
        let answer = |network: usize| {
            let logits = logits.select(0, network as i64);
            (numbers(&logits).unwrap(), accuracy(&logits, &labels).unwrap())
        };
        Ok((0..group.len()).map(answer).collect())
    })
}

/// With τ = 1 and floats that never reach it, what remains is the supervised part, with the same images and the same
/// steps.
#[test]
fn without_pseudo_labels_it_is_supervised_training() {
    let none =
        FixMatchPlan { unlabeled: Some(Unlabeled { ratio: 1, confidence: 1.0, weight: 1.0 }), steps: 10, ..plan() };
    let network = NetworkPlan::Mlp { hidden: 8 };
    let both = [&none, &none.supervised()].map(|plan| train(plan, network, 2).unwrap());
    for (found, expected) in both[0].iter().zip(&both[1]) {
        assert!(found.0.iter().zip(&expected.0).all(|(found, expected)| (found - expected).abs() < 1e-4));
    }
}

#[test]
fn networks_learn_from_forty_labels() {
    let found = train(&plan(), NetworkPlan::Cnn { filters: 6 }, 2).unwrap();
    let accuracies: Vec<f64> = found.iter().map(|(_, accuracy)| *accuracy).collect();
    println!("accuracies {accuracies:?}");
    // Ten classes: a network that learned nothing has 10 %.
    assert!(accuracies.iter().all(|&accuracy| accuracy > 0.35), "{accuracies:?}");
    // Groups on other threads, with other networks in them, train the same networks.
    let again = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert!(again.install(|| train(&plan(), NetworkPlan::Cnn { filters: 6 }, 2)).unwrap() == found);
}

#[test]
fn impossible_plans_are_rejected() {
    let message = |change: &dyn Fn(&mut FixMatchPlan)| {
        let mut plan = plan();
        change(&mut plan);
        train(&plan, NetworkPlan::Mlp { hidden: 4 }, 1).unwrap_err().to_string()
    };
    let part = |ratio, confidence, weight| Some(Unlabeled { ratio, confidence, weight });
    assert_eq!(message(&|plan| plan.steps = 0), "steps = 0 is not in [1, inf)");
    assert_eq!(
        message(&|plan| plan.unlabeled = part(0, 0.9, 1.0)),
        "unlabeled images per labeled one = 0 is not in [1, inf)"
    );
    assert_eq!(message(&|plan| plan.unlabeled = part(1, 1.5, 1.0)), "confidence = 1.5 is not in [0, 1]");
    assert_eq!(
        message(&|plan| plan.unlabeled = part(1, 0.9, -1.0)),
        "weight of unlabeled images = -1 is not in [0, inf)"
    );
    assert_eq!(message(&|plan| plan.average = 1.0), "decay of the average = 1 is not in [0, 1)");
    assert_eq!(message(&|plan| plan.rate = 1e30), "training: parameters are no longer finite; lower the learning rate");
}
